"""Shared parts of the commands: robots on the command line, output, exit codes."""

from __future__ import annotations

import argparse
import json
import math
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

import kempe
from kempe.mjcf import frames
from kempe.mjcf.loading import free_base as mjcf_free_base

FINE = 0
FAILED = 1  # the robot or the run did not pass, or is impossible
BAD_INPUT = 2  # also argparse's own code for an invalid command
INTERRUPTED = 130  # the convention of shells: 128 + SIGINT

EXIT_CODES = """exit codes:
  0    success
  1    the robot did not pass its checks, its simulation stopped early, or the results could not
       be written
  2    the command, a file or an option is invalid
  130  interrupted with Ctrl-C
"""

PLAIN_WIDTH = 100  # columns of output that does not go to a terminal

MOST_SEED = 2**32 - 1
MOST_LINKS = 1_000_000


class BadInput(Exception):
    """An error on the command line; the text says what is wrong, and the remedy."""


class Failed(Exception):
    """A valid command whose robot, simulation or output file failed.

    Its arguments are messages, one for each failure."""


def check_whole_number(option: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise BadInput(f"{option}: a whole number from {least} to {most} is needed, got {value}")


# --- output ----------------------------------------------------------------------------------

class PipedConsole(Console):
    """Leaves the handling of broken pipes to main()."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def console(*, stderr: bool = False) -> Console:
    """Prints with colours on a terminal, unless NO_COLOR is set, and plainly elsewhere."""
    stream = sys.stderr if stderr else sys.stdout
    return PipedConsole(stderr=stderr, highlight=False, emoji=False,
                        width=None if stream.isatty() else PLAIN_WIDTH)


def complain(text: str) -> None:
    with suppress(OSError):  # if standard error is closed, the exit code still tells
        console(stderr=True).print(f"[bold red]kempe:[/] {escaped(text)}", soft_wrap=True)


def open_standard_streams() -> None:
    """Opens standard streams that the caller has closed; otherwise the next file that is opened
    would take their place."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free, this one
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


@contextmanager
def printing_to_stderr() -> Iterator[None]:
    """Sends the output of users' code, and of programs that it starts, to standard error."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        sys.stdout.flush()  # output to sys.__stdout__, which bypasses the redirection
        os.dup2(kept, 1)
        os.close(kept)


def counted(count: int, what: str, several: str = "") -> str:
    """A number with a noun, as in "1 step" and "2 steps"."""
    return f"{count} {what if count == 1 else several or what + 's'}"


def print_json(report: dict[str, Any]) -> None:
    """One JSON object. Numbers that JSON does not have (infinity) become null."""
    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: plain(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [plain(item) for item in value]
        if isinstance(value, float) and not math.isfinite(value):
            return None
        return value
    print(json.dumps(plain(report), indent=2, ensure_ascii=False, allow_nan=False))


def print_table(table: Table) -> None:
    """Prints a table without trailing blanks."""
    out = console()
    with out.capture() as captured:
        out.print(table)
    for line in captured.get().splitlines():
        print(line.rstrip())


def print_warning(text: str) -> None:
    with suppress(OSError):
        console(stderr=True).print(f"[yellow]warning:[/] {escaped(text)}", soft_wrap=True)


def print_warnings(model: kempe.Model) -> None:
    for warning in model.warnings:
        print_warning(warning)


@contextmanager
def warnings_in_words() -> Iterator[None]:
    """Prints Kempe's own Python warnings like its other warnings, without a line of code."""
    with warnings.catch_warnings():
        others = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], filename: str, lineno: int,
                 file: TextIO | None = None, line: str | None = None) -> None:
            if issubclass(category, kempe.LimitsWarning):
                print_warning(str(message))
            else:
                others(message, category, filename, lineno, file, line)

        warnings.showwarning = show
        yield


def escaped(text: str) -> str:
    """Text that rich prints verbatim."""
    return text.replace("\\", "\\\\").replace("[", "\\[")


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[float], None]]:
    """A bar on stderr, if that is a terminal. Yields a function to call with the fraction done."""
    with Progress(
        TextColumn(f"{what:<14}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn(),
        console=console(stderr=True), transient=True, refresh_per_second=10,
        disable=not sys.stderr.isatty(),
    ) as progress:
        task = progress.add_task(what, total=1.0)
        yield lambda fraction: progress.update(task, completed=fraction)


# --- robots ----------------------------------------------------------------------------------

def add_mechanism_arguments(parser: argparse.ArgumentParser) -> None:
    """The robot, and changes of it that do not depend on how it is compiled."""
    parser.add_argument("robot", metavar="ROBOT", help="a file (.urdf, .yaml, .xml) or a bundled "
                        "robot: " + ", ".join(kempe.robots.names()))
    parser.add_argument("-n", type=int, metavar="LINKS", help="number of links of a bundled chain")
    base = parser.add_mutually_exclusive_group()
    base.add_argument(
        "--floating-base", action="store_true", help="give the root body of a file a free joint")
    base.add_argument("--fixed-base", action="store_true",
                      help="fix the robot's free base, as on a test stand")
    parser.add_argument(
        "--start-pose", action="append", default=[], metavar="JOINT=VALUE,...",
        help="start of the assembly, in radians or metres; JOINT=VALUE:VALUE:... for a joint with "
        "several positions; joints that are not named start at zero")


def add_robot_arguments(parser: argparse.ArgumentParser) -> None:
    add_mechanism_arguments(parser)
    parser.add_argument(
        "--keep-rotors", action="store_true", help="keep rotors as bodies instead of folding them")
    parser.add_argument(
        "--keep-gimbals", action="store_true",
        help="keep three massless revolute joints that form a ball instead of merging them")


def add_json_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true",
                        help="print one JSON object on standard output, and nothing else there")


