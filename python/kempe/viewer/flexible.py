"""Flexible bodies in numbers: where their nodes are drawn, their strain energy, their modes."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from kempe import modes
from kempe.errors import AssemblyError, SingularityError
from kempe.viewer.rotations import Array

if TYPE_CHECKING:
    from kempe import FlexibleBody, Model

VISIBLE = 0.1  # largest displacement of a mode that is animated, over the length of its body
LARGEST_TURN = 1.0  # rad, of a node
UNIT = "J/kg"  # of strain energy over mass


class ElasticBody:
    """One flexible body: its modal coordinates in q, and its strain energy."""

    def __init__(self, model: Model, body: FlexibleBody) -> None:
        self.body = body
        self.name: str = body.name
        self.nodes = [f"{body.name}/{node}" for node in body.nodes]  # frames
        self.parts = {*modes.modal_names(body), *self.nodes}  # bodies that the model adds
        self.in_q = [model.q_names.index(name) for name in modes.modal_names(body)]
        self.positions = body.positions
        self._shapes = body.shapes
        # The diagonal of the box around the nodes; a single node moves as far as a body of 1 m.
        self.length = float(np.linalg.norm(np.ptp(self.positions, axis=0))) or 1.0
        self.element_stiffness, self.element_masses = body.element_stiffness, body.element_masses
        # Amplitudes at which one mode alone is well seen.
        self.visible = [smallest([self.amplitude(eta)]) for eta in np.eye(len(self.in_q))]
        if not len(self.element_stiffness):  # the body as a whole
            self.element_stiffness = np.diag(body.stiffness)[None]
            self.element_masses = np.array([body.mass])

    def energy_densities(self, q: Array) -> Array:
        """Strain energy of each element over its mass, J/kg; of one configuration or of many.
        Bodies without known elements are one."""
        eta = np.asarray(q)[..., self.in_q]
        energies = 0.5 * np.einsum("...i,eij,...j->...e", eta, self.element_stiffness, eta)
        return np.asarray(np.maximum(energies, 0.0) / self.element_masses)  # no −0 of rounding

    def amplitude(self, eta: Array) -> float:
        """The factor by which these modal coordinates displace the node that moves most by a
        visible part of the length, and turn none by more than LARGEST_TURN; infinite for zeros."""
        motion = np.einsum("i,ink->nk", eta, self._shapes)
        moved = np.linalg.norm(motion[:, :3], axis=1).max()
        turned = np.linalg.norm(motion[:, 3:], axis=1).max()
        with np.errstate(divide="ignore"):
            return float(min(VISIBLE * self.length / moved, LARGEST_TURN / turned))


def smallest(amplitudes: Iterable[float]) -> float:
    """Of those that are finite; 1 where no node moves, so that nothing is seen."""
    return min((one for one in amplitudes if np.isfinite(one)), default=1.0)


class ElasticBodies:
    """The flexible bodies of a robot, drawn with their deformation scaled."""

    def __init__(self, model: Model) -> None:
        self.bodies = [ElasticBody(model, body) for body in model.mechanism.flexible_bodies]
        self.parts = {part for elastic in self.bodies for part in elastic.parts}
        self._in_q = [i for elastic in self.bodies for i in elastic.in_q]

    def scaled(self, q: Array, scale: float, base: Array | None = None) -> Array:
        """Configurations with the deformations multiplied, those of `base` where that is given: a
        vibration about it keeps its amplitude.

        Scaled deformations do not close loops; joints stay at their positions.
        """
        if scale == 1.0 or not self._in_q:
            return np.asarray(q)
        drawn = np.array(q, dtype=float)
        held = drawn if base is None else np.asarray(base)
        drawn[..., self._in_q] += (scale - 1.0) * held[..., self._in_q]
        return drawn

    def energy_densities(self, q: Array) -> list[Array]:
        return [elastic.energy_densities(q) for elastic in self.bodies]

    def largest_density(self, q: Array) -> float:
        """Over all elements, and over all configurations if there are many."""
        return max((float(found.max()) for found in self.energy_densities(q)), default=0.0)


def checked_scale(scale: float) -> float:
    scale = float(scale)
    if not 0 <= scale < np.inf:
        raise ValueError(f"deformation_scale: must be zero or more, got {scale:g}")
    return scale


@dataclasses.dataclass(frozen=True)
class BodyVibration:
    """A mode of a body alone, with its frame held, to animate. What hangs on the body follows it;
    loops do not."""

    name: str  # "rod/mode1"
    frequency: float  # Hz
    kind: str
    deflection: Array  # (nq,), of a visible amplitude

    @property
    def label(self) -> str:
        return ", ".join(filter(None, (f"{self.name}: {self.frequency:.4g} Hz", self.kind)))

    def base(self, q: Array) -> Array:
        """The configuration about which the body vibrates where q is shown."""
        return q

    def at(self, base: Array, phase: float) -> Array:
        """The configuration at a phase from −1 to 1 of the vibration."""
        return np.asarray(base + phase * self.deflection)


@dataclasses.dataclass(frozen=True)
class RobotVibration:
    """A mode of the whole robot, with its joints held and its loops closed, to animate."""

    model: Model
    name: str  # "1"
    frequency: float  # Hz
    direction: Array  # (nv,), of a visible amplitude
    about: Array  # the configuration in which the robot sags

    @property
    def label(self) -> str:
        return f"robot, mode {self.name}: {self.frequency:.4g} Hz"

    def base(self, q: Array) -> Array:
        return self.about

    def at(self, base: Array, phase: float) -> Array:
        moved = self.model.integrate(base, phase * self.direction, 1.0)
        return np.asarray(self.model.project(moved) if self.model.cut_loops else moved)

    def within_loops(self) -> RobotVibration:
        """With an amplitude that is halved until the loops close at both ends of the motion."""
        smaller = self
        for _ in range(20):
            try:
                for phase in (-1.0, 1.0):
                    smaller.at(self.about, phase)
                return smaller
            except (AssemblyError, SingularityError):
                smaller = dataclasses.replace(smaller, direction=smaller.direction / 2)
        return dataclasses.replace(self, direction=np.zeros_like(self.direction))


Vibration: TypeAlias = BodyVibration | RobotVibration


def vibrations(model: Model) -> tuple[list[Vibration], str]:
    """The modes of the robot with its joints held, and those of each body with its frame held; and
    why there are none of the robot, if so."""
    bodies = ElasticBodies(model).bodies
    found: list[Vibration] = []
    problem = ""
    try:
        q, of_robot = modes.robot_modes(model)
        G = model.constraint_jacobian(q)
    except RuntimeError as error:  # no stable equilibrium, or a dead point
        problem, of_robot = str(error), []
    rows = {name: i for i, name in enumerate(model.spanning_velocity_names)}
    for number, mode in enumerate(of_robot, 1):
        moved = G @ mode.direction
        factor = smallest(elastic.amplitude(
            moved[[rows[name] for name in modes.modal_names(elastic.body)]]) for elastic in bodies)
        found.append(RobotVibration(model, str(number), mode.frequency, factor * mode.direction,
                                    q).within_loops())
    for elastic in bodies:
        for i, mode_of_body in enumerate(modes.body_modes(elastic.body)):
            deflection = np.zeros(model.nq)
            deflection[elastic.in_q[i]] = elastic.visible[i]
            found.append(BodyVibration(
                mode_of_body.name, mode_of_body.frequency, mode_of_body.kind, deflection))
    return found, problem


def find_vibration(found: list[Vibration], name: str) -> Vibration:
    """Raises ValueError, which lists the names, if there is none."""
    for vibration in found:
        if vibration.name == name:
            return vibration
    if not found:
        raise ValueError(f'mode "{name}": the robot has no flexible bodies')
    names = ", ".join(vibration.name for vibration in found)
    raise ValueError(f'mode "{name}" does not exist; choose from: {names}')
