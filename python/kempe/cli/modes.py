"""`kempe modes`: natural frequencies of flexible bodies, alone and in the robot."""

from __future__ import annotations

import argparse
from typing import Any

from rich.table import Table

import kempe
from kempe.cli.common import (
    BadInput,
    Failed,
    add_json_argument,
    add_robot_arguments,
    console,
    load_robot,
    print_json,
    print_warnings,
)
from kempe.cli.view import add_server_arguments, check_server_arguments, show
from kempe.modes import body_modes, robot_modes

NAME = "modes"
SUMMARY = "list the natural frequencies of flexible bodies"
DESCRIPTION = """\
Lists the modes of flexible bodies: for each body alone, with its frame held, the natural
frequencies, the kind of the mode if the body is straight (axial, torsion or bending, and along
which axis of the body) and the node that moves most; and the natural frequencies of the whole robot
at its neutral configuration under gravity, with the joints held. With --view, animates the modes in
the browser; `kempe view ROBOT --mode NAME` starts with another one than the first of the robot."""
EXAMPLES = """examples:
  kempe modes examples/flexible_arm.urdf
  kempe modes examples/flexible_arm.urdf --json
  kempe modes examples/flexible_arm.urdf --view
"""
SMALLER = "Keep fewer modes of each body."  # if memory is short


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_robot_arguments(parser)
    add_json_argument(parser)
    parser.add_argument("--view", action="store_true", help="animate the modes in the browser, "
                        'after the list; needs pip install "kempe[view]"')
    add_server_arguments(parser)


def modes_of(body: kempe.FlexibleBody) -> list[dict[str, Any]]:
    return [{"frequency": mode.frequency, "kind": mode.kind, "moves_most": mode.moves_most}
            for mode in body_modes(body)]


def of_the_robot(model: kempe.Model) -> list[float]:
    """Frequencies in Hz, ascending, with all coordinates but the modal ones held."""
    try:
        return [mode.frequency for mode in robot_modes(model)[1]]
    except RuntimeError as error:
        raise Failed(str(error)) from error


def described(model: kempe.Model) -> dict[str, Any]:
    return {
        "robot": model.name,
        "flexible_bodies": [{"name": body.name, "frequencies": list(map(float, body.frequencies)),
                             "modes": modes_of(body)}
                            for body in model.mechanism.flexible_bodies],
        "frequencies": of_the_robot(model),
    }


def run(arguments: argparse.Namespace) -> None:
    check_server_arguments(arguments)
    if arguments.view and arguments.json:
        raise BadInput("--view and --json: give only one of them")
    model = load_robot(arguments)
    if not model.mechanism.flexible_bodies:
        raise BadInput(f'robot "{model.name}" has no flexible bodies. Add <flexible> to a link.')
    report = described(model)
    if arguments.json:
        print_json(report)
        return
    for body in report["flexible_bodies"]:
        table = Table("mode", "Hz", "kind", "moves most", title=f"{body['name']}: modes")
        for i, mode in enumerate(body["modes"]):
            table.add_row(str(i + 1), f"{mode['frequency']:.4g}", mode["kind"], mode["moves_most"])
        console().print(table)
    console().print(f"{model.name}: natural frequencies with the joints held, Hz: "
                    + ", ".join(f"{frequency:.4g}" for frequency in report["frequencies"]),
                    highlight=False, soft_wrap=True)
    print_warnings(model)
    if arguments.view:
        show(model, arguments, mode="1")
