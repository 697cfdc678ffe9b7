"""`kempe simulate`: simulates and records the motion of a robot."""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import re
import time
import warnings
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np

import kempe
from kempe.cli.common import (
    MOST_SEED,
    BadInput,
    Failed,
    add_json_argument,
    add_robot_arguments,
    complain,
    console,
    counted,
    escaped,
    load_robot,
    print_json,
    print_warning,
    print_warnings,
    printing_to_stderr,
    progress_bar,
)
from kempe.cli.controllers import FromFile, Hold
from kempe.cli.files import load_run, optional_packages, require_writable
from kempe.cli.view import add_deformation_scale, check_deformation_scale
from kempe.runs import Vector
from kempe.simulation import DEFAULT_INTEGRATOR, FIXED_STEPS, INTEGRATORS, Controller

Velocities = Vector | dict[str, list[float]]

NAME = "simulate"
SUMMARY = "simulate a robot, passive or controlled, and record the motion"
DESCRIPTION = """\
Simulates the motion of a robot and reports energy, loop closure and computing time. If the
simulation stops early (the loops cannot be closed any further, a controller fails, Ctrl-C), the run
up to that point is kept.

controllers:
  none      no forces: the robot moves under gravity
  hold      holds the initial pose by computed torque; a free base has no motor, so it falls
  FILE.py   a Python file with one function
                def control(t, q, v):      # seconds, positions, velocities (numpy arrays)
                    return tau             # nv forces, one for each of model.v_names
            and, if it needs the model, another that is called once before the run:
                def setup(model): ...

start: neutral; random or random:SEED; positions of joints, JOINT=X,JOINT=X,..., the others neutral
and the loops closed; a file of nq numbers (.txt, .npy), whose loops are closed first; or a recorded
run (.recording, .npz), to continue from its end and its time. Names of joints are written as they
are, also with "=" or ","; a joint with several coordinates as JOINT=X:X:X, or one of them under its
name, such as base.z=X"""
EXAMPLES = """examples:
  kempe simulate examples/geared_four_bar_leg.urdf --start random:1 --duration 2
  kempe simulate examples/geared_four_bar_leg.urdf --start hip=0.3,knee=-0.2 --duration 1
  kempe simulate examples/geared_four_bar_leg.urdf --velocity hip=2,knee=-1 --duration 1
  kempe simulate six_bar --speed 1 --out run.recording --plot run.png
  kempe simulate planar_leg --speed 2 --controller hold --duration 1
  kempe simulate tello --fixed-base --controller examples/controllers/tello_run.py --duration 0.5
  kempe simulate mini_cheetah --duration 0.2 --integrator semi_implicit_euler --dt 1e-4 --json
"""
SMALLER = "Use a shorter --duration, a longer --dt or a smaller -n."  # if memory is short

RUN_ENDINGS = (".recording", ".npz")
ENDINGS = {  # of output files
    "out": RUN_ENDINGS,
    "plot": (".pdf", ".png", ".svg"),
    "html": (".html", ".htm"),
}
REFRESH = 0.05  # seconds between updates of the progress bar
MOST_DRIFT = 0.1  # a run whose energy balance is off by more is a failure


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_robot_arguments(parser)
    parser.add_argument("--duration", type=float, default=5.0, metavar="S", help="seconds (5)")
    parser.add_argument("--dt", type=float, default=1e-3, metavar="S",
                        help="seconds between samples (1e-3); also the length of a step with rk4, "
                        "semi_implicit_euler and implicit_midpoint")
    parser.add_argument("--integrator", choices=list(INTEGRATORS), default=DEFAULT_INTEGRATOR,
                        help=f"default {DEFAULT_INTEGRATOR}. adaptive: order 5, as many steps as "
                        "its tolerances need; radau: the same, implicit, for stiff motions; auto: "
                        "the cheaper of the two; rk4: order 4, four evaluations a step; "
                        "semi_implicit_euler: order 1, one evaluation; implicit_midpoint: order 2, "
                        "energies stay bounded")
    parser.add_argument("--tolerance", type=float, default=1e-8, metavar="X",
                        help="relative tolerance of adaptive, radau and auto (1e-8), of positions "
                        "relative to one radian or metre, of velocities relative to their size, "
                        "but at least one")
    parser.add_argument("--absolute-tolerance", type=float, default=1e-10, metavar="X",
                        help="absolute tolerance of these (1e-10), in rad, m, rad/s and m/s")
    parser.add_argument("--max-step", type=float, default=float("inf"), metavar="S",
                        help="longest step in seconds (no limit): half the length of the shortest "
                        "pulse of the controller")
    parser.add_argument("--limits", action="store_true",
                        help="stop joints at their limits, without rebound")
    parser.add_argument("--controller", default="none", metavar="NAME",
                        help="none (default), hold, or FILE.py, see above")
    parser.set_defaults(start_option="--start")
    parser.add_argument("--start", default="neutral", metavar="WHERE",
                        help="neutral (default), random[:SEED], JOINT=X,..., or a file, see above")
    parser.add_argument("--speed", type=float, default=0.0, metavar="V",
                        help="start with random velocities of the independent coordinates, up to "
                        "V rad/s or m/s (0)")
    parser.add_argument("--velocity", metavar="JOINT=X,...",
                        help="start with these velocities of joints, in rad/s or m/s, the others "
                        "at rest as far as the loops allow")
    parser.add_argument("--out", metavar="RUN.recording", help="write the run, for Python, C++ and "
                        "kempe view; RUN.npz: for numpy, not for C++")
    parser.add_argument("--plot", metavar="FILE", help="write a figure, .png, .pdf or .svg; needs "
                        'pip install "kempe[plot]"')
    parser.add_argument("--html", metavar="FILE", help="write a page that plays the run, without a "
                        'server or network; needs pip install "kempe[view]"')
    add_deformation_scale(parser)
    add_json_argument(parser)


