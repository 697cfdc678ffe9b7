"""The command line `kempe`."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import kempe

CLOSED = 1e-12  # a loop that is open by no more than this is closed
STEP = 0.01  # seconds that `check` moves the robot, at up to one unit of each velocity


class CheckFailure(Exception):
    """A robot that loads but does not keep its loops closed."""


def load_robot(arguments: argparse.Namespace) -> kempe.Model:
    """The model of a bundled robot's name or of a file."""
    robot, links = arguments.robot, arguments.n
    fold_rotors = not arguments.keep_rotors
    if robot in kempe.robots.names():
        if arguments.floating_base:
            raise kempe.ModelError(f"--floating-base is for files; {robot} comes with its own base")
        return kempe.robots.load(robot, links, fold_rotors=fold_rotors)
    if not Path(robot).exists():
        bundled = ", ".join(kempe.robots.names())
        raise kempe.ModelError(
            f'"{robot}" is neither a file nor a bundled robot. Bundled robots: {bundled}.')
    if links is not None:
        raise kempe.ModelError(f"-n is for bundled chains; {robot} is a file")
    return kempe.load(robot, floating_base=arguments.floating_base, fold_rotors=fold_rotors)


def print_warnings(model: kempe.Model) -> None:
    for warning in model.warnings:
        print(f"warning: {warning}", file=sys.stderr)


def info(arguments: argparse.Namespace) -> None:
    model = load_robot(arguments)
    print(str(model).rstrip())
    print_warnings(model)


def widest_gap(model: kempe.Model, configurations: list[np.ndarray]) -> tuple[float, str, int]:
    """The largest loop residual, the loop it belongs to and the configuration it occurs in."""
    residuals = np.abs([model.loop_residual(q) for q in configurations])
    sample, row = np.unravel_index(residuals.argmax(), residuals.shape)
    return residuals[sample, row], model.loop_row_names[row], int(sample)


def check(arguments: argparse.Namespace) -> None:
    if arguments.samples < 1:
        raise ValueError(f"--samples: at least one is needed, got {arguments.samples}")
    model = load_robot(arguments)
    print(str(model).splitlines()[0])
    print_warnings(model)
    loops = len(set(model.loop_row_names))
    if not loops:
        print("No loops to close.")
        return

    standing = [model.random_configuration(seed) for seed in range(arguments.samples)]
    velocities = np.random.default_rng(0).uniform(-1, 1, (arguments.samples, model.nv))
    moved = [model.integrate(q, v, STEP) for q, v in zip(standing, velocities, strict=True)]
    print(f"Loops in {arguments.samples} random configurations:")
    for what, configurations in (("as assembled", standing), ("after a step", moved)):
        gap, loop, seed = widest_gap(model, configurations)
        print(f'  {what}: largest residual {gap:.1e} (loop "{loop}", seed {seed})')
        if gap > CLOSED:
            raise CheckFailure(
                f'{arguments.robot}: loop "{loop}" is open by {gap:.1e} {what}, seed {seed}')


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="kempe", description="Exact dynamics of robots whose bodies form loops.")
    top.add_argument("--version", action="version", version=f"kempe {kempe.__version__}")
    commands = top.add_subparsers(title="commands", required=True, metavar="COMMAND")

    robot = argparse.ArgumentParser(add_help=False)
    robot.add_argument("robot", metavar="ROBOT", help="a file (.urdf, .yaml) or a bundled robot")
    robot.add_argument("-n", type=int, help="number of links of a bundled chain")
    robot.add_argument(
        "--floating-base", action="store_true", help="set the root body of a file free")
    robot.add_argument(
        "--keep-rotors", action="store_true", help="keep rotors as bodies instead of folding them")
    bundled = " Bundled robots: " + ", ".join(kempe.robots.names()) + "."

    show = commands.add_parser(
        "info", parents=[robot], help="show a robot's clusters, freedoms and loops",
        description="Shows a robot's clusters, freedoms, loops and folded rotors." + bundled)
    show.set_defaults(run=info)

    test = commands.add_parser(
        "check", parents=[robot], help="load a robot and see that its loops close",
        description="Loads a robot, prints what is odd about it, and measures how well its loops "
        "close in random configurations and after a step from each." + bundled)
    test.add_argument(
        "--samples", type=int, default=100, help="number of random configurations (100)")
    test.set_defaults(run=check)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parser().parse_args(argv)
    try:
        arguments.run(arguments)
    except (kempe.ModelError, kempe.AssemblyError, kempe.SingularityError, CheckFailure,
            ValueError) as error:
        print(f"kempe: {error}", file=sys.stderr)
        return 1
    return 0
