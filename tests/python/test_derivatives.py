"""Derivatives of dynamics and kinematics, against differences and against one another."""

import itertools

import numpy as np
import pytest

import kempe

ROBOTS = ["mini_cheetah", "tello", "four_bar", "five_bar", "planar_leg", "belt_chain"]


def state(model: kempe.Model, seed: int = 1):
    rng = np.random.default_rng(seed)
    return (
        model.random_configuration(seed=seed),
        rng.normal(size=model.nv),
        rng.normal(size=model.nv),
    )


def by_differences(function, model, q, h=1e-4):
    """Derivative along the tangent, with an error of fourth order."""

    def central(direction, step):
        ahead, back = model.integrate(q, direction, step), model.integrate(q, direction, -step)
        return (function(ahead) - function(back)) / (2 * step)

    columns = [(4 * central(e, h / 2) - central(e, h)) / 3 for e in np.eye(model.nv)]
    return np.stack(columns, axis=1)


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("reference", ["local_world_aligned", "local", "world"])
def test_derivatives_are_those_of_differences(name, reference):
    model = kempe.robots.load(name)
    q, v, x = state(model)
    push = {model.frame_names[-1]: [1, -2, 3, 0.1, 0.2, -0.3]}
    how = {"external": push, "external_reference": reference}
    dtau_dq, dtau_dv, H = model.inverse_dynamics_derivatives(q, v, x, **how)
    expected = by_differences(lambda at: model.inverse_dynamics(at, v, x, **how), model, q)
    np.testing.assert_allclose(dtau_dq, expected, atol=1e-6 * max(1, abs(expected).max()))
    np.testing.assert_allclose(H, model.mass_matrix(q), atol=1e-12 * abs(H).max())

    def tau_at(rates):
        return model.inverse_dynamics(q, rates, x, **how)

    # Quadratic in v, so that central differences are exact.
    speed = np.stack([(tau_at(v + e) - tau_at(v - e)) / 2 for e in np.eye(model.nv)], axis=1)
    if name != "planar_leg":  # its dry friction changes sign within these steps
        np.testing.assert_allclose(dtau_dv, speed, atol=1e-9 * max(1, abs(speed).max()))
    a = model.forward_dynamics(q, v, x, **how)
    da_dq, da_dv, da_dtau = model.forward_dynamics_derivatives(q, v, x, **how)
    dtau_dq, dtau_dv, H = model.inverse_dynamics_derivatives(q, v, a, **how)
    for found, expected in [
        (da_dq, -np.linalg.solve(H, dtau_dq)),
        (da_dv, -np.linalg.solve(H, dtau_dv)),
        (da_dtau, np.linalg.inv(H)),
    ]:
        np.testing.assert_allclose(found, expected, atol=1e-8 * abs(expected).max())


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_many_states_are_each_state(dtype):
    model = kempe.robots.load("tello")
    states = [state(model, seed) for seed in range(9)]
    q, v, x = (np.stack(part).astype(dtype) for part in zip(*states, strict=True))
    tolerance = 1e-9 if dtype is np.float64 else 2e-2
    wrenches = np.random.default_rng(5).normal(size=(9, 6)).astype(dtype)
    frame = model.body_names[-1]

    def cases(i):
        yield {}
        for reference in ("local_world_aligned", "local", "world"):
            yield {"external": {frame: wrenches[i]}, "external_reference": reference}

    functions = (model.inverse_dynamics_derivatives, model.forward_dynamics_derivatives)
    for function, (case, how) in itertools.product(functions, enumerate(cases(slice(None)))):
        many = function(q, v, x, **how)
        assert [part.shape for part in many] == [(9, model.nv, model.nv)] * 3
        assert many[0].dtype == dtype
        for i in range(9):
            single = function(q[i], v[i], x[i], **list(cases(i))[case])
            for found, expected in zip(many, single, strict=True):
                np.testing.assert_allclose(found[i], expected, atol=tolerance * abs(expected).max())