# --- before --------------------------------------------------------------------------------------

def check_files(arguments: argparse.Namespace) -> None:
    for option, endings in ENDINGS.items():
        path = getattr(arguments, option)
        if path is not None:
            require_writable(path, f"--{option}", endings)
    if arguments.plot is not None:
        with optional_packages("plot"):
            importlib.import_module("kempe.cli.plot")
    if arguments.html is not None:
        with optional_packages("view"):
            importlib.import_module("kempe.viewer")


def check_options(arguments: argparse.Namespace) -> None:
    check_deformation_scale(arguments)
    for option in ("tolerance", "absolute_tolerance", "max_step"):
        value = getattr(arguments, option)
        if not value > 0 or (option != "max_step" and not np.isfinite(value)):
            raise BadInput(f"--{option.replace('_', '-')}: a number greater than zero is needed, "
                           f"got {value:g}")


def starting_state(model: kempe.Model,
                   arguments: argparse.Namespace) -> tuple[Vector, Velocities, float]:
    """Positions, velocities and time."""
    speed = arguments.speed
    if not np.isfinite(speed) or speed < 0:
        raise BadInput(f"--speed: zero or more is needed, got {speed:g}")
    if speed and arguments.velocity is not None:
        raise BadInput("--speed and --velocity: give only one of them")
    q, v, since, seed = starting_position(model, arguments.start, arguments.start_option)
    if arguments.velocity is not None:
        return q, named_velocities(arguments.velocity, q, model), since
    if speed:
        v = v + speed * np.random.default_rng(seed).uniform(-1, 1, model.nv)
    # A dictionary: joints are at rest in dead points too, where no v would say so.
    return q, v if v.any() else {}, since


def starting_position(model: kempe.Model, start: str,
                      option: str) -> tuple[Vector, Vector, float, int]:
    """Positions, velocities and time of an option, and a seed for further velocities."""
    word, _, seed = start.partition(":")
    if seed and word == "random" and not seed.isdecimal():
        raise BadInput(f'{option} {start}: the seed "{seed}" is not a whole number')
    number = 0
    if word == "random" and seed:
        # Python itself refuses to read numbers of thousands of digits.
        number = int(seed) if len(seed) < 1000 else MOST_SEED + 1
        if number > MOST_SEED:
            raise BadInput(f"{option} random:SEED: a whole number from 0 to {MOST_SEED} is needed")
    at_rest = np.zeros(model.nv)
    if start == "neutral":
        return model.neutral(), at_rest, 0.0, number
    if word == "random":
        return model.random_configuration(number), at_rest, 0.0, number
    if start.endswith(RUN_ENDINGS):
        run = load_run(start, model)
        return run.q[-1], run.v[-1], float(run.t[-1]), number
    if "=" in start and not Path(start).is_file():
        return named_configuration(option, start, model), at_rest, 0.0, number
    return load_configuration(option, start, model), at_rest, 0.0, number


VALUES = re.compile(r"=([^,=]*)(?:,|$)")  # of one joint, after its name


