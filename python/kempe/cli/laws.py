"""Laws that every correct model obeys, measured in random states.

The rounding error of a result depends on the conditioning of the mass matrix and the loops in that
state. Errors are therefore relative to the largest result that the state admits, and are compared
with the unit roundoff times the condition numbers that a method depends on. Coordinates are scaled
by the roots of the diagonal of the mass matrix, so that units do not matter.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kempe
from kempe.cli.common import free_velocities
from kempe.cli.coordinates import FREEDOMS, robot_size, velocity_units
from kempe.cli.dead_points import CANNOT_MOVE, ClusterLoops

Array = NDArray[np.floating[Any]]

REFERENCE = "cluster"
EXACT = (REFERENCE, "projection", "lagrange", "cut_joint")
WITH_TREE = ("lagrange", "cut_joint")  # methods that solve with the mass matrix of the open tree
SHORTCUTS = ("approximate", "unconstrained")

EPSILON = float(np.finfo(float).eps)
ROUNDING = 1e3 * EPSILON  # of a method; times condition numbers
SMALLEST = float(np.finfo(float).tiny)

# Errors that are always allowed, however good the condition numbers are.
CLOSED = 1e-12  # of a robot of up to one metre
LEAST = {"forces": 1e-9, "accelerations": 1e-9}
LEAST_WITH_TREE = 1e-7  # of methods that invert the mass matrix of the open tree
ENERGY = 1e-6
UNDECIDED = 1e-2  # states are not judged if rounding alone may cause this error
REDUNDANT = 1e-5  # residual of redundant rows if the file's numbers are rounded

STEP = 0.01  # seconds that the robot moves, at up to one unit of each velocity
DIFFERENCE = 1e-3  # seconds between energy samples of finite differences
CHUNK = 250  # states between updates of the progress bar


class Impossible(Exception):
    """A function has no result in any state; the text says why."""


def row_by_row(compute: Callable[..., Array], *arrays: Array) -> Array:
    """The results of a function for many states; NaN where it has no result."""
    try:
        return compute(*arrays)
    except CANNOT_MOVE as error:
        reason = str(error)
    results: list[Array | None] = []
    for row in zip(*arrays, strict=True):
        try:
            results.append(np.asarray(compute(*row)))
        except CANNOT_MOVE:
            results.append(None)
    found = [result for result in results if result is not None]
    if not found:
        raise Impossible(reason)
    nothing = np.full(found[0].shape, np.nan)
    return np.array([nothing if result is None else result for result in results])


def norm(x: Array) -> Array:
    return np.asarray(np.linalg.norm(x, axis=1))


def ratio(error: Array, size: Array) -> Array:
    """The relative error; the absolute one if the size is zero."""
    return np.asarray(error / np.where(size > 0, size, 1.0))


# --- conditions ----------------------------------------------------------------------------------

class Tree:
    """The robot with all loops open."""

    def __init__(self, model: kempe.Model) -> None:
        """Raises ModelError or ValueError if the open tree is not a valid robot."""
        mechanism = model.mechanism
        for loops in (mechanism.loops, mechanism.couplings, mechanism.rods, mechanism.functions):
            for loop in loops:
                loop.cut = True
        self._tree = kempe.Model(mechanism, fold_rotors=model.fold_rotors)
        self._model = model
        self._positions = [model.spanning_position_names.index(name)
                           for name in self._tree.q_names]
        self._velocities = [model.spanning_velocity_names.index(name)
                            for name in self._tree.v_names]

    def condition(self, q: Array) -> Array:
        """Condition numbers of the computation of multipliers: that of the mass matrix, or, if
        larger, the largest ratio of the acceleration that a force causes along a coordinate with
        loops open to that with loops closed, because these accelerations are subtracted."""
        spanning = self._model.spanning_positions(q)
        matrix = ScaledMatrix(self._tree.mass_matrix(spanning[:, self._positions]))
        try:
            opened = np.einsum("nii->ni", np.linalg.inv(matrix.H)) / matrix.scale**2
            G = row_by_row(self._model.constraint_jacobian, q)[:, self._velocities]
            closed = np.einsum("nij,njk,nik->ni", G, np.linalg.inv(self._model.mass_matrix(q)), G)
        except (np.linalg.LinAlgError, Impossible):
            return np.full(len(q), np.inf)
        lost = np.where(closed > 0, opened / np.where(closed > 0, closed, 1.0), 0.0)
        return np.asarray(np.maximum(matrix.condition, lost.max(axis=1, initial=1.0)))


class ScaledMatrix:
    """Mass matrices H in coordinates in which their diagonals are one."""

    def __init__(self, H: Array) -> None:
        diagonal = np.einsum("nii->ni", H)
        self.scale = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
        self.H = H / (self.scale[:, :, None] * self.scale[:, None, :])
        self.smallest, self.largest = np.zeros((2, len(H)))
        if H.shape[1]:
            eigenvalues = np.linalg.eigvalsh(self.H)
            self.smallest, self.largest = eigenvalues[:, 0], eigenvalues[:, -1]

    @property
    def condition(self) -> Array:
        return np.asarray(self.largest / np.maximum(self.smallest, EPSILON * SMALLEST**0.5))

    @property
    def asymmetry(self) -> Array:
        return np.asarray(np.abs(self.H - self.H.transpose(0, 2, 1)).max(axis=(1, 2), initial=0.0))


# --- states --------------------------------------------------------------------------------------

@dataclasses.dataclass
class States:
    """Some random states, and their condition numbers."""

    q: Array
    v: Array
    a: Array
    mass: ScaledMatrix
    loops: Array  # condition numbers of the loops, the worst of each state
    tree: Array  # of the robot with all loops open


class Sampler:
    """Random states, the same for the same seed."""

    def __init__(self, model: kempe.Model, samples: int, seed: int) -> None:
        self.model, self.seed, self.samples = model, seed, samples
        self.size = robot_size(model) or 1.0
        self.clusters = [ClusterLoops(model, cluster, self.size) for cluster in model.clusters
                         if cluster.implicit]
        self._random = np.random.default_rng(seed)
        self._units = velocity_units(model, self.size)
        self._tree: Tree | None = None
        try:
            self._tree = Tree(model)
        except (kempe.ModelError, kempe.AssemblyError, ValueError):
            self._tree = None  # bodies without mass: methods that need the tree are not judged

    def draw(self, first: int, count: int) -> States:
        model = self.model
        q = model.random_configuration(self.seed + first, count)
        v, a = self._random.uniform(-1, 1, (2, count, model.nv)) * self._units
        if model.cut_loops:  # motions that keep them closed
            v = model.project_velocities(q, v, kempe.Constraints(model))[0]
            a = model.forward_dynamics(q, v, a)
        loops = np.ones(count)
        for cluster in self.clusters:
            loops = np.maximum(loops, cluster.conditions(q))
        return States(q, v, a, ScaledMatrix(model.mass_matrix(q)), loops,
                      np.full(count, np.inf) if self._tree is None else self._tree.condition(q))


# --- laws ----------------------------------------------------------------------------------------

Measured = dict[str, Array]  # a number for each state


def loop_gaps(model: kempe.Model, states: States, size: float) -> Measured:
    """The widest gaps, in the states and after a step, their rows, and the gaps that are allowed:
    rounding grows with the robot's size and with the coefficients of couplings."""
    if model.n_loop_rows == 0:
        return {}
    largest = max((abs(coefficient) for coupling in model.mechanism.couplings
                   for _, coefficient in coupling.terms), default=1.0)
    farthest = np.abs(model.spanning_positions(states.q)).max(axis=1, initial=0.0)

    def moved(q: Array, v: Array) -> Array:
        after = model.integrate(q, v, STEP)
        return model.project(after) if model.cut_loops else after

    standing = np.abs(model.loop_residual(states.q))
    try:
        after = row_by_row(moved, states.q, states.v)
    except Impossible:
        after = np.full_like(states.q, np.nan)
    possible = np.isfinite(after).all(axis=1)
    stepped = np.zeros_like(standing)
    if possible.any():
        stepped[possible] = np.abs(model.loop_residual(after[possible]))
    both = np.maximum(standing, stepped)
    return {"standing": standing.max(axis=1), "stepped": stepped.max(axis=1),
            "row": both.argmax(axis=1), "blocked": ~possible,
            "allowed": np.maximum(CLOSED * max(1.0, size), 16 * EPSILON * largest * farthest)}


