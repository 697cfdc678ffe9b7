#!/usr/bin/env python3
"""Simulates motions with known end states with every integrator and writes the table of
docs/simulation.md; exits with 1 if a result is wrong without a report, or a run does not end.

The references are those of tests/python/simulation_references.json, see
tools/simulation_references; bundled robots are compared as in tests/python/bundled_runs.py.
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import re
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "simulation.md"
BEGIN, END = "<!-- made by make proof -->\n", "<!-- end of what make proof made -->"
sys.path.insert(0, str(ROOT / "tests" / "python"))

import bundled_runs  # noqa: E402
import simulation_cases  # noqa: E402
from simulation_cases import Outcome  # noqa: E402

import kempe  # noqa: E402
from kempe.simulation import INTEGRATORS  # noqa: E402

SEEDS = (1, 2, 3)  # of the random starts of bundled robots
TIMEOUT = 30.0  # seconds, after which a run counts as one that does not end
REPEATS = 3  # of which the fastest is timed


class Endless(Outcome):
    """A run that did not end."""


def _send(pipe: multiprocessing.connection.Connection, run: Callable[[], Outcome]) -> None:
    outcome = run()
    for _ in range(REPEATS - 1):
        if outcome.stopped:
            break
        outcome.seconds = min(outcome.seconds, run().seconds)
    pipe.send(outcome)


def limited(run: Callable[[], Outcome]) -> Outcome:
    """The outcome of a run in a process of its own."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=_send, args=(theirs, run))
    process.start()
    theirs.close()
    try:
        return ours.recv() if ours.poll(TIMEOUT) else Endless()
    except EOFError as error:
        raise RuntimeError("a simulation ended its process") from error
    finally:
        process.kill()
        process.join()


def worst(outcomes: list[Outcome]) -> Outcome:
    """The largest figures of several runs, and their time together."""
    for outcome in outcomes:
        if isinstance(outcome, Endless):
            return outcome
    running = [one for one in outcomes if not one.stopped]
    return Outcome(
        error=max((one.error for one in running), default=np.inf),
        velocity_error=max((one.velocity_error for one in running), default=np.inf),
        energy=max((one.energy for one in running), default=np.inf),
        seconds=sum(one.seconds for one in outcomes),
        reports=[text for one in outcomes for text in one.reports],
        stopped=not running)


def rounded(figure: float) -> str:
    """One digit."""
    if figure == 0:
        return "0"
    if figure >= 1e-2:
        return f"{figure:.0f}" if figure >= 1 else f"{figure:.1g}"
    return re.sub(r"e-0(\d)", r"e-\1", f"{figure:.0e}")


def cell(outcome: Outcome, wrong: bool, unit: float) -> str:
    """Error, energy, time; and what was reported."""
    if isinstance(outcome, Endless):
        return "**does not end**"
    report = " ⚠" if outcome.reports else ""
    if outcome.stopped:
        return "stops"
    ratio = outcome.seconds / unit
    time = f"{ratio:.2g}" if np.isfinite(ratio) else "–"  # rk4 stopped
    figures = f"{rounded(outcome.error)} · {rounded(outcome.energy)} · {time}"
    return f"**{figures}**" if wrong else figures + report


def table(rows: dict[str, list[str]]) -> str:
    lines = ["| motion | " + " | ".join(f"`{name}`" for name in INTEGRATORS) + " |",
             "|---" * (len(INTEGRATORS) + 1) + "|"]
    lines += [f"| {name} | " + " | ".join(cells) + " |" for name, cells in rows.items()]
    return "\n".join(lines) + "\n"


def measured() -> tuple[str, int]:
    """The table, and the number of entries that are wrong in silence."""
    rows: dict[str, list[str]] = {}
    bad = 0

    def add(name: str, outcomes: dict[str, Outcome], wrong: dict[str, bool]) -> None:
        nonlocal bad
        unit = outcomes["rk4"].seconds
        rows[name] = [cell(outcomes[i], wrong[i], unit) for i in INTEGRATORS]
        bad += sum(wrong.values())
        print(f"{name:28}", " | ".join(rows[name]), flush=True)

    for name, case in simulation_cases.CASES.items():
        outcomes = {i: limited(lambda case=case, i=i: simulation_cases.simulated(case, i))
                    for i in INTEGRATORS}
        add(name, outcomes, {i: outcomes[i].is_wrong(simulation_cases.allowed_error(
            case.reference, i)) for i in INTEGRATORS})
    for robot in kempe.robots.names():
        outcomes, wrong = {}, {}
        for seed in SEEDS:
            bundled_runs.reference_of(robot, seed)  # kept for the processes of the runs
        for i in INTEGRATORS:
            runs = [limited(lambda r=robot, s=seed, i=i: bundled_runs.simulated_robot(r, s, i))
                    for seed in SEEDS]
            outcomes[i] = worst(runs)
            wrong[i] = any(
                one.is_wrong(bundled_runs.allowed_error(robot, seed, i))
                for seed, one in zip(SEEDS, runs, strict=True))
        add(f"`{robot}`", outcomes, wrong)
    return table(rows), bad


def main() -> None:
    text, bad = measured()
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    if not rest or not after:
        raise SystemExit(f"{PAGE}: the marks of the table are missing")
    PAGE.write_text(before + BEGIN + "\n" + text + "\n" + END + after, encoding="utf-8")
    if bad:
        raise SystemExit(f"{bad} entries are wrong without a report")


if __name__ == "__main__":
    main()