def named_values(option: str, text: str, names: Iterable[str]) -> dict[str, list[float]]:
    """The numbers of JOINT=X,JOINT=X:X:X. Names may contain "=" and ",": the longest fits."""
    known = sorted(names, key=len, reverse=True)
    named: dict[str, list[float]] = {}
    if not text:
        raise BadInput(f"{option}: expected JOINT=X, got nothing")
    rest = text
    while rest:
        fitting = (name for name in known
                   if rest.startswith(name) and VALUES.match(rest, len(name)))
        name = next(fitting, rest.partition("=")[0])
        values = VALUES.match(rest, len(name))
        if values is None:
            raise BadInput(f'{option} {text}: expected JOINT=X, got "{rest}"')
        if name in named:
            raise BadInput(f'{option} {text}: "{name}" is given twice')
        try:
            named[name] = [float(number) for number in values[1].split(":")]
        except ValueError as error:
            raise BadInput(f'{option} {text}: "{values[1]}" is not a number, or several with ":" '
                           "between them") from error
        rest = rest[values.end():]
    return named


def named_configuration(option: str, text: str, model: kempe.Model) -> Vector:
    try:
        return model.configuration(named_values(
            option, text, {*model.joint_names, *model.spanning_position_names}))
    except (ValueError, kempe.AssemblyError) as error:
        raise BadInput(f"{option} {text}: {error}") from error


def named_velocities(text: str, q: Vector, model: kempe.Model) -> dict[str, list[float]]:
    named = named_values("--velocity", text, {*model.joint_names, *model.spanning_velocity_names})
    try:
        model.velocity(q, named)
    except ValueError as error:
        raise BadInput(f"--velocity {text}: {error}") from error
    return named


def load_configuration(option: str, path: str, model: kempe.Model) -> Vector:
    """nq numbers of a text or .npy file, loops closed."""
    if not Path(path).is_file():
        raise BadInput(f'{option}: "{path}" is neither neutral nor random nor JOINT=X nor a file')
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of numpy, that a file is empty: the shape says so
            q = np.asarray(np.load(path) if path.endswith(".npy") else np.loadtxt(path, ndmin=1))
        if q.shape != (model.nq,):
            raise ValueError(f"holds numbers of shape {q.shape}; nq = {model.nq} are needed, in "
                             "the order of q_names of `kempe info --json`")
        return model.project(q)
    except EOFError as error:
        raise BadInput(f"{option} {path}: the file is empty or cut off") from error
    except (ValueError, kempe.AssemblyError, kempe.SingularityError) as error:
        raise BadInput(f"{option} {path}: {error}") from error


# --- after ---------------------------------------------------------------------------------------

@dataclasses.dataclass
class Outcome:
    run: kempe.Run
    seconds: float  # of computing
    stopped: str = ""  # why the motion ended early
    interrupted: bool = False


def write_plot(model: kempe.Model, run: kempe.Run, path: str,
               arguments: argparse.Namespace) -> None:
    from kempe.cli import plot

    plot.write_plot(run, path)


def write_page(model: kempe.Model, run: kempe.Run, path: str,
               arguments: argparse.Namespace) -> None:
    with optional_packages("view"):
        from kempe.viewer import write_html

        write_html(model, run, path, deformation_scale=arguments.deformation_scale)


Writer = Callable[[kempe.Model, kempe.Run, str, argparse.Namespace], None]
WRITERS: dict[str, Writer] = {
    "out": lambda model, run, path, arguments: run.save(path),
    "plot": write_plot,
    "html": write_page,
}


def write_files(model: kempe.Model, run: kempe.Run,
                arguments: argparse.Namespace) -> tuple[list[str], list[str]]:
    """The files that were written, and error messages for those that could not be."""
    written, problems = [], []
    for option, write in WRITERS.items():
        path = getattr(arguments, option)
        if path is None:
            continue
        try:
            write(model, run, path, arguments)
            written.append(path)
        except OSError as error:
            problems.append(f"--{option} {path}: not written: {error.strerror or error}")
        except MemoryError:
            problems.append(f"--{option} {path}: not written: there is not enough memory")
    return written, problems


def summary(outcome: Outcome, arguments: argparse.Namespace, written: list[str],
            problems: list[str]) -> dict[str, Any]:
    run = outcome.run
    steps = len(run) - 1
    return {
        "robot": run.robot, "controller": arguments.controller, "start": arguments.start,
        "velocity": arguments.velocity,
        "integrator": run.integrator, "integrators_used": run.integrators_used,
        "method": run.method, "dt": run.dt, "steps": steps,
        "duration": arguments.duration, "started": float(run.t[0]), "reached": float(run.t[-1]),
        "stopped": outcome.stopped or None,
        "energy_start": float(run.energy[0]), "energy_end": float(run.energy[-1]),
        "work": float(run.work[-1]), "losses": float(run.losses[-1]),
        "energy_error": float(np.abs(run.energy_error).max()), "energy_drift": run.energy_drift,
        "warnings": run.warnings, "loop_error": float(run.loop_error.max()),
        "seconds": outcome.seconds, "seconds_per_step": outcome.seconds / max(1, steps),
        "files": written, "not_written": problems,
    }


