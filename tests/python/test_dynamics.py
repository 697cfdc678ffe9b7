"""Laws of mechanics, checked through the Python bindings."""

import numpy as np
import pytest

import kempe
from algorithms import ROBOTS, States, close, random_states

STEP = 1e-6


@pytest.fixture(params=ROBOTS, scope="module")
def model(request: pytest.FixtureRequest) -> kempe.Model:
    return kempe.robots.load(request.param)


@pytest.fixture
def state(model: kempe.Model) -> States:
    return random_states(model, 1, seed=3)[0]


def test_forward_dynamics_undoes_inverse_dynamics(model: kempe.Model, state: States) -> None:
    tau = model.inverse_dynamics(state.q, state.v, state.a)
    close(model.forward_dynamics(state.q, state.v, tau), state.a)


@pytest.mark.parametrize("method", ["projection", "lagrange", "cut_joint"])
def test_exact_methods_agree(model: kempe.Model, state: States, method: str) -> None:
    q, v, a, tau = state.q, state.v, state.a, state.tau
    close(model.inverse_dynamics(q, v, a, method=method), model.inverse_dynamics(q, v, a))
    close(model.forward_dynamics(q, v, tau, method=method), model.forward_dynamics(q, v, tau))


def test_equation_of_motion(model: kempe.Model, state: States) -> None:
    q, v, a = state.q, state.v, state.a
    H = model.mass_matrix(q)
    close(model.inverse_dynamics(q, v, a), H @ a + model.bias_forces(q, v))
    close(H, H.T)
    close(model.inverse_mass_matrix(q) @ H, np.eye(model.nv), 1e-8)
    close(H @ model.apply_inverse_mass_matrix(q, a), a)
    close(model.bias_forces(q, np.zeros(model.nv)), model.gravity_forces(q))


def test_coriolis_matrix(model: kempe.Model, state: States) -> None:
    q, v = state.q, state.v
    C = model.coriolis_matrix(q, v)
    still = kempe.Model(without_resistance(model.mechanism))
    close(C @ v, still.bias_forces(q, v) - still.gravity_forces(q))
    ahead, behind = (model.mass_matrix(model.integrate(q, v, s * STEP)) for s in (1, -1))
    close(C + C.T, (ahead - behind) / (2 * STEP), 1e-6)  # Ḣ − 2C is skew-symmetric


def without_resistance(mechanism: kempe.Mechanism) -> kempe.Mechanism:
    for joint in mechanism.joints:
        joint.damping = joint.friction = 0
    return mechanism


def test_frames_move_as_their_jacobians_say(model: kempe.Model, state: States) -> None:
    q, v, a = state.q, state.v, state.a
    frame = model.body_names[-1]
    J = model.frame_jacobian(q, frame)
    velocity = model.frame_velocity(q, v, frame)
    close(J @ v, velocity)
    ahead, behind = (model.frame_placement(model.integrate(q, v, s * STEP), frame) for s in (1, -1))
    close((ahead[1] - behind[1]) / (2 * STEP), velocity[:3], 1e-6)
    R, _ = model.frame_placement(q, frame)
    turning = (ahead[0] - behind[0]) / (2 * STEP) @ R.T
    close(np.array([turning[2, 1], turning[0, 2], turning[1, 0]]), velocity[3:], 1e-6)
    close(model.frame_acceleration(q, v, a, frame),
          J @ a + model.frame_jacobian_rate(q, v, frame))


def test_references(model: kempe.Model, state: States) -> None:
    q, v = state.q, state.v
    frame = model.body_names[-1]
    R, p = model.frame_placement(q, frame)
    aligned, local, world = (
        model.frame_velocity(q, v, frame, reference)
        for reference in ("local_world_aligned", "local", "world"))
    close(np.concatenate([R @ local[:3], R @ local[3:]]), aligned)
    close(np.concatenate([world[:3] + np.cross(world[3:], p), world[3:]]), aligned)


def test_all_frames_at_once(model: kempe.Model, state: States) -> None:
    R, p = model.forward_kinematics(state.q)
    assert R.shape == (len(model.frame_names), 3, 3)
    for index, name in enumerate(model.frame_names):
        assert model.frame_index(name) == index
        one_R, one_p = model.frame_placement(state.q, name)
        np.testing.assert_array_equal(R[index], one_R)
        np.testing.assert_array_equal(p[index], one_p)
    some_R, some_p = model.forward_kinematics(state.q, frames=[2, model.frame_names[0]])
    np.testing.assert_array_equal(some_R, R[[2, 0]])
    np.testing.assert_array_equal(some_p, p[[2, 0]])


