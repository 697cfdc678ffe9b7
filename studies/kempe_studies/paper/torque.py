"""Torque errors of methods that are not exact: Figure 14 and section IX-B.

Torques of the MIT Humanoid's leg, whose five joints all follow the same sinusoid, by exact,
approximate and unconstrained inverse dynamics.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

import kempe
from kempe.runs import Vector
from kempe_studies.paper import published
from kempe_studies.paper.robots import approximate_tree, in_link_coordinates, load, mechanism

METHODS = ("cluster", "approximate", "unconstrained")
INEXACT = METHODS[1:]

AMPLITUDE, FREQUENCY = 0.5, 1.5  # rad, Hz
# As in the authors' program (generalized_rbda, accuracyBenchmarkEndEffectorTracking.cpp).
DURATION, STEP = 5.0, 5e-4  # s
KNEE, ANKLE = 3, 4
JOINTS = ("hip yaw", "hip roll", "hip pitch", "knee", "ankle")


def root_mean_square(values: Vector) -> Vector:
    return np.asarray(np.sqrt(np.mean(np.square(values), axis=0)))


@dataclasses.dataclass(frozen=True)
class Torques:
    """Torques of all joints over time, by method."""

    t: Vector
    tau: dict[str, Vector]

    @property
    def largest(self) -> Vector:
        """Peak torque of each joint by the exact method."""
        return np.asarray(np.abs(self.tau["cluster"]).max(axis=0))

    def error(self, method: str) -> Vector:
        """Root mean square of each joint's difference from exact, N·m."""
        return root_mean_square(self.tau[method] - self.tau["cluster"])

    def report(self) -> dict[str, Any]:
        return {"largest": self.largest.tolist(),
                **{method: self.error(method).tolist() for method in INEXACT}}


def sinusoid(model: kempe.Model, t: Vector, frequency: float = FREQUENCY,
             moving: tuple[int, ...] | None = None) -> tuple[Vector, Vector, Vector]:
    """q, v, a of the paper's trajectory, of all joints or of those that are `moving`."""
    omega = 2 * np.pi * frequency
    joints = np.ones(model.nv)
    if moving is not None:
        joints[:] = 0
        joints[list(moving)] = 1
    return (np.outer(AMPLITUDE * np.sin(omega * t), joints),
            np.outer(AMPLITUDE * omega * np.cos(omega * t), joints),
            np.outer(-AMPLITUDE * omega**2 * np.sin(omega * t), joints))


def torques(frequency: float = FREQUENCY, moving: tuple[int, ...] | None = None) -> Torques:
    model = load("mit_humanoid_leg")
    t = np.arange(round(DURATION / STEP) + 1) * STEP
    q, v, a = sinusoid(model, t, frequency, moving)
    return Torques(t, {method: model.inverse_dynamics(q, v, a, method=method)
                       for method in METHODS})


@dataclasses.dataclass(frozen=True)
class Study:
    """The paper's experiment, and variants that explain its numbers."""

    at_hertz: Torques  # ω = 1.5 revolutions per second, as in the paper's equation: sin(2π ω t)
    at_radians: Torques  # ω = 1.5 rad/s, as in the paper's caption
    knee_and_ankle: Torques  # only these move: the effect of the belt's coupling alone
    sweep: dict[float, Torques]  # by frequency, Hz

    def report(self) -> dict[str, Any]:
        return {"joints": JOINTS, "hertz": self.at_hertz.report(),
                "radians": self.at_radians.report(),
                "knee_and_ankle": self.knee_and_ankle.report(),
                "sweep": {str(f): torques.report() for f, torques in self.sweep.items()}}


def study() -> Study:
    return Study(torques(), torques(FREQUENCY / (2 * np.pi)), torques(moving=(KNEE, ANKLE)),
                 {frequency: torques(frequency) for frequency in (0.25, 0.5, 0.75, 1.5, 3.0)})


# --- all robots ----------------------------------------------------------------------------------

# Bounds of random motions of the joints, like those of the leg: rad/s, rad/s².
SPEED, ACCELERATION = 5.0, 50.0


@dataclasses.dataclass(frozen=True)
class RobotError:
    """Errors of torques in random motions, relative to the exact torques; root mean squares."""

    all_joints: float
    worst_joint: float
    worst_name: str


def robot_errors(states: int) -> dict[str, dict[str, RobotError]]:
    """By robot and method. Bases are fixed, as on a test stand, in coordinates of the links. With
    method "mass_kept", the approximation keeps the rotors' mass on the bodies that carry them."""
    errors: dict[str, dict[str, RobotError]] = {}
    for name in published.ROBOTS:
        robot = mechanism(name)
        for joint in robot.joints:
            if joint.type == "free":
                joint.type = "fixed"
        model = in_link_coordinates(kempe.Model(robot))
        random = np.random.default_rng(0)
        aside = AMPLITUDE * random.uniform(-1, 1, (states, model.nv))
        q = model.integrate(model.neutral(), aside, 1.0)
        v = SPEED * random.uniform(-1, 1, (states, model.nv))
        a = ACCELERATION * random.uniform(-1, 1, (states, model.nv))
        found = {method: model.inverse_dynamics(q, v, a, method=method) for method in METHODS}
        tree = approximate_tree(model, keep_mass=True)
        places = [model.spanning_position_names.index(name) for name in tree.q_names]
        found["mass_kept"] = tree.inverse_dynamics(model.spanning_positions(q)[:, places], v, a)
        exact = found.pop("cluster")
        sizes = root_mean_square(exact)
        errors[name] = {}
        for method, torques in found.items():
            wrong = root_mean_square(torques - exact)
            worst = int(np.argmax(wrong / sizes))
            errors[name][method] = RobotError(
                float(np.linalg.norm(wrong) / np.linalg.norm(sizes)),
                float(wrong[worst] / sizes[worst]), model.v_names[worst])
    return errors
