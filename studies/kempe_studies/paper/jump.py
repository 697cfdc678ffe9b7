"""Effect of the approximation on a controller: a leg that jumps on a rail.

The MIT Humanoid's leg carries its torso, which slides on a vertical rail; the foot stands on the
ground until it would have to pull. A controller at 1 kHz adds feedback (position and velocity of
the five joints) to feed-forward torques for the planned motion, by exact, approximate or
unconstrained inverse dynamics. The simulated robot is always the exact one. A run ends when the
foot touches down.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial import Polynomial

import kempe
from kempe.runs import Vector
from kempe_studies.paper.torque import METHODS, root_mean_square

TORSO, FOOT = "Floating Base", "ankle_link"
THIGH, SHIN = 0.267, 0.2785  # m, between the axes of hip, knee and ankle
GRAVITY = 9.81

# The plan, in heights of the hip above the ankle: crouch, push off, tuck the leg in, reach down.
STANDING, CROUCHED, TAKE_OFF, TUCKED, REACHING = 0.50, 0.36, 0.46, 0.38, 0.48  # m
TAKE_OFF_SPEED = 1.8  # m/s
CROUCHING, PUSHING, FLYING = 0.35, 0.16, 2 * TAKE_OFF_SPEED / GRAVITY  # s

CONTROL_STEP, STEPS_PER_CONTROL = 1e-3, 2
CLEAR = 5e-3  # m: height above which the foot counts as off the ground
GAINS = {"soft": (20.0, 0.5), "medium": (60.0, 1.5), "stiff": (200.0, 4.0)}  # N·m/rad, N·m·s/rad


def hopper() -> kempe.Model:
    """The leg below a torso on a rail; the rail's coordinate comes first."""
    mechanism = kempe.robots.mechanism("mit_humanoid_leg")
    mechanism.name = "jumping_leg"
    torso = torso_of_humanoid()
    mechanism.add_body(TORSO, mass=torso.mass, center_of_mass=torso.center_of_mass,
                       inertia=torso.inertia)
    for joint in mechanism.joints:
        if joint.parent == "base":
            joint.parent = TORSO
    mechanism.add_joint("rail", "prismatic", parent="base", child=TORSO, axis=(0, 0, 1))
    return kempe.Model(mechanism)


def torso_of_humanoid() -> kempe.Body:
    torso = kempe.robots.mechanism("mit_humanoid").find_body(TORSO)
    assert torso is not None
    return torso


# --- the plan ------------------------------------------------------------------------------------

class Motion(NamedTuple):
    """Position, velocity and acceleration."""

    position: Vector
    velocity: Vector
    acceleration: Vector


def quintic(start: tuple[float, float, float], end: tuple[float, float, float],
            duration: float) -> Polynomial:
    """A quintic polynomial between two positions, velocities and accelerations."""
    T = duration
    rows = np.array([
        [1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 2, 0, 0, 0],
        [1, T, T**2, T**3, T**4, T**5], [0, 1, 2 * T, 3 * T**2, 4 * T**3, 5 * T**4],
        [0, 0, 2, 6 * T, 12 * T**2, 20 * T**3]])
    return Polynomial(np.linalg.solve(rows, np.array([*start, *end])))


def planned_height(t: Vector) -> Motion:
    """Height of the hip above the ankle."""
    off = (TAKE_OFF, TAKE_OFF_SPEED, -GRAVITY)
    parts = [(CROUCHING, quintic((STANDING, 0, 0), (CROUCHED, 0, 0), CROUCHING)),
             (PUSHING, quintic((CROUCHED, 0, 0), off, PUSHING)),
             (FLYING / 2, quintic(off, (TUCKED, 0, 0), FLYING / 2)),
             (FLYING / 2, quintic((TUCKED, 0, 0), (REACHING, 0, 0), FLYING / 2))]
    starts = np.cumsum([0.0, *(duration for duration, _ in parts)])
    part = np.clip(np.searchsorted(starts, t + 1e-9) - 1, 0, len(parts) - 1)
    polynomials = [polynomial for _, polynomial in parts]
    return Motion(*(np.choose(part, [p.deriv(order)(t - start) if order else p(t - start)
                                     for p, start in zip(polynomials, starts, strict=False)])
                    for order in range(3)))


def angle_opposite(own: float, other: float, height: Motion) -> Motion:
    """The angle at the hip (or ankle) of the triangle of thigh, shin and height, by the law of
    cosines: cos = (h² + own² − other²) / (2 own h)."""
    h, rate, acceleration = height
    cosine = (h**2 + own**2 - other**2) / (2 * own * h)
    first = 1 / (2 * own) - (own**2 - other**2) / (2 * own * h**2)
    second = (own**2 - other**2) / (own * h**3)
    sine = np.sqrt(1 - cosine**2)
    slope = -first / sine
    bend = -(second / sine + cosine * first**2 / sine**3)
    return Motion(np.arccos(cosine), slope * rate, bend * rate**2 + slope * acceleration)


def planned_joints(t: Vector) -> Motion:
    """Motion of the five joints: the foot stays level below the hip."""
    height = planned_height(t)
    hip, ankle = angle_opposite(THIGH, SHIN, height), angle_opposite(SHIN, THIGH, height)
    return Motion(*(np.stack([0 * at_hip, 0 * at_hip, -at_hip, at_hip + at_ankle, -at_ankle], -1)
                    for at_hip, at_ankle in zip(hip, ankle, strict=True)))