def test_operational_inertia(model: kempe.Model, state: States) -> None:
    frames = model.body_names[-2:]
    J = np.vstack([model.frame_jacobian(state.q, frame) for frame in frames])
    expected = J @ model.inverse_mass_matrix(state.q) @ J.T
    close(model.inverse_operational_inertia(state.q, frames), expected)


def test_forces_on_frames(model: kempe.Model, state: States) -> None:
    q, v, a = state.q, state.v, state.a
    wrench = np.array([1.0, -2.0, 3.0, 0.4, 0.5, -0.6])
    frames = model.body_names[-1], model.frame_index(model.body_names[0])
    free = model.inverse_dynamics(q, v, a)
    for reference in ("local_world_aligned", "local", "world"):
        with_forces = model.inverse_dynamics(
            q, v, a, {frames[0]: wrench, frames[1]: 2 * wrench}, external_reference=reference)
        expected = sum(model.frame_jacobian(q, f, reference).T @ (k * wrench)
                       for f, k in zip(frames, (1, 2), strict=True))
        close(free - with_forces, expected)


def test_momentum_and_energy(model: kempe.Model, state: States) -> None:
    q, v = state.q, state.v
    A = model.centroidal_momentum_matrix(q)
    close(model.momentum(q, v), A @ v)
    kinetic, potential = model.energy(q, v)
    assert isinstance(kinetic, float)
    ahead, behind = (model.integrate(q, v, s * STEP) for s in (1, -1))
    lift = (model.energy(ahead, v)[1] - model.energy(behind, v)[1]) / (2 * STEP)
    assert lift == pytest.approx(model.gravity_forces(q) @ v, rel=1e-5, abs=1e-6)
    moving = model.center_of_mass(ahead) - model.center_of_mass(behind)
    mass = np.abs(model.momentum(q, v)[:3]).max() / np.abs(moving / (2 * STEP)).max()
    close(moving / (2 * STEP) * mass, model.momentum(q, v)[:3], 1e-5)
    unloaded = model.mechanism
    for joint in unloaded.joints:
        joint.armature = 0
    assert kinetic >= kempe.Model(unloaded).energy(q, v)[0] - 1e-12
    assert kinetic == pytest.approx(0.5 * v @ model.mass_matrix(q) @ v)


def test_generalized_forces(model: kempe.Model, state: States) -> None:
    G = model.constraint_jacobian(state.q)
    close(model.generalized_forces(state.q, state.spanning), G.T @ state.spanning)
    positions, velocities = model.spanning(state.q, state.v)
    close(velocities, G @ state.v)
    assert positions.shape == (model.nq_spanning,)


@pytest.mark.parametrize("method", ["approximate", "unconstrained"])
def test_other_methods_are_not_exact(method: str) -> None:
    model = kempe.robots.load("mini_cheetah")
    state = random_states(model, 1)[0]
    exact = model.forward_dynamics(state.q, state.v, state.tau)
    other = model.forward_dynamics(state.q, state.v, state.tau, method=method)
    assert np.abs(exact - other).max() > 1e-6
    with pytest.raises(ValueError, match='there is no "guess"; there are "cluster"'):
        model.forward_dynamics(state.q, state.v, state.tau, method="guess")


def test_all_terms_are_the_single_ones(model: kempe.Model) -> None:
    states = random_states(model, 7)
    for s in (states, states[0]):
        frames = [model.body_names[0], model.joint_names[-1]]
        terms = model.all_terms(s.q, s.v, frames)
        assert terms.frames == frames
        close(terms.mass_matrix, model.mass_matrix(s.q))
        close(terms.bias_forces, model.inverse_dynamics(s.q, s.v, 0 * s.v))
        close(terms.gravity_forces, model.inverse_dynamics(s.q, 0 * s.v, 0 * s.v))
        close(terms.center_of_mass, model.center_of_mass(s.q))
        close(terms.center_of_mass_jacobian, model.center_of_mass_jacobian(s.q))
        close(terms.momentum, model.momentum(s.q, s.v))
        close(terms.centroidal_momentum_matrix, model.centroidal_momentum_matrix(s.q))
        kinetic, potential = model.energy(s.q, s.v)
        close(np.asarray(terms.kinetic_energy), np.asarray(kinetic))
        close(np.asarray(terms.potential_energy), np.asarray(potential))
        R, p = model.forward_kinematics(s.q, frames)
        close(terms.rotations, R)
        close(terms.positions, p)
        for i, frame in enumerate(frames):
            close(terms.velocities[..., i, :], model.frame_velocity(s.q, s.v, frame))
            close(terms.jacobians[..., i, :, :], model.frame_jacobian(s.q, frame))
            close(terms.jacobian_rates[..., i, :], model.frame_jacobian_rate(s.q, s.v, frame))
    assert model.all_terms(states.q[0], states.v[0]).frames == model.frame_names
    assert repr(terms) == "<kempe.AllTerms: 2 frames>"