def inverse_dynamics(model: kempe.Model, method: str) -> Callable[[Array, Array, Array], Array]:
    return lambda q, v, a: model.inverse_dynamics(q, v, a, method=method)


def forward_dynamics(model: kempe.Model, method: str) -> Callable[[Array, Array, Array], Array]:
    return lambda q, v, tau: model.forward_dynamics(q, v, tau, method=method)


def forces(model: kempe.Model, states: States) -> tuple[Measured, dict[str, str]]:
    """Inverse dynamics by all exact methods and by H a + h, relative to the terms of the sum."""
    q, v, a, mass = states.q, states.v, states.a, states.mass
    tau = model.inverse_dynamics(q, v, a)
    bias = model.bias_forces(q, v)
    size = (mass.largest * norm(a * mass.scale) + norm(bias / mass.scale)
            + norm(tau / mass.scale))
    measured = {REFERENCE: ratio(
        norm(np.einsum("nij,nj->ni", mass.H, a * mass.scale) + bias / mass.scale
              - tau / mass.scale), size)}
    impossible = {}
    for method in EXACT[1:]:
        try:
            other = row_by_row(inverse_dynamics(model, method), q, v, a)
            measured[method] = ratio(norm((other - tau) / mass.scale), size)
        except (ValueError, Impossible) as error:
            impossible[method] = str(error)
    return measured, impossible


