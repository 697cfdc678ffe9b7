"""Derivatives of the dynamics, against differences and against one another."""

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
    for function in (model.inverse_dynamics_derivatives, model.forward_dynamics_derivatives):
        many = function(q, v, x)
        assert [part.shape for part in many] == [(9, model.nv, model.nv)] * 3
        assert many[0].dtype == dtype
        for i in range(9):
            for found, expected in zip(many, function(q[i], v[i], x[i]), strict=True):
                np.testing.assert_allclose(found[i], expected, atol=tolerance * abs(expected).max())


def test_bad_input_is_refused_with_its_name():
    model = kempe.robots.load("four_bar")
    q, v, x = state(model)
    with pytest.raises(ValueError, match="tau"):
        model.forward_dynamics_derivatives(q, v, x * np.nan)
    with pytest.raises(ValueError, match="a: expected"):
        model.inverse_dynamics_derivatives(q, v, np.zeros(5))
