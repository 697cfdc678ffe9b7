"""Conditioning of loops, and dead points.

Where the dependent columns K_d of a cluster's constraint Jacobian K are singular, the independent
coordinates do not determine the others: a dead point. The condition number of K_d tells how near
one is.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kempe
from kempe.cli.coordinates import FREEDOMS, SLIDES

Array = NDArray[np.floating[Any]]

STEP = 1e-5  # of finite differences for K: radians, or sizes of the robot
SCALED = 16  # random configurations that determine typical lengths of rows
NOTHING = 1e-6  # relative length of a row of K that is zero up to rounding
STEPS = 180  # of a sweep to one side
SINGULAR = 1e-5  # smallest over largest singular value of K_d; less is a dead point
SUSPECT = 0.1  # smaller ratios are examined closely
BISECTIONS = 50
HALF_TURN = math.pi

CANNOT_MOVE = (kempe.AssemblyError, kempe.SingularityError)


class OutOfTime(Exception):
    """A sweep was not finished."""


class Clock:
    """A limit on the total time of all sweeps."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def check(self) -> None:
        if time.monotonic() >= self._end:
            raise OutOfTime


@dataclasses.dataclass(frozen=True)
class Sweep:
    """Range of a coordinate from neutral to one side, with the others held."""

    coordinate: str
    start: float
    end: float
    loops: list[str]
    dead_point: bool  # at `end`; otherwise a limit, or the end of the sweep


class ClusterLoops:
    """The constraint Jacobian of a cluster whose loops are implicit."""

    def __init__(self, model: kempe.Model, cluster: kempe.Cluster, size: float) -> None:
        """`size` is that of the robot, the unit of lengths."""
        self._model = model
        self.cluster = cluster
        units: list[float] = []
        self._rows = [row for row, name in enumerate(model.loop_row_names) if name in cluster.loops]
        self._moves: list[Callable[[Array, float], None]] = []  # of one velocity each
        self._dependent: list[int] = []  # which of them
        types = {joint.name: joint.type for joint in model.mechanism.joints}
        # Nodes move with the modes of their flexible body.
        self.joints = [joint for joint in cluster.joints if types[joint] != "node"]
        for joint in self.joints:
            first = model.joint_velocity_index(joint)
            start = model.q_names.index(
                model.spanning_position_names[model.joint_position_index(joint)])
            for component in range(FREEDOMS.get(types[joint], 1)):
                if model.spanning_velocity_names[first + component] not in cluster.independent:
                    self._dependent.append(len(self._moves))
                self._moves.append(mover(types[joint], start, component))
                units.append(size if component in SLIDES.get(types[joint], ()) else 1.0)
        self._units = np.array(units)
        self._lengths = np.ones((1, 1))
        if not self._dependent:
            return  # see ratios()

        # Rows have different units. Their scale must not depend on the position, as a row may
        # vanish at a dead point.
        typical = self._jacobians(model.random_configuration(0, SCALED)) * self._units
        lengths = np.linalg.norm(typical, axis=2)
        self._lengths = np.maximum(lengths.max(axis=0), NOTHING * lengths.max())[:, None]

    def _jacobians(self, q: Array) -> Array:
        """K at N positions, by central differences, each row divided by a typical length."""
        columns = len(self._moves)
        moved = np.repeat(q[:, None, :], 2 * columns, axis=1)
        for column, move in enumerate(self._moves):
            move(moved[:, 2 * column], STEP * self._units[column])
            move(moved[:, 2 * column + 1], -STEP * self._units[column])
        residual = self._model.loop_residual(moved.reshape(-1, q.shape[1]))
        rows = residual.reshape(len(q), columns, 2, -1)[..., self._rows]
        K = (rows[:, :, 0] - rows[:, :, 1]).transpose(0, 2, 1) / (2 * STEP * self._units)
        return np.asarray(K / self._lengths)

    def ratios(self, q: Array) -> Array:
        """The smallest singular value of K_d over the largest of K, at N positions. Where the
        loops restrict nothing, as a planar loop over joints in its plane, all coordinates are
        independent, and the ratio is 1."""
        if not self._dependent:
            return np.ones(len(q))
        K = self._jacobians(q) * self._units
        largest = np.linalg.svd(K, compute_uv=False)[:, 0]
        dependent = np.linalg.svd(K[:, :, self._dependent], compute_uv=False)
        return np.asarray(dependent[:, len(self._dependent) - 1] / largest)

    def conditions(self, q: Array) -> Array:
        """Condition numbers: the inverse of ratios()."""
        return np.asarray(1 / np.maximum(self.ratios(q), np.finfo(float).tiny))


def mover(kind: str, start: int, component: int) -> Callable[[Array, float], None]:
    """A function that moves many q along one velocity of a joint, whose position begins at
    `start`."""
    if kind == "spherical":
        return lambda q, by: turn(q[:, start:start + 4], component, by)
    if kind == "free" and component >= 3:
        return lambda q, by: turn(q[:, start + 3:start + 7], component - 3, by)
    if kind == "free":
        return lambda q, by: slide(q[:, start:start + 7], component, by)

    def add(q: Array, by: float) -> None:
        q[:, start + component] += by
    return add


