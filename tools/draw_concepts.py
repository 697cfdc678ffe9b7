#!/usr/bin/env python3
"""Draws the pictures of docs/concepts.md: docs/drawings/*.svg.

Poses and matrices are computed, not copied. Run it with the Python of .venv/.
"""

from pathlib import Path

import numpy as np

import kempe

ROOT = Path(__file__).resolve().parent.parent
DRAWINGS = ROOT / "docs" / "drawings"
DARK, BLUE, ORANGE, LIGHT = "#1f4e79", "#2e75b6", "#c55a11", "#f4a261"
TEXT, GREY, PALE, WARM = "#222222", "#8a8f98", "#e8f0f8", "#fdf0e4"


def line(start: np.ndarray, end: np.ndarray) -> str:
    """The path of a straight line."""
    return f"M{start[0]:.1f},{start[1]:.1f} L{end[0]:.1f},{end[1]:.1f}"


class Picture:
    """SVG with the few shapes that the drawings need; y points down, in pixels."""

    def __init__(self, width: int, height: int):
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            'font-family="Helvetica, Arial, sans-serif" font-size="15">',
            '<defs><marker id="tip" viewBox="0 0 10 10" refX="8" refY="5" markerWidth="7" '
            'markerHeight="7" orient="auto-start-reverse">'
            f'<path d="M0,0 L10,5 L0,10 z" fill="{GREY}"/></marker></defs>',
            f'<rect width="{width}" height="{height}" rx="8" fill="#ffffff"/>']

    def add(self, text: str) -> None:
        self.parts.append(text)

    def bar(self, start: np.ndarray, end: np.ndarray, color: str, width: float = 9) -> None:
        self.add(f'<path d="{line(start, end)}" stroke="{color}" stroke-width="{width}" '
                 'stroke-linecap="round"/>')

    def pin(self, at: np.ndarray, color: str = TEXT) -> None:
        self.add(f'<circle cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="5.5" fill="#ffffff" '
                 f'stroke="{color}" stroke-width="2"/>')

    def ground(self, at: np.ndarray) -> None:
        """A pivot on hatched ground."""
        x, y = at
        self.add(f'<path d="M{x:.1f},{y:.1f} l-13,22 h26 z" fill="#eceff3" stroke="{GREY}"/>')
        for k in range(4):
            self.bar(at + [8 * k - 14, 29], at + [8 * k - 9, 23], GREY, 1.5)
        self.pin(at)

    def text(self, x: float, y: float, words: str, *, color: str = TEXT, anchor: str = "middle",
             style: str = "") -> None:
        self.add(f'<text x="{x:.1f}" y="{y:.1f}" fill="{color}" text-anchor="{anchor}" {style}>'
                 f'{words}</text>')

    def arrow(self, path: str, *, dashed: bool = False, both: bool = False) -> None:
        self.add(f'<path d="{path}" fill="none" stroke="{GREY}" stroke-width="2" '
                 + ('stroke-dasharray="6 5" ' if dashed else "")
                 + ('marker-start="url(#tip)" ' if both else "") + 'marker-end="url(#tip)"/>')

    def box(self, x: float, y: float, width: float, height: float, *, fill: str, stroke: str,
            radius: float = 10, dashed: bool = False) -> None:
        self.add(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
                 f'rx="{radius}" fill="{fill}" stroke="{stroke}" stroke-width="1.5"'
                 + (' stroke-dasharray="6 5"' if dashed else "") + "/>")

    def save(self, name: str) -> None:
        DRAWINGS.mkdir(exist_ok=True)
        (DRAWINGS / name).write_text("\n".join([*self.parts, "</svg>"]) + "\n")


BOLD = 'font-weight="bold"'
ITALIC = 'font-style="italic" font-size="13"'
SMALL = 'font-size="13"'
CODE = 'font-family="Menlo, Consolas, monospace" font-size="13"'

# --- a four-bar ---------------------------------------------------------------------------------

GROUND, CRANK, COUPLER, ROCKER = 230.0, 90.0, 210.0, 165.0  # pixels


def unit(angle: float) -> np.ndarray:
    return np.array([np.cos(angle), -np.sin(angle)])


def elbow(start: np.ndarray, end: np.ndarray, first: float, second: float) -> np.ndarray:
    """Where two bars of given lengths from two points meet, above the line between the points."""
    line = end - start
    distance = np.linalg.norm(line)
    along = (distance**2 + first**2 - second**2) / (2 * distance)
    height = np.sqrt(max(first**2 - along**2, 0.0))
    return start + line / distance * along + np.array([line[1], -line[0]]) / distance * height


