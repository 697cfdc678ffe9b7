#!/usr/bin/env python3
"""Draws the leg of examples/geared_four_bar_leg.urdf: docs/leg.svg, six poses of half a stride, and
docs/leg_walking.svg, an animation of a whole stride.

Run it with the Python of .venv/.
"""

from pathlib import Path

import numpy as np

import kempe

ROOT = Path(__file__).resolve().parent.parent
DRAWINGS = ROOT / "docs"
GEAR, SCALE = 8.0, 500  # motor turns per turn of hip or crank; pixels per metre
COLORS = {"rod": "#f4a261", "crank": "#c55a11", "shank": "#2e75b6", "thigh": "#1f4e79"}
WIDTHS = {"rod": 5, "crank": 5, "shank": 9, "thigh": 9}
Lines = dict[str, list[np.ndarray]]


def turned(angle: float, x: float, z: float) -> np.ndarray:
    """A point of a body that is rotated about y."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c * x + s * z, c * z - s * x])


def lines_of(joints: dict[str, float]) -> Lines:
    """The bodies as lines in the plane, from the joint positions."""
    hip = np.zeros(2)
    thigh, crank = joints["hip"], joints["hip"] + joints["crank_pivot"]
    shank, rod = thigh + joints["knee"], crank + joints["rod_top"]
    knee = hip + turned(thigh, 0, -0.25)
    tip = hip + turned(crank, 0.05, 0)
    lever = knee + turned(shank, 0.035, 0)
    assert np.linalg.norm(tip + turned(rod, 0, -0.25) - lever) < 1e-12  # the loop is closed
    return {"rod": [tip, lever], "crank": [hip, tip],
            "shank": [lever, knee, knee + turned(shank, 0, -0.24)], "thigh": [hip, knee]}


class Leg:
    """Joint positions from the angles of hip and crank; Kempe solves for the others."""

    def __init__(self) -> None:
        self.model = kempe.load(ROOT / "examples" / "geared_four_bar_leg.urdf")

    def joints(self, hip: float, crank: float) -> dict[str, float]:
        v = np.zeros(self.model.nv)
        v[self.model.v_names.index("hip_motor")] = GEAR * hip
        v[self.model.v_names.index("knee_motor")] = GEAR * crank
        positions = self.model.spanning_positions(
            self.model.integrate(self.model.neutral(), v, 1.0))
        return dict(zip(self.model.spanning_position_names, positions.tolist(), strict=True))


def svg(width: int, height: int, title: str, parts: list[str]) -> str:
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">'
            f"<title>{title}</title>")
    paper = f'<rect width="{width}" height="{height}" rx="8" fill="#ffffff"/>'
    return "\n".join([head, paper, *parts, "</svg>"]) + "\n"


def pixels(points: list[np.ndarray], origin: np.ndarray) -> list[np.ndarray]:
    return [origin + SCALE * np.array([x, -z]) for x, z in points]


def path_of(points: list[np.ndarray]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def polyline(body: str, points: list[np.ndarray], inside: str = "") -> str:
    return (f'<polyline points="{path_of(points)}" fill="none" stroke="{COLORS[body]}" '
            f'stroke-width="{WIDTHS[body]}" stroke-linecap="round" stroke-linejoin="round">'
            f"{inside}</polyline>")


# --- six poses side by side ----------------------------------------------------------------------

def poses(count: int = 6, spacing: float = 0.27) -> str:
    leg, parts = Leg(), []
    for pose in range(count):
        phase = np.pi * pose / (count - 1)
        lines = lines_of(leg.joints(-0.4 * np.cos(phase), 0.3 * (1 - np.cos(phase))))
        origin = np.array([70 + pose * spacing * SCALE, 24])
        for body, points in lines.items():
            placed = pixels(points, origin)
            parts.append(polyline(body, placed))
            parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="#ffffff"/>'
                      for x, y in placed[:2]]
    return svg(820, 290, "A leg with a four-bar linkage, six poses of half a stride", parts)


# --- an animated stride --------------------------------------------------------------------------

def animate(attribute: str, values: list[str], seconds: float) -> str:
    """Repeats for ever; the last value equals the first one."""
    return (f'<animate attributeName="{attribute}" dur="{seconds:g}s" repeatCount="indefinite" '
            f'values="{";".join([*values, values[0]])}"/>')


def stride(frames: int = 60, seconds: float = 2.4) -> str:
    leg, origin = Leg(), np.array([230, 50])
    turns = 2 * np.pi * np.arange(frames) / frames
    hips, cranks = -0.4 * np.cos(turns), 0.6 * ((1 - np.sin(turns)) / 2) ** 2
    joints = [leg.joints(hip, crank) for hip, crank in zip(hips, cranks, strict=True)]
    drawn = [{body: pixels(points, origin) for body, points in lines_of(one).items()}
             for one in joints]

    foot = path_of([lines["shank"][-1] for lines in drawn])
    parts = ['<line x1="150" y1="50" x2="310" y2="50" stroke="#999999" stroke-width="4"/>',
             f'<polygon points="{foot}" fill="none" stroke="#2e75b6" stroke-opacity="0.35" '
             'stroke-width="1.5" stroke-dasharray="4 4"/>']
    for body in COLORS:
        paths = [path_of(lines[body]) for lines in drawn]
        parts.append(polyline(body, drawn[0][body], animate("points", paths, seconds)))

    # The knee motor's rotor, on the thigh at the hip; it turns 8 times as far as the crank.
    rotor = [one["hip"] + one["knee_motor"] for one in joints]
    spokes = [pixels([turned(angle, -0.018, 0), turned(angle, 0.018, 0)], origin)
              for angle in rotor]
    parts += [f'<circle cx="{origin[0]}" cy="{origin[1]}" r="10" fill="#ffffff" stroke="#555555" '
              'stroke-width="3"/>',
              f'<polyline points="{path_of(spokes[0])}" stroke="#555555" stroke-width="3">'
              f"{animate('points', [path_of(spoke) for spoke in spokes], seconds)}</polyline>"]
    for body, point in (("crank", 1), ("rod", 1), ("thigh", 1)):
        places = [lines[body][point] for lines in drawn]
        centers = "".join(animate(name, [f"{place[axis]:.1f}" for place in places], seconds)
                          for axis, name in enumerate(("cx", "cy")))
        parts.append(f'<circle cx="{places[0][0]:.1f}" cy="{places[0][1]:.1f}" r="3" '
                     f'fill="#ffffff">{centers}</circle>')

    for row, (color, text) in enumerate([
            ("#555555", "knee motor, geared 8:1, at the hip"), (COLORS["crank"], "crank"),
            (COLORS["rod"], "rod"), (COLORS["thigh"], "thigh"), (COLORS["shank"], "shank")]):
        y = 96 + 32 * row
        parts += [f'<line x1="440" y1="{y}" x2="470" y2="{y}" stroke="{color}" stroke-width="7" '
                  'stroke-linecap="round"/>',
                  f'<text x="486" y="{y + 5}" font-family="sans-serif" font-size="16" '
                  f'fill="#333333">{text}</text>']
    return svg(820, 310, "A walking leg: a motor at the hip bends the knee through a four-bar "
               "linkage", parts)


ALL = {"leg.svg": poses, "leg_walking.svg": stride}


def main() -> None:
    for name, draw in ALL.items():
        (DRAWINGS / name).write_text(draw())


if __name__ == "__main__":
    main()
