"""`kempe bench`: times of the algorithms for a robot, on this machine."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from rich.table import Table

import kempe
from kempe.cli.common import (
    BadInput,
    add_json_argument,
    add_robot_arguments,
    check_whole_number,
    console,
    counted,
    escaped,
    load_robot,
    print_json,
    print_table,
    progress_bar,
)
from kempe.cli.studies import PACKAGE as STUDIES
from kempe.cli.studies import study
from kempe.timing import Spread, Timed, calls_of, measure, processor

NAME = "bench"
SUMMARY = "measure the times of the algorithms for a robot, on this machine"
DESCRIPTION = """\
Measures the times of algorithms and methods for a robot, called from Python: one state at a time,
and batches on one thread and on all. Times are medians of interleaved repetitions; the spread is
half the interquartile range. Times of one state include the overhead of a Python call, one or two
microseconds, which is negligible for batches. In a checkout of Kempe, if the package `pinocchio` is
installed (pip install pin), it is measured in the same way, on the open tree: all bodies and
rotors, but no loops, which its recursions do not support."""
EXAMPLES = """examples:
  kempe bench tello
  kempe bench four_bar --batch 4096 --seconds 2
  kempe bench mini_cheetah --seconds 1 --json
"""
SMALLER = "Use a smaller --batch or -n."  # if memory is short

METHODS = ("cluster", "projection", "lagrange", "cut_joint", "approximate", "unconstrained")
MOST_STATES = 10_000_000


class Case(Timed):
    """One call to measure: its time per state."""

    def __init__(self, algorithm: str, method: str, kind: str, call: Callable[[], object],
                 states: int = 1, threads: int = 0) -> None:
        calls = calls_of(call)

        def seconds(repeated: int) -> float:
            if threads:
                kempe.set_num_threads(threads)
            return calls(repeated)
        super().__init__(seconds)
        self.algorithm, self.method, self.kind = algorithm, method, kind  # "single", "batch", …
        self._states = states

    def figures(self) -> dict[str, float]:
        return Spread.of(np.array(self.times) / self._states)._asdict()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_robot_arguments(parser)
    parser.add_argument("--batch", type=int, default=1024, metavar="N",
                        help="states in a batch (1024)")
    parser.add_argument("--seconds", type=float, default=5.0, metavar="S",
                        help="about how long to measure (5)")
    add_json_argument(parser)


# --- measuring -----------------------------------------------------------------------------------

def kempe_cases(model: kempe.Model, batch: int, threads: int) -> list[Case]:
    random = np.random.default_rng(0)
    q1 = model.random_configuration(1)
    v1, x1 = random.uniform(-1, 1, (2, model.nv))
    # Few different configurations, many states: assembling a thousand of them takes a while.
    some = np.array([model.random_configuration(seed) for seed in range(min(batch, 64))])
    q = np.ascontiguousarray(np.resize(some, (batch, model.nq)))
    v, x = random.uniform(-1, 1, (2, batch, model.nv))
    cases = []

    def add(algorithm: str, method: str, single: Callable[[], object],
            many: Callable[[], object]) -> None:
        try:
            single()
        except ValueError:
            return  # the method does not apply to this robot; `kempe check` says why
        cases.append(Case(algorithm, method, "single", single))
        cases.append(Case(algorithm, method, "batch", many, batch, threads=1))
        if threads > 1:
            cases.append(Case(algorithm, method, "threads", many, batch, threads=threads))

    for algorithm, function in (("forward_dynamics", model.forward_dynamics),
                                ("inverse_dynamics", model.inverse_dynamics)):
        for method in METHODS:
            if (algorithm, method) == ("inverse_dynamics", "cut_joint"):
                continue  # a given motion leaves no multipliers to find
            add(algorithm, method, partial(function, q1, v1, x1, method=method),
                partial(function, q, v, x, method=method))
    add("mass_matrix", "cluster", lambda: model.mass_matrix(q1), lambda: model.mass_matrix(q))
    add("forward_kinematics", "", lambda: model.forward_kinematics(q1),
        lambda: model.forward_kinematics(q))
    add("integrate", "", lambda: model.integrate(q1, v1, 1e-3),
        lambda: model.integrate(q, v, 1e-3))
    return cases


def pinocchio_cases(model: kempe.Model) -> tuple[list[Case], str]:
    """Pinocchio on the open tree, and a note on it."""
    try:
        trees = study("pinocchio_tree")
    except ModuleNotFoundError as error:
        return [], ("Pinocchio is compared with in Kempe's repository only."
                    if error.name == STUDIES else
                    "Pinocchio is not installed; `pip install pin` adds it to the comparison.")
    opened, pinocchio = trees.open_tree(model), trees.pinocchio
    tree, data = opened.model, opened.model.createData()
    q = model.spanning_positions(model.random_configuration(1))[opened.positions]
    v, x = np.random.default_rng(0).uniform(-1, 1, (2, tree.nv))
    return [
        Case("forward_dynamics", "pinocchio", "single", lambda: pinocchio.aba(tree, data, q, v, x)),
        Case("inverse_dynamics", "pinocchio", "single",
             lambda: pinocchio.rnea(tree, data, q, v, x)),
        Case("mass_matrix", "pinocchio", "single", lambda: pinocchio.crba(tree, data, q)),
    ], (f"pinocchio: version {pinocchio.__version__}, aba, rnea and crba on the open tree with "
        f"{counted(tree.nv, 'DoF')}; the loops are left out.")


# --- printing ------------------------------------------------------------------------------------

def report(model: kempe.Model, cases: list[Case], batch: int, threads: int,
           note: str) -> dict[str, Any]:
    results: dict[tuple[str, str], dict[str, Any]] = {}
    order = list(dict.fromkeys(case.algorithm for case in cases))
    for case in sorted(cases, key=lambda case: order.index(case.algorithm)):
        row = results.setdefault((case.algorithm, case.method),
                                 {"algorithm": case.algorithm, "method": case.method})
        row[case.kind] = case.figures()
    return {
        "robot": model.name, "nv": model.nv, "bodies": len(model.body_names),
        "instruction_set": kempe.instruction_set(), "processor": processor(),
        "threads": threads, "batch": batch, "repetitions": len(cases[0].times),
        "peer": note, "results": list(results.values()),
    }


def shown(figures: dict[str, float] | None) -> str:
    if figures is None:
        return ""
    spread = 100 * (figures["high"] - figures["low"]) / figures["median"]
    return f"{1e6 * figures['median']:.2f} ±{spread / 2:.0f}%"


def print_result(result: dict[str, Any]) -> None:
    out = console()
    bodies = counted(result["bodies"], "moving body", "moving bodies")
    out.print(f"[bold]{escaped(result['robot'])}[/]: {counted(result['nv'], 'DoF')}, {bodies}; "
              f"µs per state, median of {result['repetitions']} repetitions", soft_wrap=True)
    out.print(f"{escaped(result['processor'])}, {result['instruction_set']}", soft_wrap=True)
    table = Table(box=None, padding=(0, 3, 0, 0), header_style="bold")
    table.add_column("algorithm")
    table.add_column("method")
    table.add_column("one state", justify="right")
    table.add_column(f"batch of {result['batch']}", justify="right")
    if result["threads"] > 1:
        table.add_column(f"{result['threads']} threads", justify="right")
    before = ""
    for row in result["results"]:
        style = {"cluster": "bold", "pinocchio": "cyan"}.get(row["method"])
        name = row["algorithm"] if row["algorithm"] != before else ""
        before = row["algorithm"]
        kinds = ["single", "batch"] + ["threads"] * (result["threads"] > 1)
        table.add_row(name, row["method"], *(shown(row.get(kind)) for kind in kinds), style=style)
    print_table(table)
    out.print(escaped(result["peer"]), soft_wrap=True)


def run(arguments: argparse.Namespace) -> None:
    check_whole_number("--batch", arguments.batch, 1, MOST_STATES)
    if not 0 < arguments.seconds < np.inf:
        raise BadInput(f"--seconds: a positive number is needed, got {arguments.seconds}")
    model = load_robot(arguments)
    threads = kempe.get_num_threads()
    cases = kempe_cases(model, arguments.batch, threads)
    peers, note = pinocchio_cases(model)
    with progress_bar("measuring") as done:
        measure([[*cases, *peers]], arguments.seconds, done)
    result = report(model, [*cases, *peers], arguments.batch, threads, note)
    if arguments.json:
        print_json(result)
    else:
        print_result(result)