def linkage(picture: Picture, left: np.ndarray, knee: np.ndarray, right: np.ndarray,
            ends: tuple[np.ndarray, np.ndarray]) -> None:
    """Crank, coupler and rocker up to the ends of coupler and rocker, and their pivots."""
    picture.bar(left, knee, ORANGE)
    picture.bar(knee, ends[0], BLUE)
    picture.bar(right, ends[1], DARK)
    picture.ground(left)
    picture.ground(right)
    picture.pin(knee)


def four_bar_cut() -> None:
    picture = Picture(820, 320)
    left, angle = np.array([90.0, 258.0]), 1.15
    right = left + np.array([GROUND, 0])
    knee = left + CRANK * unit(angle)
    top = elbow(knee, right, COUPLER, ROCKER)

    picture.text(205, 32, "as built: four joints, one DoF", style=BOLD)
    linkage(picture, left, knee, right, (top, top))
    picture.pin(top)
    picture.text(left[0] - 2, knee[1] + 55, "crank", anchor="end", color=ORANGE)
    picture.text(205, 120, "coupler", anchor="end", color=BLUE)
    picture.text(right[0] + 20, 190, "rocker", anchor="start", color=DARK)

    shift = np.array([400.0, 0.0])
    left, right, knee = left + shift, right + shift, knee + shift
    lifted = top + shift - knee
    turn = 0.16  # separates the cut ends visibly
    away = knee + np.array([lifted[0] * np.cos(turn) + lifted[1] * np.sin(turn),
                            lifted[1] * np.cos(turn) - lifted[0] * np.sin(turn)])
    lean = np.arctan2(right[1] - top[1], (top + shift)[0] - right[0]) - 0.22
    other = right + ROCKER * unit(lean)
    picture.text(605, 32, "cut: a tree, and one loop to close", style=BOLD)
    linkage(picture, left, knee, right, (away, other))
    for end in (away, other):
        picture.add(f'<circle cx="{end[0]:.1f}" cy="{end[1]:.1f}" r="8" fill="#ffffff" '
                    f'stroke="{TEXT}" stroke-width="2" stroke-dasharray="4 3"/>')
    step = (other - away) / np.linalg.norm(other - away)
    start, end = away + 12 * step, other - 12 * step
    picture.arrow(line(start, end), dashed=True, both=True)
    picture.text(away[0] + 36, away[1] + 6, "φ(q) = 0", style=ITALIC, anchor="start")
    for point, words, dx in ((left, "q₁", -22), (knee, "q₂", -16), (right, "q₃", 26)):
        picture.text(point[0] + dx, point[1] - 4, words, style='font-style="italic"')
    picture.save("four_bar_cut.svg")


def dead_point() -> None:
    picture = Picture(820, 280)
    for column, straight in enumerate((False, True)):
        left = np.array([80.0 + 420 * column, 225.0])
        right = left + np.array([GROUND, 0])
        reach = CRANK + COUPLER
        if straight:  # crank and coupler aligned: the rocker is at its extreme position
            angle = np.arccos((reach**2 + GROUND**2 - ROCKER**2) / (2 * reach * GROUND))
            knee, top = left + CRANK * unit(angle), left + reach * unit(angle)
        else:
            knee = left + CRANK * unit(1.5)
            top = elbow(knee, right, COUPLER, ROCKER)
        linkage(picture, left, knee, right, (top, top))
        picture.pin(top)
        if straight:
            side = np.array([np.sin(angle), np.cos(angle)]) * 34
            for sign in (-1, 1):
                start, end = knee + sign * side * 0.35, knee + sign * side * 1.25
                picture.arrow(line(start, end))
    picture.text(195, 28, "the rocker determines the crank", style=BOLD)
    picture.text(615, 28, "dead point: the crank can go either way", style=BOLD)
    picture.save("dead_point.svg")


# --- clusters of the geared leg -----------------------------------------------------------------

