"""Natural modes of flexible bodies, alone and in the robot."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kempe._kempe import FlexibleBody, Model

Array = NDArray[Any]


@dataclasses.dataclass(frozen=True)
class RobotMode:
    """A natural mode of the whole robot whose joints are held."""

    frequency: float  # Hz
    direction: Array  # (nv,), with modal mass 1


@dataclasses.dataclass(frozen=True)
class BodyMode:
    """A mode of a body alone, whose frame is held."""

    name: str  # of its modal coordinate
    frequency: float  # Hz
    kind: str  # "axial", "torsion", "bending along z", "mixed"; empty for bodies not straight
    moves_most: str  # node


def modal_names(body: FlexibleBody) -> list[str]:
    """Names of the modal coordinates, in q and in v."""
    return [f"{body.name}/mode{i + 1}" for i in range(len(body.frequencies))]


def robot_modes(model: Model) -> tuple[Array, list[RobotMode]]:
    """The configuration in which the robot sags under gravity, from its neutral one, and the modes
    about it by ascending frequencies, with all independent coordinates but the modal ones held.

    Raises RuntimeError where there is no stable equilibrium.
    """
    q = model.static_deflection(model.neutral())
    names = {name for body in model.mechanism.flexible_bodies for name in modal_names(body)}
    modal = [i for i, name in enumerate(model.v_names) if name in names]
    stiffness = model.gravity_forces_derivatives(q)[np.ix_(modal, modal)]
    # K φ = λ M φ with M = L Lᵀ: L⁻¹ K L⁻ᵀ is symmetric and has the same λ.
    lower = np.linalg.cholesky(model.mass_matrix(q)[np.ix_(modal, modal)])
    reduced = np.linalg.solve(lower, np.linalg.solve(lower, stiffness).T)
    squares, vectors = np.linalg.eigh(0.5 * (reduced + reduced.T))
    if squares[0] < -1e-9 * squares[-1]:
        raise RuntimeError(
            f'robot "{model.name}" is unstable where it sags under gravity: a deflection grows '
            f"e-fold in {1 / np.sqrt(-squares[0]):.3g} s. Make its bodies stiffer.")
    directions = np.zeros((len(modal), model.nv))
    directions[:, modal] = np.linalg.solve(lower.T, vectors).T
    frequencies = np.sqrt(np.maximum(squares, 0.0)) / (2 * np.pi)
    return q, [RobotMode(float(frequency), direction)
               for frequency, direction in zip(frequencies, directions, strict=True)]


def body_modes(body: FlexibleBody) -> list[BodyMode]:
    """The modes of a body by ascending frequencies."""
    modes = []
    for name, frequency, shape in zip(modal_names(body), body.frequencies, body.shapes,
                                      strict=True):
        kind = kind_of(shape, body.positions)
        part = shape[:, 3:] if kind == "torsion" else shape[:, :3]
        most = body.nodes[int(np.argmax(np.linalg.norm(part, axis=1)))]
        modes.append(BodyMode(name, float(frequency), kind, most))
    return modes


def kind_of(shape: Array, positions: Array) -> str:
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


def direction(vector: Array) -> str:
    """An axis, "z", or components, "(0, 0.6, 0.8)"."""
    unit = vector / np.linalg.norm(vector)
    along = int(np.argmax(np.abs(unit)))
    if np.abs(unit[along]) > 1 - 1e-6:
        return "xyz"[along]
    return "(" + ", ".join(f"{x + 0.0:.3g}" for x in unit * np.sign(unit[along])) + ")"