def accelerations(model: kempe.Model, states: States) -> tuple[Measured, dict[str, str]]:
    """Errors of forward dynamics by all exact methods, relative to the largest acceleration that
    the forces can cause.

    The reference is compared with the acceleration that the forces were computed from.
    """
    q, v, mass = states.q, states.v, states.mass
    tau = model.inverse_dynamics(q, v, states.a)
    size = ratio(norm(tau / mass.scale) + norm(model.bias_forces(q, v) / mass.scale),
                 np.maximum(mass.smallest, 0.0))
    measured, impossible = {}, {}
    for method in EXACT:
        try:
            other = row_by_row(forward_dynamics(model, method), q, v, tau)
            measured[method] = ratio(norm((other - states.a) * mass.scale), size)
        except (ValueError, Impossible) as error:
            impossible[method] = str(error)
    return measured, impossible


def allowed(states: States, method: str, least: float, openness: float) -> Array:
    """The relative error of a method's result that rounding may cause in each state."""
    condition = states.loops
    if method in WITH_TREE:
        condition = condition * states.tree
        least = max(least, LEAST_WITH_TREE)
    return np.asarray(np.maximum(least, ROUNDING * condition + 100 * openness * states.loops))


def dissipated(model: kempe.Model, states: States) -> Array:
    """Power dissipated by damping and friction."""
    rates = model.spanning(states.q, states.v)[1]
    power = np.zeros(len(states.q))
    slip = model.mechanism.friction_slip_speed
    for joint in model.mechanism.joints:
        if joint.type != "fixed" and (joint.damping or joint.friction):
            first = model.joint_velocity_index(joint.name)
            rate = rates[:, first:first + FREEDOMS.get(joint.type, 1)]
            dry = rate * np.tanh(rate / slip) if slip > 0 else np.abs(rate)
            power += (joint.damping * rate**2 + joint.friction * dry).sum(axis=1)
    return power