def cluster_graph() -> None:
    model = kempe.load(ROOT / "examples" / "geared_four_bar_leg.urdf")
    hip, knee = model.clusters  # as the library finds them
    assert sorted(hip.bodies) == ["hip_rotor", "thigh"] and hip.output_body == "trunk"
    assert sorted(knee.bodies) == ["crank", "knee_rotor", "rod", "shank"]
    assert knee.output_body == "thigh" and (hip.mobility, knee.mobility) == (1, 1)

    picture = Picture(820, 400)
    picture.text(215, 30, "bodies, joints and loops", style=BOLD)
    picture.text(640, 30, "the tree of clusters", style=BOLD)
    places = {"trunk": (215, 68), "thigh": (130, 158), "hip_rotor": (300, 158),
              "shank": (56, 262), "crank": (190, 262), "knee_rotor": (366, 262), "rod": (130, 350)}
    picture.box(68, 130, 296, 56, fill=PALE, stroke=BLUE, dashed=True)
    picture.box(8, 234, 424, 150, fill=WARM, stroke=ORANGE, dashed=True)
    joints = [("trunk", "thigh"), ("trunk", "hip_rotor"), ("thigh", "shank"), ("thigh", "crank"),
              ("thigh", "knee_rotor"), ("crank", "rod")]
    for parent, child in joints:
        picture.bar(np.array(places[parent]), np.array(places[child]), GREY, 2)
    loops = [("thigh", "hip_rotor", "hip_gear", (214, 151)),
             ("crank", "knee_rotor", "knee_gear", (268, 254)),
             ("rod", "shank", "four_bar", (58, 314))]
    for one, other, name, (x, y) in loops:
        (x1, y1), (x2, y2) = places[one], places[other]
        picture.add(f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{ORANGE}" '
                    'stroke-width="2" stroke-dasharray="6 5"/>')
        picture.text(x, y, name, color=ORANGE, style=ITALIC)
    for name, (x, y) in places.items():
        width = 22 + 8 * len(name)
        picture.box(x - width / 2, y - 15, width, 30, fill="#ffffff", stroke=DARK, radius=15)
        picture.text(x, y + 5, name)

    picture.box(590, 53, 100, 32, fill="#ffffff", stroke=DARK, radius=16)
    picture.text(640, 74, "trunk")
    for y, bodies, coordinate, fill, stroke in (
            (142, "thigh · hip_rotor", hip.independent[0], PALE, BLUE),
            (270, "shank · crank · rod · knee_rotor", knee.independent[0], WARM, ORANGE)):
        picture.box(495, y, 290, 62, fill=fill, stroke=stroke)
        picture.text(640, y + 26, bodies)
        picture.text(640, y + 48, f"1 DoF: {coordinate}", style=ITALIC)
    picture.arrow("M640,140 V90")
    picture.arrow("M640,268 V210")
    picture.text(652, 120, "carried by trunk", anchor="start", style=SMALL, color=GREY)
    picture.text(652, 244, "carried by thigh", anchor="start", style=SMALL, color=GREY)
    picture.text(640, 368, "no loops between clusters", style=ITALIC)
    picture.save("cluster_graph.svg")


# --- coordinates --------------------------------------------------------------------------------

def coordinates() -> None:
    model = kempe.load(ROOT / "examples" / "geared_four_bar_leg.urdf")
    v = np.zeros(model.nv)
    v[model.v_names.index("knee_motor")] = 8 * 0.5
    G = model.constraint_jacobian(model.integrate(model.neutral(), v, 1.0))
    rows, row_height, top = model.spanning_velocity_names, 34, 70
    picture = Picture(700, 320)

    def column(x: float, width: float, names: list[str], y: float, strong: set[str]) -> None:
        for k, name in enumerate(names):
            fill = WARM if name in strong else PALE
            picture.box(x, y + k * row_height, width, row_height - 4, fill=fill,
                        stroke=ORANGE if name in strong else BLUE, radius=5)
            picture.text(x + width / 2, y + k * row_height + 20, name, style=CODE)

    independent = set(model.v_names)
    picture.text(105, 40, "all joints, loops cut", style=BOLD)
    column(35, 140, list(rows), top, independent)
    picture.text(105, top + len(rows) * row_height + 20, "q̇ (spanning): 6", style=ITALIC)
    picture.text(215, top + 3 * row_height, "=", style='font-size="24"')

    left, cell = 255, 92
    for i in range(len(rows)):
        for j in range(model.nv):
            value = G[i, j]
            fill = "#ffffff" if value == 0 else (WARM if value == 1 else PALE)
            picture.box(left + j * cell, top + i * row_height, cell - 4, row_height - 4, fill=fill,
                        stroke="#cfd6de", radius=5)
            picture.text(left + j * cell + cell / 2 - 2, top + i * row_height + 20,
                         "0" if value == 0 else f"{value:.3g}".replace("-", "−"),
                         color=GREY if value == 0 else TEXT, style=CODE)
    picture.text(left + cell - 2, 40, "G(q)", style=BOLD)
    picture.text(left + cell - 2, top + len(rows) * row_height + 20, "6 × 2, here at one position",
                 style=ITALIC)
    middle = top + 2 * row_height
    picture.text(478, top + 3 * row_height, "·", style='font-size="24"')
    picture.text(590, 40, "degrees of freedom", style=BOLD)
    column(520, 140, list(model.v_names), middle, independent)
    picture.text(590, middle + 2 * row_height + 20, "v: 2", style=ITALIC)
    picture.save("coordinates.svg")


ALL = [four_bar_cut, dead_point, cluster_graph, coordinates]

if __name__ == "__main__":
    for draw in ALL:
        draw()
