"""A configuration that is changed one coordinate at a time while its loops stay closed."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from kempe._kempe import Constraints
from kempe.errors import AssemblyError, SingularityError
from kempe.modes import modal_names
from kempe.viewer.flexible import ElasticBodies
from kempe.viewer.rotations import Array, angles_of_quaternion, matrix_of_angles, quaternions

if TYPE_CHECKING:
    from kempe import Joint, Model

MODAL: Literal["√kg m"] = "√kg m"  # modal coordinates, whose modal mass is 1
Unit: TypeAlias = Literal["rad", "m", "√kg m"]
LONGEST_STEP: dict[Unit, float] = {"rad": 0.05, "m": 0.01, MODAL: 0.01}
SHORTEST_STEP: dict[Unit, float] = {"rad": 1e-4, "m": 1e-5, MODAL: 1e-6}
ANGLES = ("roll", "pitch", "yaw")
SLACK = 1e-9  # tolerance on joint limits


class LimitReached(Exception):
    """A joint would exceed its limits: the one that is moved, or a dependent one."""


@dataclasses.dataclass(frozen=True)
class Control:
    """A number that the user can set."""

    label: str
    joint: str
    unit: Unit
    lower: float
    upper: float


@dataclasses.dataclass(frozen=True)
class Coordinate(Control):
    """An independent position that is a plain number in q."""

    in_q: int
    in_v: int | None  # index of the velocity that moves only this position, if there is one


@dataclasses.dataclass(frozen=True)
class Angle(Control):
    """Roll, pitch or yaw of a quaternion in q."""

    quaternion: int  # index of (x, y, z, w) in q
    which: int


@dataclasses.dataclass(frozen=True)
class Turn(Control):
    """An independent velocity without a position of its own, such as a component of a ball joint
    whose other components are dependent: the distance moved along it."""

    in_v: int


class Posture:
    """The configuration `q`, and controls for each of its degrees of freedom."""

    def __init__(self, model: Model, size: float) -> None:
        """`size` of the robot is the range of sliding joints without limits."""
        self.model = model
        # Of modal coordinates: as far as an animated mode deflects.
        self._visible = {
            name: amplitude for elastic in ElasticBodies(model).bodies
            for name, amplitude in zip(modal_names(elastic.body), elastic.visible, strict=True)}
        self.size = size
        self.lower, self.upper = model.position_limits
        self.controls = self._find_controls()
        self.set(model.neutral())

    def set(self, q: Array) -> None:
        """Takes over a closed configuration."""
        self.q = np.array(q, dtype=float)
        self._turned = {control: 0.0 for control in self.controls if isinstance(control, Turn)}
        # Stored in addition to q: near pitch = ±π/2 a quaternion does not determine the angles.
        self._angles = {
            control.quaternion: self._read_angles(control.quaternion)
            for control in self.controls if isinstance(control, Angle)}

    def value(self, control: Control) -> float:
        match control:
            case Coordinate():
                return float(self.q[control.in_q])
            case Angle():
                return self._angles[control.quaternion][control.which]
            case Turn():
                return self._turned[control]
        raise TypeError(f"unknown kind of control: {control!r}")

    def move(self, control: Control, target: float) -> str | None:
        """Moves a control to a value, or as near as loops and limits allow.

        Returns the obstacle, or None.
        """
        step = LONGEST_STEP[control.unit]
        while (here := self.value(control)) != target:
            near = abs(target - here) <= step
            there = target if near else here + float(np.copysign(step, target - here))
            try:
                self._step(control, there)
            except (AssemblyError, SingularityError, LimitReached) as obstacle:
                step = abs(there - here) / 2
                if step < SHORTEST_STEP[control.unit]:
                    return str(obstacle)
        return None

    def loop_error(self) -> float:
        return float(np.abs(self.model.loop_residual(self.q)).max(initial=0.0))

    def _step(self, control: Control, value: float) -> None:
        q = self._moved(control, value)
        self._check_limits(q)
        self.q = q
        if isinstance(control, Angle):
            self._angles[control.quaternion] = self._with_angle(control, value)
        elif isinstance(control, Turn):
            self._turned[control] = value

    def _check_limits(self, q: Array) -> None:
        """A joint outside its limits may move back, but not further out."""
        before = self._beyond_limits(self.model.spanning_positions(self.q))
        after = self._beyond_limits(self.model.spanning_positions(q))
        further = np.flatnonzero(after > before + SLACK)
        if len(further):
            i = further[0]
            raise LimitReached(f'joint "{self.model.spanning_position_names[i]}" is at its limit '
                               f"({self.lower[i]:.4g} to {self.upper[i]:.4g}).")

    def _beyond_limits(self, positions: Array) -> Array:
        excess = np.maximum(self.lower - positions, positions - self.upper)
        return np.asarray(np.maximum(excess, 0.0))

    def _moved(self, control: Control, value: float) -> Array:
        """The configuration near this one in which a control has a given value."""
        q = self.q.copy()
        if isinstance(control, Turn):
            moved = self._integrated(control.in_v, value - self.value(control))
            return np.asarray(self.model.project(moved)) if self.model.cut_loops else moved
        if isinstance(control, Angle):
            w, x, y, z = quaternions(matrix_of_angles(*self._with_angle(control, value)))
            q[control.quaternion:control.quaternion + 4] = x, y, z, w
        elif isinstance(control, Coordinate):
            if control.in_v is not None:
                # Where velocities are not defined, positions beyond may be.
                with contextlib.suppress(SingularityError):
                    q = self._integrated(control.in_v, value - self.value(control))
            q[control.in_q] = value
        if not self.model.cut_loops:
            return np.asarray(self.model.project(q))
        q = self.model.project_positions(q, self._holding(control, q))
        if isinstance(control, Coordinate):
            q[control.in_q] = value  # removes rounding errors
        return np.asarray(q)

    def _holding(self, control: Control, q: Array) -> Constraints:
        """Constraints that hold a control at its value in q while cut loops are closed."""
        model = self.model
        constraints = Constraints(model)
        if isinstance(control, Coordinate) and control.in_v is not None:
            first = model.spanning_position_names.index(model.q_names[control.in_q])
            component = first - model.joint_position_index(control.joint)
            constraints.couple("held", {(control.joint, component): 1.0}, offset=q[control.in_q])
        else:
            constraints.lock("held", control.joint, q)
        return constraints

    def _integrated(self, in_v: int, amount: float) -> Array:
        direction = np.zeros(self.model.nv)
        direction[in_v] = amount
        return np.array(self.model.integrate(self.q, direction, 1.0))

    def _with_angle(self, control: Angle, value: float) -> tuple[float, float, float]:
        roll, pitch, yaw = (value if i == control.which else angle
                            for i, angle in enumerate(self._angles[control.quaternion]))
        return roll, pitch, yaw

    def _read_angles(self, start: int) -> tuple[float, float, float]:
        x, y, z, w = self.q[start:start + 4]
        return angles_of_quaternion(w, x, y, z)

    def _find_controls(self) -> list[Control]:
        joints = {joint.name: joint for joint in self.model.mechanism.joints}
        return [control for name in self.model.joint_names
                for control in self._controls_of(joints[name])]

    def _controls_of(self, joint: Joint) -> list[Control]:
        model = self.model
        first_q, first_v = (model.joint_position_index(joint.name),
                            model.joint_velocity_index(joint.name))
        nq, nv = coordinate_counts(joint.type)
        velocities = model.spanning_velocity_names[first_v:first_v + nv]
        positions = model.spanning_position_names[first_q:first_q + nq]
        if joint.type in {"free", "spherical"}:
            if all(name in model.v_names for name in velocities):
                return self._free_controls(joint, positions)
            return [Turn(name, joint.name, "rad" if ".w" in name else "m", -np.pi, np.pi,
                         model.v_names.index(name))
                    for name in velocities if name in model.v_names]
        controls: list[Control] = []
        for component, name in enumerate(velocities):
            if name not in model.v_names:
                continue
            in_v = model.v_names.index(name)
            unit = unit_of(joint.type, component)
            lower, upper = self.lower[first_q + component], self.upper[first_q + component]
            reach = (self._visible[name] if unit == MODAL
                     else self._reach(unit, in_v, first_v + component))
            controls.append(Coordinate(
                name, joint.name, unit, lower if np.isfinite(lower) else -reach,
                upper if np.isfinite(upper) else reach, model.q_names.index(positions[component]),
                in_v))
        return controls

    def _free_controls(self, joint: Joint, positions: list[str]) -> list[Control]:
        """x, y, z and angles instead of velocities, which are expressed in the body's frame."""
        start = self.model.q_names.index(positions[0])
        slides = [
            Coordinate(name, joint.name, "m", -self.size, self.size, start + i, None)
            for i, name in enumerate(positions[:-4])]
        turns = [
            Angle(f"{joint.name}.{angle}", joint.name, "rad", -np.pi, np.pi, start + len(slides), i)
            for i, angle in enumerate(ANGLES)]
        return [*slides, *turns]

    def _reach(self, unit: Unit, in_v: int, in_spanning: int) -> float:
        """Range of a coordinate without limits: a full turn, for a rotor of its driven joint."""
        if unit == "m":
            return self.size
        try:
            G = self.model.constraint_jacobian(self.model.neutral())
        except SingularityError:
            return np.pi
        others = np.abs(np.delete(G[:, in_v], in_spanning))
        fastest = others.max(initial=0.0)
        return float(np.pi / fastest) if 1e-3 < fastest < 1 else np.pi


def coordinate_counts(joint_type: str) -> tuple[int, int]:
    """Number of positions and of velocities."""
    counts = {"fixed": (0, 0), "cylindrical": (2, 2), "universal": (2, 2), "planar": (3, 3),
              "spherical": (4, 3), "free": (7, 6), "node": (0, 0)}
    return counts.get(joint_type, (1, 1))


def unit_of(joint_type: str, component: int) -> Unit:
    if joint_type == "mode":
        return MODAL
    slides = {("prismatic", 0), ("cylindrical", 1), ("planar", 0), ("planar", 1)}
    return "m" if (joint_type, component) in slides else "rad"