def power(model: kempe.Model, states: States) -> Measured:
    """Relative error of the power balance: tau·v is the rate of change of energy plus the power
    dissipated in joints. NaN where rounding, or loops that block the motion, prevent finite
    differences.

    Finite differences use several time steps: near a dead point short ones are better, elsewhere
    long ones.
    """
    q, v, a = states.q, states.v, states.a
    taken = dissipated(model, states)
    tau = model.inverse_dynamics(q, v, a)
    given = (tau * v).sum(axis=1) - taken
    size = np.abs(tau * v).sum(axis=1) + taken
    fastest = np.abs(model.spanning(q, v)[1]).max(axis=1, initial=1.0)
    kinetic, potential = model.energy(q, v)
    heights = np.abs(model.forward_kinematics(q)[1] @ model.gravity).max(axis=1)
    magnitude = kinetic + np.abs(potential) + model.total_mass * heights

    def energy(times: Array) -> Array:
        def at(q: Array, v: Array, a: Array, t: Array) -> Array:
            after = model.integrate(q, v * t, 1.0)
            return np.asarray(np.sum(model.energy(after, v + t * a), axis=0))
        return row_by_row(at, q, v, a, times[:, None])

    best = np.full(len(q), np.nan)
    noise = np.full(len(q), np.inf)
    for part in (1, 8, 64, 512):
        h = DIFFERENCE / part / fastest
        try:
            rate = (8 * (energy(h) - energy(-h)) - (energy(2 * h) - energy(-2 * h))) / (12 * h)
        except Impossible:
            continue
        rounding = ratio(16 * EPSILON * magnitude / h, size)
        off = ratio(np.abs(given - rate), size)
        usable = rounding < UNDECIDED
        better = usable & ~(off - rounding >= best - noise)
        best, noise = np.where(better, off, best), np.where(better, rounding, noise)
    return {"off": best, "allowed": np.maximum(ENERGY, np.where(np.isfinite(noise), noise, 0.0))}


def shortcut_errors(model: kempe.Model, states: States) -> tuple[Measured, dict[str, str]]:
    """Relative errors of motor forces without loops and rotors."""
    motors = [index for index in range(model.nv) if index not in free_velocities(model)]
    tau = model.inverse_dynamics(states.q, states.v, states.a)[:, motors]
    measured, impossible = {}, {}
    for method in SHORTCUTS if motors else ():
        try:
            other = row_by_row(inverse_dynamics(model, method), states.q, states.v, states.a)
            measured[method] = ratio(norm(other[:, motors] - tau), norm(tau))
        except (ValueError, Impossible) as error:
            impossible[method] = str(error)
    return measured, impossible


# --- limits --------------------------------------------------------------------------------------

def beyond_limits(model: kempe.Model, q: Array) -> list[list[dict[str, Any]]]:
    """For each configuration, the coordinates that are outside their limits."""
    lower, upper = model.position_limits
    positions = model.spanning_positions(q)
    slack = 1e-9
    outside = ((positions < lower - slack * (1 + np.abs(lower)))
               | (positions > upper + slack * (1 + np.abs(upper))))
    return [[{"coordinate": model.spanning_position_names[i], "position": float(row[i]),
              "lower": float(lower[i]), "upper": float(upper[i])}
             for i in np.flatnonzero(flags)] for row, flags in zip(positions, outside, strict=True)]


def described(violation: dict[str, Any]) -> str:
    low, high = violation["lower"], violation["upper"]
    bounds = (f"{low:.6g} to {high:.6g}" if math.isfinite(low) and math.isfinite(high)
              else f"at least {low:.6g}" if math.isfinite(low) else f"at most {high:.6g}")
    return f"{violation['coordinate']} at {violation['position']:.6g} (limits: {bounds})"
