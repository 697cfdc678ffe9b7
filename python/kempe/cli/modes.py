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
Lists the modes of flexible bodies: for each body alone, with its frame held, the natural
frequencies, the kind of the mode if the body is straight (axial, torsion or bending, and along
which axis of the body) and the node that moves most; and the natural frequencies of the whole robot
at its neutral configuration under gravity, with the joints held."""
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
    if squares[0] < -1e-9 * squares[-1]:
        raise Failed(f'robot "{model.name}" is unstable where it sags under gravity: a deflection '
                     f"grows e-fold in {1 / np.sqrt(-squares[0]):.3g} s. Make its bodies stiffer.")
    return [float(f) for f in np.sqrt(np.maximum(squares, 0.0)) / (2 * np.pi)]


def direction(vector: np.ndarray) -> str:
    """An axis, "z", or components, "(0, 0.6, 0.8)"."""
    unit = vector / np.linalg.norm(vector)
    along = int(np.argmax(np.abs(unit)))
    if np.abs(unit[along]) > 1 - 1e-6:
        return "xyz"[along]
    return "(" + ", ".join(f"{x + 0.0:.3g}" for x in unit * np.sign(unit[along])) + ")"


def kind_of(shape: np.ndarray, positions: np.ndarray) -> str:
    """What a mode does to a body whose nodes lie on a line; empty for others."""
    ends = positions - positions[0]
    length = np.linalg.norm(ends, axis=1).max()
    if length == 0.0:
        return ""
    axis = ends[np.argmax(np.linalg.norm(ends, axis=1))] / length
    if np.abs(ends - np.outer(ends @ axis, axis)).max() > 1e-6 * length:
        return ""
    moves, turns = shape[:, :3], shape[:, 3:]
    axial = np.abs(moves @ axis).max()
    across = moves - np.outer(moves @ axis, axis)
    twist = np.abs(turns @ axis).max() * length
    kinds = {"axial": axial, "bending": np.linalg.norm(across, axis=1).max(), "torsion": twist}
    kind = max(kinds, key=lambda name: kinds[name])
    if sum(kinds.values()) > 1.01 * kinds[kind]:
        return "mixed"
    if kind != "bending":
        return kind
    return "bending along " + direction(across[np.argmax(np.linalg.norm(across, axis=1))])


def modes_of(body: kempe.FlexibleBody) -> list[dict[str, Any]]:
    modes = []
    for frequency, shape in zip(body.frequencies, body.shapes, strict=True):
        kind = kind_of(shape, body.positions)
        part = shape[:, 3:] if kind == "torsion" else shape[:, :3]
        modes.append({"frequency": float(frequency), "kind": kind,
                      "moves_most": body.nodes[int(np.argmax(np.linalg.norm(part, axis=1)))]})
    return modes


def described(model: kempe.Model) -> dict[str, Any]:
    return {
        "robot": model.name,
        "flexible_bodies": [{"name": body.name, "frequencies": list(map(float, body.frequencies)),
                             "modes": modes_of(body)}
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
    for body in report["flexible_bodies"]:
        table = Table("mode", "Hz", "kind", "moves most", title=f"{body['name']}: modes")
        for i, mode in enumerate(body["modes"]):
            table.add_row(str(i + 1), f"{mode['frequency']:.4g}", mode["kind"], mode["moves_most"])
        console().print(table)
    console().print(f"{model.name}: natural frequencies with the joints held, Hz: "
                    + ", ".join(f"{frequency:.4g}" for frequency in report["frequencies"]),
                    highlight=False, soft_wrap=True)
    print_warnings(model)
