#!/usr/bin/env python3
"""Draws docs/leg.svg: the leg of examples/geared_four_bar_leg through half a stride.

Run it with the Python of .venv/.
"""

from pathlib import Path

import numpy as np

import kempe

ROOT = Path(__file__).resolve().parent.parent
POSES, SPACING, SCALE = 6, 0.27, 500  # metres between poses, pixels per metre
WIDTH, HEIGHT, TOP, LEFT = 820, 290, 24, 70


def turned(angle: float, x: float, z: float) -> np.ndarray:
    """A point of a body that is turned about y."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c * x + s * z, c * z - s * x])


def lines_of(joints: dict[str, float]) -> dict[str, list[np.ndarray]]:
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


def main() -> None:
    model = kempe.load(ROOT / "examples" / "geared_four_bar_leg.urdf")
    colors = {"thigh": "#1f4e79", "shank": "#2e75b6", "crank": "#c55a11", "rod": "#f4a261"}
    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" rx="8" fill="#ffffff"/>']
    v = np.zeros(model.nv)
    for pose in range(POSES):
        phase = np.pi * pose / (POSES - 1)
        v[model.v_names.index("hip_motor")] = -8 * 0.4 * np.cos(phase)
        v[model.v_names.index("knee_motor")] = 8 * 0.3 * (1 - np.cos(phase))
        q = model.integrate(model.neutral(), v, 1.0)
        joints = dict(zip(model.spanning_position_names, model.spanning_positions(q), strict=True))
        origin = np.array([LEFT + pose * SPACING * SCALE, TOP])
        for body, points in lines_of(joints).items():
            pixels = [origin + SCALE * np.array([x, -z]) for x, z in points]
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in pixels)
            width = 9 if body in {"thigh", "shank"} else 5
            svg.append(f'<polyline points="{path}" fill="none" stroke="{colors[body]}" '
                       f'stroke-width="{width}" stroke-linecap="round" stroke-linejoin="round"/>')
            svg += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="#ffffff"/>'
                    for x, y in pixels[:2]]
    (ROOT / "docs" / "leg.svg").write_text("\n".join([*svg, "</svg>"]) + "\n")


if __name__ == "__main__":
    main()
