"""What the commands share: robots on the command line, output, exit codes."""

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

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

import kempe

FINE = 0
FAILED = 1  # the robot or the run did not pass, or cannot be
BAD_INPUT = 2  # also argparse's own code for a command that it does not understand
INTERRUPTED = 130  # as shells have it: 128 + SIGINT

EXIT_CODES = """exit codes:
  0    all is well
  1    the robot did not pass its checks, its motion could not go on, or what came out of it
       could not be written
  2    the command, a file or an option is wrong
  130  interrupted with Ctrl-C
"""

PLAIN_WIDTH = 100  # columns of what is not printed on a terminal

MOST_SEED = 2**32 - 1
MOST_LINKS = 1_000_000


class BadInput(Exception):
    """Something on the command line is wrong; the text says what, and the remedy."""


class Failed(Exception):
    """The command was understood, but the robot, its motion or a file did not turn out well.

    Its arguments are texts, one for each thing that went wrong."""


def check_whole_number(option: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise BadInput(f"{option}: a whole number from {least} to {most} is needed, got {value}")


# --- output ----------------------------------------------------------------------------------

class PipedConsole(Console):
    """Leaves it to main() what happens when nobody reads on."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def console(*, stderr: bool = False) -> Console:
    """Prints with colours on a terminal, unless NO_COLOR is set, and plainly elsewhere."""
    stream = sys.stderr if stderr else sys.stdout
    return PipedConsole(stderr=stderr, highlight=False, emoji=False,
                        width=None if stream.isatty() else PLAIN_WIDTH)


def complain(text: str) -> None:
    with suppress(OSError):  # where nobody can be told, the exit code still says it
        console(stderr=True).print(f"[bold red]kempe:[/] {escaped(text)}", soft_wrap=True)


def open_standard_streams() -> None:
    """Gives those that the caller has closed somewhere to go; else the next file that is opened
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
    """Sends what code of others prints, and programs that it starts, to standard error."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        sys.stdout.flush()  # what was printed past the redirection, on sys.__stdout__
        os.dup2(kept, 1)
        os.close(kept)


def counted(count: int, what: str, several: str = "") -> str:
    """A number and what it counts, as in "1 step" and "2 steps"."""
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
    """Prints a table without blanks at the ends of its lines."""
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
    """Prints Kempe's own Python warnings as the other warnings, without a line of code."""
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
    """Text that rich prints as it is."""
    return text.replace("\\", "\\\\").replace("[", "\\[")


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[float], None]]:
    """A bar on stderr, if that is a terminal; call what it gives with the fraction done."""
    with Progress(
        TextColumn(f"{what:<14}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn(),
        console=console(stderr=True), transient=True, refresh_per_second=10,
        disable=not sys.stderr.isatty(),
    ) as progress:
        task = progress.add_task(what, total=1.0)
        yield lambda fraction: progress.update(task, completed=fraction)


# --- robots ----------------------------------------------------------------------------------

def add_robot_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("robot", metavar="ROBOT", help="a file (.urdf, .yaml) or a bundled robot: "
                        + ", ".join(kempe.robots.names()))
    parser.add_argument("-n", type=int, metavar="LINKS", help="number of links of a bundled chain")
    base = parser.add_mutually_exclusive_group()
    base.add_argument(
        "--floating-base", action="store_true", help="set the root body of a file free")
    base.add_argument("--fixed-base", action="store_true",
                      help="hold the robot's free base where it is, as on a test stand")
    parser.add_argument(
        "--keep-rotors", action="store_true", help="keep rotors as bodies instead of folding them")
    parser.add_argument(
        "--keep-gimbals", action="store_true",
        help="keep three massless revolute joints that form a ball instead of merging them")
    parser.add_argument(
        "--start-pose", action="append", default=[], metavar="JOINT=VALUE,...",
        help="where assembly starts, in radians or metres; a joint with several positions takes "
        "them as JOINT=VALUE:VALUE:...; joints that are not named start at zero")


def add_json_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true",
                        help="print one JSON object on standard output, and nothing else there")


@contextmanager
def ended_at_once_by_ctrl_c() -> Iterator[None]:
    """For what cannot be interrupted from Python: SIGINT has its default action meanwhile."""
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
    """The model of a bundled robot's name or of a file."""
    with ended_at_once_by_ctrl_c():
        return loaded_robot(arguments)


def loaded_robot(arguments: argparse.Namespace) -> kempe.Model:
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
    options = {"fold_rotors": not arguments.keep_rotors,
               "merge_gimbals": not arguments.keep_gimbals}
    start = start_pose(arguments.start_pose)
    try:
        if not bundled and not arguments.fixed_base:
            return kempe.load(
                robot, floating_base=arguments.floating_base, start=start, **options)
        mechanism = (kempe.robots.mechanism(robot, links) if bundled
                     else kempe.read_mechanism(robot))
        if arguments.fixed_base:
            hold_base(mechanism)
        mechanism.start_pose = {**mechanism.start_pose, **start}
        return kempe.Model(mechanism, **options)
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
            raise BadInput(f'--start-pose: "{entry}" is not understood; write JOINT=VALUE, or '
                           "JOINT=VALUE:VALUE:... for a joint with several positions")
        if joint in pose:
            raise BadInput(f'--start-pose: joint "{joint}" is given twice')
        pose[joint] = positions
    return pose


def hold_base(mechanism: kempe.Mechanism) -> None:
    """Fixes the free joints that stand on the root."""
    children = {joint.child for joint in mechanism.joints}
    bases = [joint for joint in mechanism.joints
             if joint.type == "free" and joint.parent not in children]
    if not bases:
        raise BadInput(f"--fixed-base: {mechanism.name} has no free base")
    for joint in bases:
        joint.type = "fixed"
    held = {joint.name for joint in bases}
    mechanism.start_pose = {
        joint: pose for joint, pose in mechanism.start_pose.items() if joint not in held}


def free_velocities(model: kempe.Model) -> list[int]:
    """Where in v the velocities of free joints are: no motor drives them."""
    types = {joint.name: joint.type for joint in model.mechanism.joints}
    return [index for index, name in enumerate(model.v_names)
            if types.get(name.rpartition(".")[0]) == "free"]