def print_summary(report: dict[str, Any]) -> None:
    out = console()
    interval = "step" if report["integrator"] in FIXED_STEPS else "interval"
    def row(what: str, text: str) -> None:
        out.print(f"  [bold]{what:<12}[/] {escaped(text)}", soft_wrap=True)
    span = (f"{report['reached']:g} s" if report["started"] == 0 else
            f"t = {report['started']:g} to {report['reached']:g} s")
    out.print(f"[bold]{escaped(report['robot'])}[/]: {span} in "
              f"{counted(report['steps'], interval)} of {report['dt']:g} s, "
              f"{report['method']}, controller {escaped(report['controller'])}", soft_wrap=True)
    row("energy", f"{report['energy_start']:.6g} J at the start, {report['energy_end']:.6g} J at "
        f"the end, work {report['work']:.6g} J, losses {report['losses']:.6g} J")
    row("energy error", f"{report['energy_error']:.1e} J, {report['energy_drift']:.1e} of the "
        "exchanged energy")
    row("loop error", f"at most {report['loop_error']:.1e}")
    simulated = report["reached"] - report["started"]
    row("time", f"{report['seconds']:.2f} s, {1e6 * report['seconds_per_step']:.0f} µs per "
        f"{interval}, {simulated / max(report['seconds'], 1e-9):.1f} times real time")
    for path in report["files"]:
        row("wrote", path)


# --- the run -------------------------------------------------------------------------------------

def with_place(error: Exception, file: FromFile | None) -> str:
    """The error message, with the line of the controller's file if the error is from there."""
    place = file.place(error.__cause__) if file is not None else ""
    return f"{error} ({place})" if place else str(error)


def moved(model: kempe.Model, arguments: argparse.Namespace) -> Outcome:
    q, v, start_time = starting_state(model, arguments)
    controller: Controller | None = None
    file: FromFile | None = None
    if arguments.controller == "hold":
        controller = Hold(model, q)
    elif arguments.controller != "none":
        file = FromFile(arguments.controller, model)
        controller = file.control
    shown = 0.0
    with progress_bar("simulating") as show:
        def progress(fraction: float) -> None:
            nonlocal shown
            now = time.perf_counter()
            if now - shown > REFRESH:
                shown = now
                show(fraction)

        start = time.perf_counter()
        try:
            with warnings.catch_warnings():
                # Printed after the summary.
                warnings.simplefilter("ignore", kempe.SimulationWarning)
                run = kempe.simulate(
                    model, q, v, duration=arguments.duration, dt=arguments.dt,
                    integrator=arguments.integrator, controller=controller, progress=progress,
                    limits=arguments.limits, relative_tolerance=arguments.tolerance,
                    absolute_tolerance=arguments.absolute_tolerance, max_step=arguments.max_step,
                    time=start_time)
        except kempe.SimulationInterrupted as error:
            return Outcome(error.run, time.perf_counter() - start,
                           f"interrupted at t = {error.time:.6g} s", interrupted=True)
        except kempe.SimulationError as error:
            return Outcome(error.run, time.perf_counter() - start, with_place(error, file))
        except ValueError as error:
            raise BadInput(with_place(error, file)) from error
        return Outcome(run, time.perf_counter() - start)


def run(arguments: argparse.Namespace) -> None:
    check_files(arguments)
    check_options(arguments)
    model = load_robot(arguments)
    print_warnings(model)
    if arguments.limits and kempe.Simulator(model).add_limits() == 0:
        print_warning("--limits: no joint of the robot has limits, so that none is stopped")
    with printing_to_stderr() if arguments.json else nullcontext():
        outcome = moved(model, arguments)
        written, problems = write_files(model, outcome.run, arguments)
    report = summary(outcome, arguments, written, problems)
    if arguments.json:
        print_json(report)
    else:
        print_summary(report)
    if outcome.interrupted:
        for problem in [outcome.stopped, *problems]:
            complain(problem)
        raise KeyboardInterrupt
    failures = [outcome.stopped] if outcome.stopped else []
    for text in outcome.run.warnings:
        if outcome.run.energy_drift > MOST_DRIFT:
            failures.append(text)
        else:
            print_warning(text)
    if failures or problems:
        raise Failed(*failures, *problems)
