"""`kempe modes`: natural frequencies of flexible bodies, alone and in the robot."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
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

NAME = "modes"
SUMMARY = "list the natural frequencies of flexible bodies"
DESCRIPTION = """\
Lists the modes of flexible bodies: natural frequencies of each body alone, with its frame held, and
of the whole robot at its neutral configuration under gravity, with the joints held."""
EXAMPLES = """examples:
  kempe modes examples/flexible_arm.urdf
  kempe modes examples/flexible_arm.urdf --json
"""
SMALLER = "Keep fewer modes of each body."  # if memory is short


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_robot_arguments(parser)
    add_json_argument(parser)


def of_the_robot(model: kempe.Model) -> list[float]:
    """Frequencies in Hz, ascending, with all coordinates but the modal ones held."""
    names = {f"{body.name}/mode{i + 1}" for body in model.mechanism.flexible_bodies
             for i in range(len(body.frequencies))}
    modal = [i for i, name in enumerate(model.v_names) if name in names]
    try:
        q = model.static_deflection(model.neutral())
    except RuntimeError as error:
        raise Failed(str(error)) from error
    stiffness = model.gravity_forces_derivatives(q)[np.ix_(modal, modal)]
    mass = model.mass_matrix(q)[np.ix_(modal, modal)]
    squares = np.sort(np.linalg.eigvals(np.linalg.solve(mass, stiffness)).real)
    return [float(f) for f in np.sqrt(np.maximum(squares, 0.0)) / (2 * np.pi)]


def described(model: kempe.Model) -> dict[str, Any]:
    return {
        "robot": model.name,
        "flexible_bodies": [{"name": body.name, "frequencies": list(map(float, body.frequencies))}
                            for body in model.mechanism.flexible_bodies],
        "frequencies": of_the_robot(model),
    }


def run(arguments: argparse.Namespace) -> None:
    model = load_robot(arguments)
    if not model.mechanism.flexible_bodies:
        raise BadInput(f'robot "{model.name}" has no flexible bodies. Add <flexible> to a link.')
    report = described(model)
    if arguments.json:
        print_json(report)
        return
    table = Table("mode", *(body["name"] for body in report["flexible_bodies"]), "robot",
                  title=f"{model.name}: natural frequencies, Hz")
    columns = [body["frequencies"] for body in report["flexible_bodies"]] + [report["frequencies"]]
    for i in range(max(map(len, columns))):
        table.add_row(str(i + 1), *(f"{column[i]:.4g}" if i < len(column) else ""
                                    for column in columns))
    console().print(table)
    print_warnings(model)
