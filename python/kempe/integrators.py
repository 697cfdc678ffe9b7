"""Steps of time integration on the positions that a robot's loops and quaternions allow.

A position q near q0 is named by y, nv numbers: q = integrate(q0, y, 1), which moves every joint
along a constant velocity and closes the loops. For joints whose positions are plain numbers ẏ = v.
A spherical or free joint turns as it moves; there y is the exponential coordinate of its motion,
and ẏ is the inverse of the exponential's differential times the joint's velocity. A Runge-Kutta
step in y then has its full order (Munthe-Kaas 1999).
"""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kempe._kempe import Model

Vector = NDArray[np.floating[Any]]
Triple = tuple[float, float, float]


class Rates(NamedTuple):
    """What a state changes with, and what made it change."""

    a: Vector
    tau: Vector
    power: float  # of tau and of external forces


class State(NamedTuple):
    q: Vector
    v: Vector
    work: float


Evaluate = Callable[[float, Vector, Vector], Rates]


# --- motion of joints with quaternions -----------------------------------------------------------

def cross(a: Sequence[float], b: Sequence[float]) -> Triple:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def bracket(x: Sequence[float], y: Sequence[float]) -> list[float]:
    """ad_x y: of angular velocities, or of velocities [linear; angular]."""
    if len(x) == 3:
        return list(cross(x, y))
    along, about = cross(x[3:], y[:3]), cross(x[:3], y[3:])
    return [along[0] + about[0], along[1] + about[1], along[2] + about[2], *cross(x[3:], y[3:])]


def coordinate_rates(step: Sequence[float], velocity: Sequence[float]) -> list[float]:
    """ẏ at y = step, from the velocity in the moved body's frame: the inverse of the right
    Jacobian Σ (−ad)ᵏ/(k+1)!. Terms to ad² keep order four, as y is of the order of a step
    (Hairer, Lubich, Wanner, Geometric Numerical Integration, theorem IV.8.4)."""
    once = bracket(step, velocity)
    twice = bracket(step, once)
    return [u + b / 2 + c / 12 for u, b, c in zip(velocity, once, twice, strict=True)]


def rotation_between(a: Sequence[float], b: Sequence[float]) -> Triple:
    """The rotation vector of a⁻¹ b, unit quaternions (x, y, z, w)."""
    turn = cross(a, b)
    x, y, z = (a[3] * b[i] - b[3] * a[i] - turn[i] for i in range(3))
    w = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
    sine = (x * x + y * y + z * z) ** 0.5
    if sine == 0.0:
        return (0.0, 0.0, 0.0)
    scale = 2.0 * float(np.arctan2(sine, abs(w))) / (sine if w >= 0 else -sine)
    return (scale * x, scale * y, scale * z)


def turned_back(quaternion: Sequence[float], vector: Sequence[float]) -> Triple:
    """Rᵀ vector."""
    x, y, z, w = quaternion
    u = (-x, -y, -z)
    s = cross(u, vector)
    s = (s[0] + w * vector[0], s[1] + w * vector[1], s[2] + w * vector[2])
    t = cross(u, s)
    return (vector[0] + 2 * t[0], vector[1] + 2 * t[1], vector[2] + 2 * t[2])


def step_between(start: Sequence[float], end: Sequence[float]) -> list[float]:
    """The exponential coordinates that lead from one position to another, to fourth order."""
    if len(start) == 4:
        return list(rotation_between(start, end))
    turn = rotation_between(start[3:], end[3:])
    shift = turned_back(start[3:], [end[i] - start[i] for i in range(3)])
    once = cross(turn, shift)
    twice = cross(turn, once)
    return [s - b / 2 + c / 12 for s, b, c in zip(shift, once, twice, strict=True)] + list(turn)


# --- the chart -----------------------------------------------------------------------------------

@dataclasses.dataclass(frozen=True)
class TurningJoint:
    """A spherical or free joint with independent velocities."""

    v: list[int]  # those velocities in v
    component: list[int]  # which of the joint's velocities they are
    positions: slice  # of the joint, in the spanning position
    velocities: slice  # in the spanning velocity