def test_bad_input_is_refused_with_its_name():
    model = kempe.robots.load("four_bar")
    q, v, x = state(model)
    with pytest.raises(ValueError, match="tau"):
        model.forward_dynamics_derivatives(q, v, x * np.nan)
    with pytest.raises(ValueError, match="a: expected"):
        model.inverse_dynamics_derivatives(q, v, np.zeros(5))


def close(found, expected):
    np.testing.assert_allclose(found, expected, atol=1e-6 * max(1, abs(expected).max()))


def quotients(function, x):
    """Derivative of a function that is at most quadratic: central differences are exact."""
    return np.stack([(function(x + e) - function(x - e)) / 2 for e in np.eye(len(x))], axis=-1)


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("reference", ["local_world_aligned", "local", "world"])
def test_derivatives_of_frames_are_those_of_differences(name, reference):
    model = kempe.robots.load(name)
    q, v, a = state(model)
    for frame in [model.body_names[-1], *model.folded_rotors[:1]]:
        dv_dq, J = model.frame_velocity_derivatives(q, v, frame, reference=reference)
        close(dv_dq, by_differences(
            lambda at, f=frame: model.frame_velocity(at, v, f, reference), model, q))
        close(J, model.frame_jacobian(q, frame, reference))
        da_dq, da_dv, J = model.frame_acceleration_derivatives(q, v, a, frame, reference=reference)
        close(da_dq, by_differences(
            lambda at, f=frame: model.frame_acceleration(at, v, a, f, reference), model, q))
        close(da_dv, quotients(
            lambda x, f=frame: model.frame_acceleration(q, x, a, f, reference), v))
        close(J, model.frame_jacobian(q, frame, reference))
        rate = model.frame_jacobian_time_derivative(q, v, frame, reference)
        close(rate @ v, model.frame_jacobian_rate(q, v, frame, reference))


@pytest.mark.parametrize("name", ROBOTS)
def test_derivatives_of_sums_are_those_of_differences(name):
    model = kempe.robots.load(name)
    q, v, a = state(model)
    dh_dq, A = model.momentum_derivatives(q, v)
    close(dh_dq, by_differences(lambda at: model.momentum(at, v), model, q))
    close(A, model.centroidal_momentum_matrix(q))
    drate_dq, drate_dv, A = model.momentum_rate_derivatives(q, v, a)
    close(drate_dq, by_differences(lambda at: model.momentum_rate(at, v, a), model, q))
    close(drate_dv, quotients(lambda x: model.momentum_rate(q, x, a), v))
    close(A, model.centroidal_momentum_matrix(q))
    dv_dq, J = model.center_of_mass_velocity_derivatives(q, v)
    close(dv_dq, by_differences(lambda at: model.center_of_mass_velocity(at, v), model, q))
    close(J, model.center_of_mass_jacobian(q))
    da_dq, da_dv, J = model.center_of_mass_acceleration_derivatives(q, v, a)
    close(da_dq, by_differences(lambda at: model.center_of_mass_acceleration(at, v, a), model, q))
    close(da_dv, quotients(lambda x: model.center_of_mass_acceleration(q, x, a), v))
    close(J, model.center_of_mass_jacobian(q))
    close(model.gravity_forces_derivatives(q), by_differences(model.gravity_forces, model, q))
    close(model.constraint_jacobian_rate(q, v) @ v, model.constraint_bias(q, v))


def test_derivatives_of_kinematics_refuse_bad_input():
    model = kempe.robots.load("four_bar")
    q, v, a = state(model)
    with pytest.raises(ValueError, match="v is not finite"):
        model.frame_velocity_derivatives(q, v * np.nan, model.body_names[-1])
    with pytest.raises(ValueError, match="a"):
        model.momentum_rate_derivatives(q, v, np.zeros(3))
    with pytest.raises(ValueError, match="reference"):
        model.frame_acceleration_derivatives(q, v, a, model.body_names[-1], reference="body")
    flat = np.zeros(model.nq)
    for call in (lambda: model.frame_velocity_derivatives(flat, v, 0),
                 lambda: model.momentum_derivatives(flat, v),
                 lambda: model.gravity_forces_derivatives(flat),
                 lambda: model.constraint_jacobian_rate(flat, v)):
        with pytest.raises(kempe.SingularityError):
            call()


