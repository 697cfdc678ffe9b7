"""`kempe view`: a robot in the browser."""

from __future__ import annotations

import argparse

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
`kempe simulate --out`. Press Ctrl-C to stop. Needs pip install "kempe[view]"."""
EXAMPLES = """examples:
  kempe view tello
  kempe view six_bar --run run.recording
  kempe view examples/geared_four_bar_leg.urdf --port 9000 --no-browser
"""
SMALLER = "Use a robot with fewer bodies, a smaller -n or a shorter run."  # if memory is short


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_robot_arguments(parser)
    parser.add_argument("--run", dest="recorded", metavar="RUN.recording",
                        help="a run of this robot, to play back")
    parser.add_argument("--host", default="localhost",
                        help="address to serve on (localhost; 0.0.0.0 for all)")
    parser.add_argument("--port", type=int, default=8080,
                        help="port to serve on (8080), or the next free one; 0 for any")
    parser.add_argument(
        "--no-browser", action="store_true", help="start the server, but do not open a browser")


def run(arguments: argparse.Namespace) -> None:
    check_whole_number("--port", arguments.port, 0, 65535)
    model = load_robot(arguments)
    recorded = None if arguments.recorded is None else load_run(arguments.recorded, model)
    print_warnings(model)
    with optional_packages("view"):
        from kempe.viewer import view

        try:
            view(model, recorded, host=arguments.host, port=arguments.port,
                 open_browser=not arguments.no_browser)
        except ValueError as error:  # a host that is not this machine
            raise BadInput(str(error)) from error