class Chart:
    """Rates ẏ of the coordinates y around a position."""

    def __init__(self, model: Model) -> None:
        self._model = model
        place = {name: index for index, name in enumerate(model.v_names)}
        self._whole: list[slice] = []  # joints all of whose velocities are independent
        self._partly: list[TurningJoint] = []  # of others, loops determine the rest
        types = {joint.name: joint.type for joint in model.mechanism.joints}
        for name in model.joint_names:
            if types[name] not in ("spherical", "free"):
                continue
            size = 3 if types[name] == "spherical" else 6
            first = model.joint_velocity_index(name)
            names = model.spanning_velocity_names[first:first + size]
            component = [i for i, one in enumerate(names) if one in place]
            if len(component) == size:
                self._whole.append(slice(place[names[0]], place[names[0]] + size))
            elif component:
                start = model.joint_position_index(name)
                self._partly.append(TurningJoint(
                    [place[names[i]] for i in component], component,
                    slice(start, start + size + 1), slice(first, first + size)))

    def rates(self, q0: Vector, y: Vector, q: Vector, v: Vector) -> Vector:
        """ẏ at q = integrate(q0, y, 1) with velocity v."""
        if not self._whole and not self._partly:
            return v
        result = v.copy()
        for part in self._whole:
            result[part] = coordinate_rates(y[part].tolist(), v[part].tolist())
        if self._partly:
            start = self._model.spanning_positions(q0)
            positions, velocities = self._model.spanning(q, v)
            for joint in self._partly:
                step = step_between(
                    start[joint.positions].tolist(), positions[joint.positions].tolist())
                rates = coordinate_rates(step, velocities[joint.velocities].tolist())
                result[joint.v] = [rates[i] for i in joint.component]
        return result


# --- steps ---------------------------------------------------------------------------------------

class Integrator(abc.ABC):
    """Advances a state step by step."""

    def __init__(self, model: Model, evaluate: Evaluate) -> None:
        self._model = model
        self._evaluate = evaluate

    @abc.abstractmethod
    def step(self, t: float, dt: float, state: State, first: Rates) -> State:
        """The state at t + dt, from that at t and the rates there."""


class SemiImplicitEuler(Integrator):
    """v first, then q with the new v. First order; energies of swinging robots stay bounded."""

    def step(self, t: float, dt: float, state: State, first: Rates) -> State:
        v = state.v + dt * first.a
        q = self._model.integrate(state.q, v, dt)
        # tau is constant over the step, v is not.
        power = first.power + 0.5 * float(first.tau @ (v - state.v))
        return State(q, v, state.work + dt * power)


class RungeKutta4(Integrator):
    """The classical method of order four."""

    def __init__(self, model: Model, evaluate: Evaluate) -> None:
        super().__init__(model, evaluate)
        self._chart = Chart(model)

    def step(self, t: float, dt: float, state: State, first: Rates) -> State:
        q0, v0, work = state
        rates, slope = first, v0  # slope: ẏ
        slopes, accelerations, power = slope / 6, first.a / 6, first.power / 6
        for part, weight in ((0.5, 1 / 3), (0.5, 1 / 3), (1.0, 1 / 6)):
            y = (part * dt) * slope
            q = self._model.integrate(q0, y, 1.0)
            v = v0 + (part * dt) * rates.a
            rates = self._evaluate(t + part * dt, q, v)
            slope = self._chart.rates(q0, y, q, v)
            slopes = slopes + weight * slope
            accelerations = accelerations + weight * rates.a
            power += weight * rates.power
        q = self._model.integrate(q0, slopes, dt)
        return State(q, v0 + dt * accelerations, work + dt * power)


INTEGRATORS: dict[str, type[Integrator]] = {
    "rk4": RungeKutta4,
    "semi_implicit_euler": SemiImplicitEuler,
}
