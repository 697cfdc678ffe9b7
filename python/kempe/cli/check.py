"""`kempe check`: tests of the model of a robot."""

from __future__ import annotations

import argparse
import warnings

from rich.table import Table

import kempe
from kempe.cli.checks import Finding, all_findings
from kempe.cli.common import (
    MOST_SEED,
    BadInput,
    Failed,
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

NAME = "check"
SUMMARY = "test the model of a robot in random states"
DESCRIPTION = """\
Loads a robot and tests its model in random states: the loops close, all exact methods agree with
each other, forward dynamics inverts inverse dynamics, the mass matrix is symmetric and positive
definite, power is the rate of change of energy. Errors are compared with the rounding error that
the condition numbers of the mass matrix and the loops permit in each state. Lines marked "note" are
for you to judge: warnings, joint limits that the neutral or random configurations violate, errors
of models without loops and rotors, conditioning of the loops, dead points that a coordinate reaches
when it alone moves from the neutral position, joints without limits."""
EXAMPLES = """examples:
  kempe check tello
  kempe check examples/geared_four_bar_leg.urdf --samples 1000
  kempe check tello --quick
  kempe check planar_leg --json
"""
SMALLER = "Use a smaller --samples or -n."  # if memory is short

MARKS = {True: "[green]ok[/]", False: "[bold red]FAILED[/]", None: "[yellow]note[/]"}

MOST_SAMPLES = 10_000_000
SAMPLES, QUICK_SAMPLES = 100, 10
TIME_LIMIT = 5.0  # seconds


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_robot_arguments(parser)
    parser.add_argument("--samples", type=int, metavar="N",
                        help=f"number of random states ({SAMPLES}; {QUICK_SAMPLES} with --quick)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first random state (0)")
    parser.add_argument("--time-limit", type=float, default=TIME_LIMIT, metavar="S",
                        help="time limit of the search for dead points in seconds; skipped "
                        f"coordinates are listed ({TIME_LIMIT:g}; inf: no limit, 0: no search)")
    parser.add_argument("--quick", action="store_true",
                        help="fewer states, and no search for dead points")
    add_json_argument(parser)


def print_page(model: kempe.Model, findings: list[Finding], verdict: str) -> None:
    out = console()
    out.print(f"[bold]{escaped(str(model).splitlines()[0])}[/]", soft_wrap=True)
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, style="bold")
    table.add_column()
    for finding in findings:
        table.add_row(MARKS[finding.passed], finding.what, escaped(finding.text))
        for line in finding.details:
            table.add_row("", "", escaped(line))
    print_table(table)
    out.print(f"[bold]{escaped(verdict)}[/]", soft_wrap=True)


def run(arguments: argparse.Namespace) -> None:
    samples = arguments.samples
    if samples is None:
        samples = QUICK_SAMPLES if arguments.quick else SAMPLES
    check_whole_number("--samples", samples, 1, MOST_SAMPLES)
    check_whole_number("--seed", arguments.seed, 0, MOST_SEED)
    if not arguments.time_limit >= 0:
        raise BadInput("--time-limit: zero seconds or more are needed, got "
                       f"{arguments.time_limit:g}")
    seconds = 0.0 if arguments.quick else arguments.time_limit
    model = load_robot(arguments)
    with progress_bar("checking") as done, warnings.catch_warnings():
        warnings.simplefilter("ignore", kempe.LimitsWarning)  # reported as a finding
        findings = all_findings(model, samples, arguments.seed, seconds, done)
    failed = [finding.what for finding in findings if finding.passed is False]
    notes = sum(finding.passed is None for finding in findings)
    if failed:
        verdict = f"Verdict: do not trust this model: {', '.join(failed)}."
    else:
        verdict = "Verdict: the model can be trusted" + (
            f"; {counted(notes, 'note')} to read." if notes else ".")
    if arguments.json:
        print_json({
            "robot": model.name, "samples": samples, "seed": arguments.seed,
            "passed": not failed, "failed": failed,
            "findings": {finding.what: {"passed": finding.passed, **finding.figures}
                         for finding in findings}})
    else:
        print_page(model, findings, verdict)
    if failed:
        raise Failed(f"{model.name}: did not pass: {', '.join(failed)}")
