"""Draws the arm of docs/tutorials/arm_that_bends.md: docs/drawings/arm_that_bends.svg.

    .venv/bin/python tools/draw_arm.py
"""

import sys
from pathlib import Path

import matplotlib
import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "examples"))

import arm_that_bends as arm  # noqa: E402

matplotlib.use("svg")
from matplotlib import pyplot  # noqa: E402


def main() -> None:
    pyplot.rcParams["svg.hashsalt"] = "kempe"  # the same file every time
    pyplot.rcParams["font.size"] = 9
    model = arm.build()
    start = model.static_deflection(model.neutral())
    omega, zeta = arm.slowest_oscillation(model, start)
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(8, 2.8), width_ratios=(1, 1.6))

    nodes = ["start", *map(str, range(1, 10)), "end"]
    places = np.array([model.frame_placement(start, f"arm/{node}")[1] for node in nodes])
    left.plot(places[:, 0], 1e3 * places[:, 2], color="tab:blue")
    left.set(xlabel="along the arm, m", ylabel="sag, mm", title="under the load")

    for (name, impulses), colour in zip(arm.commands(omega, zeta).items(),
                                        ("tab:red", "tab:blue"), strict=True):
        t, path = arm.ringing(model, start, impulses)
        shown = t > arm.TIME
        right.plot(t[shown], 1e3 * path[shown], color=colour, label=name)
    right.axhline(0, color="0.7", linewidth=0.6)
    right.set(xlabel="time, s", ylabel="load beside its target, mm", title="after a fast move",
              ylim=(-30, 30))
    right.legend(frameon=False)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(ROOT / "docs" / "drawings" / "arm_that_bends.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
