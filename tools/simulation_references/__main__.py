"""References for simulations, from equations of motion that are derived by hand here.

Nothing of Kempe is used. Each reference is computed in two ways that check each other, and is
written with their difference to tests/python/simulation_references.json (mpmath and SciPy needed):

    python tools/simulation_references [PART OF A NAME ...]

All robots but the delta robot are planar: gravity along −y, joints about z, links are slender bars
along x of their frames, so that a bar of mass m and length l has m l²/3 about its end and m l²/12
about its centre. Angles are those of the joints; e(φ) = (cos φ, sin φ).
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import linkages
import pendulums
from reference import Reference

FILE = Path(__file__).resolve().parents[2] / "tests/python/simulation_references.json"

CASES: dict[str, Callable[[], Reference]] = {
    "pendulum": pendulums.pendulum,
    "double pendulum": pendulums.double_pendulum,
    "crank-rocker": linkages.crank_rocker,
    "parallelogram": linkages.parallelogram,
    "near-parallelogram, 1e-4": lambda: linkages.near_parallelogram(1e-4),
    "near-parallelogram, 1e-8": lambda: linkages.near_parallelogram(1e-8),
    "near-parallelogram, 3e-11": lambda: linkages.near_parallelogram(3e-11),
    "near-parallelogram, 1.6e-13": lambda: linkages.near_parallelogram(1.6e-13),
    "ladder of four-bars": linkages.ladder,
    "rigid stop": pendulums.rigid_stop,
    "spring stop, 1e4 N·m/rad": lambda: pendulums.spring_stop(1e4, 10.0),
    "spring stop, 1e6 N·m/rad": lambda: pendulums.spring_stop(1e6, 100.0),
    "friction, pendulum": pendulums.friction_pendulum,
    "friction, holds": pendulums.friction_holds,
    "friction, two joints": pendulums.friction_chain,
    "friction, four-bar": linkages.friction_four_bar,
    "stiff spring": pendulums.stiff_spring,
    "delta robot": linkages.delta_robot,
}


def main() -> None:
    made = json.loads(FILE.read_text()) if len(sys.argv) > 1 else {}
    for name, solve in CASES.items():
        if len(sys.argv) > 1 and not any(word in name for word in sys.argv[1:]):
            continue
        begin = time.perf_counter()
        made[name] = solve()
        scipy = made[name]["scipy_differs"]
        print(f"{name:30} reached {made[name]['reached']:.1e}, "
              f"SciPy differs by {'-' if scipy is None else format(scipy, '.1e')}, "
              f"amplification {made[name]['amplification']:.3g}, "
              f"{time.perf_counter() - begin:.1f} s", flush=True)
    FILE.write_text(json.dumps({name: made[name] for name in CASES if name in made}, indent=1,
                               ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
