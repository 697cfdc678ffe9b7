"""`kempe view`: a robot in the browser."""

from __future__ import annotations

import argparse

import kempe
from kempe.cli.common import (
    BadInput,
    add_robot_arguments,
    check_whole_number,
    load_robot,
    print_warnings,
)
from kempe.cli.files import load_run, optional_packages

NAME = "view"
SUMMARY = "open a robot, or a recorded run, in the browser"
DESCRIPTION = """\
Opens a robot in the browser, with sliders for its independent coordinates (the loops stay closed),
clusters in colours, joint axes and centres of mass. With --run, plays back a run recorded with
`kempe simulate --out`. Flexible bodies are drawn deformed, in colours of their strain energy;
--mode animates a mode: of a body, such as rod/mode1, or of the whole robot with its joints held,
such as 1 (see `kempe modes`). Press Ctrl-C to stop. Needs pip install "kempe[view]"."""
EXAMPLES = """examples:
  kempe view tello
  kempe view six_bar --run run.recording
  kempe view examples/geared_four_bar_leg.urdf --port 9000 --no-browser
  kempe view examples/flexible_arm.urdf --mode forearm/mode2
  kempe view examples/flexible_arm.urdf --run run.recording --deformation-scale 20
"""
SMALLER = "Use a robot with fewer bodies, a smaller -n or a shorter run."  # if memory is short


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_robot_arguments(parser)
    parser.add_argument("--run", dest="recorded", metavar="RUN.recording",
                        help="a run of this robot, to play back")
    parser.add_argument("--mode", metavar="NAME", help="animate this mode of a flexible body "
                        "(rod/mode1) or of the whole robot (1)")
    add_deformation_scale(parser)
    add_server_arguments(parser)


def add_deformation_scale(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--deformation-scale", type=float, default=1.0, metavar="X",
                        help="draw the deformation of flexible bodies X times as large (1)")


def check_deformation_scale(arguments: argparse.Namespace) -> None:
    scale = arguments.deformation_scale
    if not 0 <= scale < float("inf"):
        raise BadInput(f"--deformation-scale: zero or more is needed, got {scale:g}")


def add_server_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", default="localhost",
                        help="address to serve on (localhost; 0.0.0.0 for all)")
    parser.add_argument("--port", type=int, default=8080,
                        help="port to serve on (8080), or the next free one; 0 for any")
    parser.add_argument(
        "--no-browser", action="store_true", help="start the server, but do not open a browser")


def check_server_arguments(arguments: argparse.Namespace) -> None:
    check_whole_number("--port", arguments.port, 0, 65535)


def show(model: kempe.Model, arguments: argparse.Namespace, run: kempe.Run | None = None, *,
         deformation_scale: float = 1.0, mode: str | None = None) -> None:
    """Shows a robot until Ctrl-C, at the address of add_server_arguments()."""
    with optional_packages("view"):
        from kempe.viewer import view

        try:
            view(model, run, host=arguments.host, port=arguments.port,
                 open_browser=not arguments.no_browser, deformation_scale=deformation_scale,
                 mode=mode)
        except ValueError as error:  # a host that is not this machine, or an unknown mode
            raise BadInput(str(error)) from error


def run(arguments: argparse.Namespace) -> None:
    check_server_arguments(arguments)
    check_deformation_scale(arguments)
    model = load_robot(arguments)
    recorded = None if arguments.recorded is None else load_run(arguments.recorded, model)
    print_warnings(model)
    show(model, arguments, recorded, deformation_scale=arguments.deformation_scale,
         mode=arguments.mode)