@pytest.mark.parametrize("name", ROBOTS)
def test_second_derivatives_are_those_of_differences(name):
    model = kempe.robots.load(name)
    q, v, a = state(model)
    lam = state(model, 2)[1]
    qq, qv, vv, qa = model.inverse_dynamics_second_derivatives(q, v, a, lam)

    def gradient(index):
        return lambda at: lam @ model.inverse_dynamics_derivatives(at, v, a)[index]

    for found, index in ((qq, 0), (qv.T, 1), (qa.T, 2)):
        expected = by_differences(gradient(index), model, q)
        np.testing.assert_allclose(found, expected, atol=1e-5 * max(1, abs(expected).max()))
    np.testing.assert_allclose(vv, vv.T, atol=1e-10 * max(1, abs(vv).max()))


@pytest.mark.parametrize("name", ROBOTS)
def test_second_derivatives_give_those_of_forward_dynamics(name):
    """The formula of docs/derivatives.md, against differences of the first derivatives."""
    model = kempe.robots.load(name)
    q, v, tau = state(model)
    mu = state(model, 2)[1]
    da_dq, da_dv, da_dtau = model.forward_dynamics_derivatives(q, v, tau)
    lam = -da_dtau @ mu
    a = model.forward_dynamics(q, v, tau)
    qq, qv, _, qa = model.inverse_dynamics_second_derivatives(q, v, a, lam)
    formulas = [qq + qa @ da_dq + (qa @ da_dq).T, (qv + qa @ da_dv).T, (qa @ da_dtau).T]
    for index, found in enumerate(formulas):
        expected = by_differences(
            lambda at, index=index: mu @ model.forward_dynamics_derivatives(at, v, tau)[index],
            model, q)
        np.testing.assert_allclose(found, expected, atol=1e-5 * max(1, abs(expected).max()))


def test_a_step_of_radau_beside_friction_is_linearized_whatever_its_error():
    model = kempe.robots.load("planar_leg")
    q = model.random_configuration(seed=4)
    v = np.random.default_rng(4).normal(size=model.nv)

    def linearized(integrator, friction):
        simulator = kempe.Simulator(model, integrator)
        if friction:
            simulator.add_friction("base_to_thigh", friction)
        simulator.set_state(q, v)
        simulator.set_forces(model.gravity_forces(q))
        return simulator.linearize(1e-2)[0]

    np.testing.assert_allclose(linearized("radau", 1e-9), linearized("radau", 0), rtol=1e-5)
    expected = linearized("rk4", 0.01)
    np.testing.assert_allclose(linearized("radau", 0.01), expected,
                               atol=1e-2 * np.abs(expected).max())


@pytest.mark.parametrize("name", ["mini_cheetah", "tello", "four_bar", "planar_leg"])
@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit_euler", "implicit_midpoint"])
def test_linearized_steps_are_those_of_differences(name, integrator):
    mechanism = kempe.robots.mechanism(name)
    for joint in mechanism.joints:
        joint.friction = 0.0
    model = kempe.Model(mechanism)
    q, v, tau = state(model)
    simulator = kempe.Simulator(model, integrator)
    simulator.set_forces(tau)

    def end(at, rates):
        simulator.set_state(at, rates)
        simulator.step(1e-3)
        return simulator.q, simulator.v

    origin = end(q, v)[0]

    def ended(at, rates):
        way, speed = end(at, rates)
        return np.concatenate([model.difference(origin, way), speed])

    simulator.set_state(q, v)
    A, B = simulator.linearize(1e-3)
    by_q = by_differences(lambda at: ended(at, v), model, q)
    np.testing.assert_allclose(A[:, :model.nv], by_q, atol=1e-7 * max(1, abs(A).max()))
    h = 1e-3
    by_v = np.stack([(ended(q, v + h * e) - ended(q, v - h * e)) / (2 * h)
                     for e in np.eye(model.nv)], axis=1)
    np.testing.assert_allclose(A[:, model.nv:], by_v, atol=1e-6 * max(1, abs(A).max()))
    rates_A, rates_B = simulator.linearize_rates()
    assert rates_A.shape == A.shape
    assert rates_B.shape == B.shape