class Plan:
    """The motion at the control instants, and the torques that a method computes for it."""

    def __init__(self, model: kempe.Model, control_step: float = CONTROL_STEP) -> None:
        self._model = model
        self.control_step = control_step
        duration = CROUCHING + PUSHING + FLYING
        self.t = np.arange(round(duration / control_step)) * control_step
        self.on_ground = self.t < CROUCHING + PUSHING - 1e-9
        self.joints = planned_joints(self.t)
        height = planned_height(self.t)
        # In flight, the motion of the torso follows from the joints: it has no motor.
        self._rail = Motion(height.position, np.where(self.on_ground, height.velocity, 0.0),
                            np.where(self.on_ground, height.acceleration, 0.0))

    def state(self, index: int) -> tuple[Vector, Vector]:
        """q and v of the model."""
        return (np.concatenate([[self._rail.position[index]], self.joints.position[index]]),
                np.concatenate([[self._rail.velocity[index]], self.joints.velocity[index]]))

    def torques(self, method: str) -> Vector:
        """Torques of the joints at each instant."""
        model = self._model
        q, v, a = (np.column_stack(parts) for parts in zip(self._rail, self.joints, strict=True))
        force = model.inverse_dynamics(q, v, a, method=method)
        # On the ground, the contact force at the foot replaces the missing motor of the rail.
        lifting = model.frame_jacobian(q, FOOT)[:, 2, :]
        on_ground = force - lifting * force[:, :1]
        # In flight, the torso accelerates such that no force is needed.
        unit = np.zeros(model.nv)
        unit[0] = 1.0
        inertia = model.inverse_dynamics(q, v, a + unit, method=method) - force
        flying = force - inertia * (force[:, :1] / inertia[:, :1])
        return np.asarray(np.where(self.on_ground[:, None], on_ground, flying)[:, 1:])


# --- the run -------------------------------------------------------------------------------------

@dataclasses.dataclass(frozen=True)
class Jump:
    """The recorded result of a plan."""

    method: str
    gains: str
    t: Vector
    joints: Vector  # positions of the joints
    wanted: Vector
    feedback: Vector  # torques of the joints
    torque: Vector  # total torques of the joints
    motor_torque: Vector  # at the rotors
    height: Vector  # of the torso
    foot_error: Vector  # m, relative to the torso
    take_off: float | None  # s; None if the foot stays on the ground

    @property
    def joint_error(self) -> Vector:
        """Root mean square error of each joint, rad."""
        return root_mean_square(self.joints - self.wanted)

    def report(self) -> dict[str, Any]:
        return {
            "method": self.method, "gains": self.gains,
            "joint_error_degrees": np.degrees(self.joint_error).tolist(),
            "foot_error_rms": float(root_mean_square(self.foot_error)),
            "foot_error_largest": float(self.foot_error.max()),
            "apex": float(self.height.max()),
            "take_off": self.take_off, "touch_down": float(self.t[-1]),
            "feedback_rms": float(np.linalg.norm(root_mean_square(self.feedback))),
            "feedback_largest": float(np.abs(self.feedback).max()),
            "torque_rms": float(np.linalg.norm(root_mean_square(self.torque))),
            "motor_effort": float(np.sum(self.motor_torque**2) * (self.t[1] - self.t[0])),
        }


def motor_torques(model: kempe.Model, torque: Vector) -> Vector:
    """Torques at the rotors: τ = Rᵀ τ_rotors, where R is the rotors' rows of G, a constant."""
    rotors = [joint.name for joint in model.mechanism.joints if joint.child.endswith("_rotor")]
    rows = [model.joint_velocity_index(name) for name in rotors]
    ratios = model.constraint_jacobian(model.neutral())[rows, 1:]
    return np.linalg.solve(ratios.T, torque.T).T


def jump(model: kempe.Model, plan: Plan, method: str, gains: str) -> Jump:
    """Simulates the exact robot with the plan and torques of a method."""
    stiffness, damping = GAINS[gains]
    ahead = plan.torques(method)
    simulator = kempe.Simulator(model, "rk4")
    q, v = plan.state(0)
    ground = kempe.Constraints(model)
    _, foot = model.frame_placement(q, FOOT)
    ground.connect("ground", "fixed", successor=FOOT, predecessor_xyz=foot)
    upward = ground.rows_of("ground").start + 2  # the row of its vertical force
    simulator.set_state(q, v)
    simulator.set_constraints(ground)
    take_off: float | None = None
    lifted = False
    states, feedbacks, torques = [], [], []
    for index, t in enumerate(plan.t):
        feedback = (stiffness * (plan.joints.position[index] - simulator.q[1:])
                    + damping * (plan.joints.velocity[index] - simulator.v[1:]))
        torque = ahead[index] + feedback
        simulator.set_forces(np.concatenate([[0.0], torque]))
        if take_off is None and simulator.multipliers[upward] <= 0:
            simulator.enable_constraint("ground", False)
            take_off = float(t)
        height = model.frame_placement(simulator.q, FOOT)[1][2] - foot[2]
        lifted = lifted or height > CLEAR
        if lifted and height < 0:
            break  # it touches down
        states.append(simulator.q)
        feedbacks.append(feedback)
        torques.append(torque)
        for _ in range(STEPS_PER_CONTROL):
            simulator.step(plan.control_step / STEPS_PER_CONTROL)
    path, torque = np.array(states), np.array(torques)
    planned = plan.joints.position[:len(path)]
    wanted = np.column_stack([path[:, 0], planned])
    foot_error = np.linalg.norm(
        model.frame_placement(path, FOOT)[1] - model.frame_placement(wanted, FOOT)[1], axis=1)
    return Jump(method, gains, plan.t[:len(path)], path[:, 1:], planned, np.array(feedbacks),
                torque, motor_torques(model, torque), path[:, 0], foot_error, take_off)


def jumps(gains: tuple[str, ...] = tuple(GAINS)) -> Iterator[Jump]:
    model = hopper()
    plan = Plan(model)
    for name in gains:
        for method in METHODS:
            yield jump(model, plan, method, name)
