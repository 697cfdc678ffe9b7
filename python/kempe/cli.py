"""The command line `kempe`."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import kempe


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


def info(arguments: argparse.Namespace) -> None:
    model = load_robot(arguments)
    print(str(model).rstrip())
    for warning in model.warnings:
        print(f"warning: {warning}", file=sys.stderr)


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

    show = commands.add_parser(
        "info", parents=[robot], help="show a robot's clusters, freedoms and loops",
        description="Shows a robot's clusters, freedoms, loops and folded rotors. Bundled robots: "
        + ", ".join(kempe.robots.names()) + ".")
    show.set_defaults(run=info)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parser().parse_args(argv)
    try:
        arguments.run(arguments)
    except (kempe.ModelError, kempe.AssemblyError, kempe.SingularityError, ValueError) as error:
        print(f"kempe: {error}", file=sys.stderr)
        return 1
    return 0