def turn(quaternions: Array, axis: int, by: float) -> None:
    """Turns about an axis of the body, by a small angle."""
    x, y, z, w = quaternions.T.copy()
    rates = ((w, z, -y, -x), (-z, w, x, -y), (y, -x, w, -z))[axis]
    quaternions += 0.5 * by * np.column_stack(rates)
    quaternions /= np.linalg.norm(quaternions, axis=1, keepdims=True)


def slide(positions: Array, axis: int, by: float) -> None:
    """Moves along an axis of the body."""
    u, w = positions[:, 3:6], positions[:, 6:7]
    once = np.cross(u, np.eye(3)[axis])
    positions[:, :3] += by * (np.eye(3)[axis] + 2 * (w * once + np.cross(u, once)))


class Sweeper:
    """Moves one coordinate of a cluster from neutral, with closed loops."""

    def __init__(self, model: kempe.Model, loops: ClusterLoops, coordinate: str,
                 clock: Clock) -> None:
        self._model, self._loops, self._coordinate = model, loops, coordinate
        self._clock = clock
        self._unit = np.zeros(model.nv)
        self._unit[model.v_names.index(coordinate)] = 1.0
        self._neutral: Array = model.neutral()
        self.start = float(self._neutral[model.q_names.index(coordinate)])
        limits = {joint.name: (joint.lower, joint.upper) for joint in model.mechanism.joints}
        own = [(model.q_names.index(name), *limits[name]) for name in loops.joints
               if name in model.q_names]
        self._limits = [(index, low, high) for index, low, high in own
                        if math.isfinite(low) or math.isfinite(high)]
        self._low, self._high = limits.get(coordinate, (-math.inf, math.inf))

    def _moved(self, q: Array, by: float) -> Array:
        self._clock.check()
        return self._model.integrate(q, self._unit, by)

    def _within_limits(self, q: Array) -> bool:
        return all(low - 1e-9 <= q[index] <= high + 1e-9 for index, low, high in self._limits)

    def _reach(self, side: int) -> float:
        """Range of the sweep: to the limit, or until a joint that the coordinate drives has made
        half a turn, at the transmission ratio at neutral."""
        limit = self._high - self.start if side > 0 else self.start - self._low
        if math.isfinite(limit):
            return max(limit, 0.0)
        rates = np.abs(self._model.constraint_jacobian(self._neutral) @ self._unit)
        driven = max((float(rates[self._model.joint_velocity_index(name)])
                      for name in self._loops.joints if name != self._coordinate),
                     default=0.0)
        return HALF_TURN / min(1.0, driven) if driven > 0 else HALF_TURN

    def sweep(self, side: int) -> Sweep:
        """Raises OutOfTime."""
        reach = self._reach(side)
        step = side * reach / STEPS
        path: list[Array] = [self._neutral]
        blocked = 0.0
        for _ in range(STEPS):
            try:
                q = self._moved(path[-1], step)
                self._model.constraint_jacobian(q)
            except CANNOT_MOVE:
                blocked = self._blocked(path[-1], step)
                break
            if not self._within_limits(q):
                break
            path.append(q)
        gone = step * (len(path) - 1)
        dead = self._first_dead_point(path, step)
        if dead is not None:
            gone = dead
        elif blocked:
            gone += blocked
        return Sweep(self._coordinate, self.start, self.start + gone, self._loops.cluster.loops,
                     dead is not None or blocked != 0.0)

    def _blocked(self, q: Array, step: float) -> float:
        """The part of an impossible step after which the loops block, by bisection."""
        possible, impossible = 0.0, step
        for _ in range(BISECTIONS):
            middle = 0.5 * (possible + impossible)
            try:
                self._model.constraint_jacobian(self._moved(q, middle))
                possible = middle
            except CANNOT_MOVE:
                impossible = middle
        return impossible

    def _ratio(self, q: Array, by: float) -> float:
        try:
            return float(self._loops.ratios(self._moved(q, by)[None])[0])
        except CANNOT_MOVE:
            return 0.0

    def _first_dead_point(self, path: list[Array], step: float) -> float | None:
        """The first minimum of the ratio that is zero, by ternary search between samples."""
        ratios = self._loops.ratios(np.array(path))
        for i in range(1, len(path)):
            last = i + 1 == len(path)
            if not (ratios[i] < SUSPECT and ratios[i] <= ratios[i - 1]
                    and (last or ratios[i] <= ratios[i + 1])):
                continue
            low, high = 0.0, step if last else 2 * step
            for _ in range(BISECTIONS):
                first, second = low + (high - low) / 3, high - (high - low) / 3
                if self._ratio(path[i - 1], first) < self._ratio(path[i - 1], second):
                    high = second
                else:
                    low = first
            if self._ratio(path[i - 1], 0.5 * (low + high)) < SINGULAR:
                return step * (i - 1) + 0.5 * (low + high)
        return None
