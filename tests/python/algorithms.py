"""Every algorithm of a model on arrays, with arguments for it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import kempe

ROBOTS = ["four_bar", "five_bar", "planar_leg", "mini_cheetah", "mit_humanoid", "tello"]


@dataclass
class States:
    """Random states of a model, and forces on it."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    tau: np.ndarray
    spanning: np.ndarray

    def __getitem__(self, index: int) -> "States":
        return States(*(np.asarray(x[index]) for x in vars(self).values()))

    def mapped(self, change: Callable[[np.ndarray], np.ndarray]) -> "States":
        return States(*(change(x) for x in vars(self).values()))


def random_states(model: kempe.Model, count: int, seed: int = 0) -> States:
    random = np.random.default_rng(seed)
    return States(
        model.random_configuration(seed, size=count),
        *(random.uniform(-1, 1, (count, n))
          for n in (model.nv, model.nv, model.nv, model.nv_spanning)))


def close(actual: np.ndarray, expected: np.ndarray, tolerance: float = 1e-9) -> None:
    """Whether arrays are equal, relative to the largest number."""
    scale = max(1.0, float(np.abs(expected).max(initial=0)))
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance * scale)


def stacked(forces: dict[str, np.ndarray]) -> np.ndarray:
    """All numbers of a dictionary of forces, one after the other."""
    return np.concatenate(list(forces.values()), axis=-1)


def constraints_of(model: kempe.Model) -> kempe.Constraints:
    """A rod from a distant point of the root to the last body."""
    constraints = kempe.Constraints(model)
    constraints.rod("thread", predecessor_point=(0.3, 0.4, 3.0), successor=model.body_names[-1],
                    successor_point=(0.05, 0.02, 0.01), length=3.0)
    return constraints


Algorithm = Callable[[kempe.Model, States], np.ndarray]

# Algorithms that compute in float if all arguments are float32.
GENERIC: dict[str, Algorithm] = {
    "inverse_dynamics": lambda m, s: m.inverse_dynamics(s.q, s.v, s.a),
    "inverse_dynamics with forces": lambda m, s: m.inverse_dynamics(
        s.q, s.v, s.a, external={m.body_names[-1]: np.arange(6.0)}),
    "inverse_dynamics by projection": lambda m, s: m.inverse_dynamics(
        s.q, s.v, s.a, method="projection"),
    "forward_dynamics": lambda m, s: m.forward_dynamics(s.q, s.v, s.tau),
    "forward_dynamics with forces": lambda m, s: m.forward_dynamics(
        s.q, s.v, s.tau, {m.body_names[0]: np.arange(6.0)}, external_reference="local"),
    "forward_dynamics by multipliers": lambda m, s: m.forward_dynamics(
        s.q, s.v, s.tau, method="lagrange"),
    "forward_dynamics by cut joints": lambda m, s: m.forward_dynamics(
        s.q, s.v, s.tau, method="cut_joint"),
    "constrained_forward_dynamics": lambda m, s: m.constrained_forward_dynamics(
        s.q, s.v, s.tau, constraints_of(m)).a,
    "constrained_forward_dynamics_derivatives: accelerations": lambda m, s:
        m.constrained_forward_dynamics_derivatives(s.q, s.v, s.tau, constraints_of(m))[0],
    "constrained_forward_dynamics_derivatives: multipliers": lambda m, s:
        m.constrained_forward_dynamics_derivatives(s.q, s.v, s.tau, constraints_of(m))[5],
    "inverse_dynamics_derivatives": lambda m, s: np.stack(
        m.inverse_dynamics_derivatives(s.q, s.v, s.a), axis=-3),
    "inverse_dynamics_derivatives with forces": lambda m, s: np.stack(
        m.inverse_dynamics_derivatives(
            s.q, s.v, s.a, external={m.body_names[-1]: np.arange(6.0)},
            external_reference="world"), axis=-3),
    "forward_dynamics_derivatives": lambda m, s: np.stack(
        m.forward_dynamics_derivatives(s.q, s.v, s.tau), axis=-3),
    "forward_dynamics_derivatives with forces": lambda m, s: np.stack(
        m.forward_dynamics_derivatives(
            s.q, s.v, s.tau, external={m.body_names[0]: np.arange(6.0)},
            external_reference="local"), axis=-3),
    "bias_forces": lambda m, s: m.bias_forces(s.q, s.v),
    "gravity_forces": lambda m, s: m.gravity_forces(s.q),
    "generalized_forces": lambda m, s: m.generalized_forces(s.q, s.spanning),
    "mass_matrix": lambda m, s: m.mass_matrix(s.q),
    "inverse_mass_matrix": lambda m, s: m.inverse_mass_matrix(s.q),
    "apply_inverse_mass_matrix": lambda m, s: m.apply_inverse_mass_matrix(s.q, s.tau),
    "coriolis_matrix": lambda m, s: m.coriolis_matrix(s.q, s.v),
    "inverse_operational_inertia": lambda m, s: m.inverse_operational_inertia(
        s.q, m.body_names[-2:]),
    "inverse_operational_inertia by projection": lambda m, s: m.inverse_operational_inertia(
        s.q, m.body_names[-2:], method="projection"),
    "joint_forces": lambda m, s: stacked(m.joint_forces(s.q, s.v, s.tau)),
    "joint_forces with forces": lambda m, s: stacked(m.joint_forces(
        s.q, s.v, a=s.a, external={m.body_names[-1]: np.arange(6.0)}, reference="local",
        spanning=s.spanning, actuation="rotors")),
    "loop_forces": lambda m, s: stacked(m.loop_forces(s.q, s.v, s.tau)),
    "loop_forces of a motion": lambda m, s: stacked(m.loop_forces(
        s.q, s.v, a=s.a, frame=m.body_names[0])),
    "acceleration with forces": lambda m, s: m.forces(s.q, s.v, s.tau)[0],
    "rotations": lambda m, s: m.forward_kinematics(s.q)[0],
    "positions": lambda m, s: m.forward_kinematics(s.q)[1],
    "rotation": lambda m, s: m.frame_placement(s.q, m.body_names[-1])[0],
    "position": lambda m, s: m.frame_placement(s.q, m.body_names[-1])[1],
    "frame_velocity": lambda m, s: m.frame_velocity(s.q, s.v, m.body_names[-1]),
    "frame_acceleration": lambda m, s: m.frame_acceleration(
        s.q, s.v, s.a, m.body_names[-1], "local"),
    "frame_jacobian": lambda m, s: m.frame_jacobian(s.q, m.joint_names[-1], "world"),
    "frame_jacobian_rate": lambda m, s: m.frame_jacobian_rate(s.q, s.v, m.body_names[-1]),
    "frame_acceleration in the world": lambda m, s: m.frame_acceleration(
        s.q, s.v, s.a, (m.folded_rotors or m.body_names)[0], "world"),
    "all terms: mass matrix": lambda m, s: m.all_terms(s.q, s.v, ()).mass_matrix,
    "all terms: bias forces": lambda m, s: m.all_terms(s.q, s.v, ()).bias_forces,
    "all terms: Jacobians": lambda m, s: m.all_terms(s.q, s.v, m.body_names[-2:]).jacobians,
    "all terms: velocities": lambda m, s: m.all_terms(s.q, s.v).velocities,
    "center_of_mass_jacobian": lambda m, s: m.center_of_mass_jacobian(s.q),
    "center_of_mass": lambda m, s: m.center_of_mass(s.q),
    "center_of_mass_velocity": lambda m, s: m.center_of_mass_velocity(s.q, s.v),
    "center_of_mass_acceleration": lambda m, s: m.center_of_mass_acceleration(s.q, s.v, s.a),
    "momentum": lambda m, s: m.momentum(s.q, s.v),
    "momentum_rate": lambda m, s: m.momentum_rate(s.q, s.v, s.a),
    "frame_jacobian_time_derivative": lambda m, s: m.frame_jacobian_time_derivative(
        s.q, s.v, m.body_names[-1]),
    "frame_velocity_derivatives": lambda m, s: np.stack(m.frame_velocity_derivatives(
        s.q, s.v, m.body_names[-1]), axis=-3),
    "frame_acceleration_derivatives": lambda m, s: np.stack(m.frame_acceleration_derivatives(
        s.q, s.v, s.a, (m.folded_rotors or m.body_names)[0], "world"), axis=-3),
    "momentum_derivatives": lambda m, s: np.stack(m.momentum_derivatives(s.q, s.v), axis=-3),
    "momentum_rate_derivatives": lambda m, s: np.stack(
        m.momentum_rate_derivatives(s.q, s.v, s.a), axis=-3),
    "center_of_mass_velocity_derivatives": lambda m, s: np.stack(
        m.center_of_mass_velocity_derivatives(s.q, s.v), axis=-3),
    "center_of_mass_acceleration_derivatives": lambda m, s: np.stack(
        m.center_of_mass_acceleration_derivatives(s.q, s.v, s.a), axis=-3),
    "gravity_forces_derivatives": lambda m, s: m.gravity_forces_derivatives(s.q),
    "centroidal_momentum_matrix": lambda m, s: m.centroidal_momentum_matrix(s.q),
    "kinetic energy": lambda m, s: np.asarray(m.energy(s.q, s.v)[0], s.q.dtype),
    "potential energy": lambda m, s: np.asarray(m.energy(s.q, s.v)[1], s.q.dtype),
}