@contextmanager
def ended_at_once_by_ctrl_c() -> Iterator[None]:
    """Restores the default action of SIGINT during calls that Python cannot interrupt."""
    ours = (threading.current_thread() is threading.main_thread()
            and signal.getsignal(signal.SIGINT) is signal.default_int_handler)
    if ours:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        if ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def load_robot(arguments: argparse.Namespace) -> kempe.Model:
    """The model of a bundled robot or of a file."""
    with ended_at_once_by_ctrl_c():
        return loaded_robot(arguments)


def loaded_robot(arguments: argparse.Namespace) -> kempe.Model:
    options = {"fold_rotors": not arguments.keep_rotors,
               "merge_gimbals": not arguments.keep_gimbals}
    mechanism = read_robot(arguments)
    try:
        if isinstance(mechanism, kempe.mjcf.MjcfMechanism):
            return kempe.mjcf.MjcfModel(mechanism, fold_rotors=options["fold_rotors"])
        return kempe.Model(mechanism, **options)
    except (kempe.ModelError, ValueError, OSError) as error:
        raise BadInput(str(error)) from error


def read_robot(arguments: argparse.Namespace) -> kempe.Mechanism:
    """The mechanism of a bundled robot or of a file, with the options for it."""
    robot, links = arguments.robot, arguments.n
    bundled = robot in kempe.robots.names()
    if bundled and arguments.floating_base:
        raise BadInput(f"--floating-base is for files; {robot} comes with its own base")
    if not bundled and not Path(robot).exists():
        raise BadInput(f'"{robot}" is neither a file nor a bundled robot. Bundled robots: '
                       f"{', '.join(kempe.robots.names())}.")
    if not bundled and links is not None:
        raise BadInput(f"-n is for bundled chains; {robot} is a file")
    if links is not None and links > MOST_LINKS:
        raise BadInput(f"-n: at most {MOST_LINKS} links are possible, got {links}")
    start = start_pose(arguments.start_pose)
    try:
        mechanism = (kempe.robots.mechanism(robot, links) if bundled
                     else kempe.read_mechanism(robot))
        if arguments.fixed_base:
            hold_base(mechanism)
        if arguments.floating_base:
            free_base(mechanism)
        mechanism.start_pose = {**mechanism.start_pose, **start}
        return mechanism
    except (kempe.ModelError, ValueError, OSError) as error:
        raise BadInput(str(error)) from error


def start_pose(options: list[str]) -> dict[str, list[float]]:
    """The positions that --start-pose gives, by joint."""
    pose: dict[str, list[float]] = {}
    for entry in ",".join(options).split(",") if options else []:
        joint, _, values = entry.rpartition("=")
        joint = joint.strip()
        try:
            positions = [float(value) for value in values.split(":")]
        except ValueError:
            positions = []
        if not joint or not positions:
            raise BadInput(f'--start-pose: "{entry}" is invalid; write JOINT=VALUE, or '
                           "JOINT=VALUE:VALUE:... for a joint with several positions")
        if joint in pose:
            raise BadInput(f'--start-pose: joint "{joint}" is given twice')
        pose[joint] = positions
    return pose


def free_base(mechanism: kempe.Mechanism) -> None:
    """What `floating_base` of kempe.load() does."""
    if isinstance(mechanism, kempe.mjcf.MjcfMechanism):
        mjcf_free_base(mechanism)
    elif free_bases(mechanism):
        mechanism.warnings = [*mechanism.warnings, f"{mechanism.source}: the base is already free; "
                              "no floating base was added."]
    else:
        mechanism.add_floating_base()


def free_bases(mechanism: kempe.Mechanism) -> list[kempe.Joint]:
    """The free joints whose parent is the root."""
    children = {joint.child for joint in mechanism.joints}
    return [joint for joint in mechanism.joints
            if joint.type == "free" and joint.parent not in children]


def hold_base(mechanism: kempe.Mechanism) -> None:
    """Fixes the free joints whose parent is the root, where the start pose has them."""
    bases = free_bases(mechanism)
    if not bases:
        raise BadInput(f"--fixed-base: {mechanism.name} has no free base")
    pose = dict(mechanism.start_pose)
    for joint in bases:
        joint.type = "fixed"
        if joint.name in pose:
            numbers = np.array(pose.pop(joint.name), float)
            R, p = joint.origin
            joint.origin = (R @ frames.turns(numbers[3:]), p + R @ numbers[:3])
    mechanism.start_pose = pose


def free_velocities(model: kempe.Model) -> list[int]:
    """Indices in v of the velocities of free joints, which no motor drives."""
    types = {joint.name: joint.type for joint in model.mechanism.joints}
    return [index for index, name in enumerate(model.v_names)
            if types.get(name.rpartition(".")[0]) == "free"]