# Algorithms that always compute in double.
DOUBLE: dict[str, Algorithm] = {
    "project": lambda m, s: m.project(s.q),
    "static_deflection": lambda m, s: m.static_deflection(s.q, s.tau),
    "inverse_dynamics_second_derivatives": lambda m, s: np.stack(
        m.inverse_dynamics_second_derivatives(s.q, s.v, s.a, s.tau), axis=-3),
    "inverse_dynamics_hessian_product": lambda m, s: np.stack(
        m.inverse_dynamics_hessian_product(s.q, s.v, s.a, s.tau, s.a, s.tau, s.v), axis=-2),
    "integrate": lambda m, s: m.integrate(s.q, s.v, 0.01),
    "difference": lambda m, s: m.difference(s.q, m.integrate(s.q, s.v, 0.01)),
    "spanning positions": lambda m, s: m.spanning(s.q, s.v)[0],
    "spanning velocities": lambda m, s: m.spanning(s.q, s.v)[1],
    "spanning_positions": lambda m, s: m.spanning_positions(s.q),
    "constraint_jacobian": lambda m, s: m.constraint_jacobian(s.q),
    "constraint_bias": lambda m, s: m.constraint_bias(s.q, s.v),
    "constraint_jacobian_rate": lambda m, s: m.constraint_jacobian_rate(s.q, s.v),
    "loop_residual": lambda m, s: m.loop_residual(s.q),
    "constraint_errors": lambda m, s: m.constraint_errors(s.q, constraints_of(m)),
    "constraint_velocity_errors": lambda m, s: m.constraint_velocity_errors(
        s.q, s.v, constraints_of(m)),
    "constraint_rows": lambda m, s: m.constraint_rows(s.q, constraints_of(m)),
    "project_velocities": lambda m, s: m.project_velocities(s.q, s.v, constraints_of(m))[0],
    "project_velocities_derivatives": lambda m, s: m.project_velocities_derivatives(
        s.q, s.v, constraints_of(m))[2],
}

ALL = GENERIC | DOUBLE
