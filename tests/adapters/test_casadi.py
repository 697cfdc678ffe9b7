"""CasADi functions of all algorithms, their derivatives and their life."""

import gc
import weakref

import casadi
import numpy as np
import pytest
from differences import assert_close
from differentiable_cases import CASES, case_name, prepared

import kempe.casadi

QUIET = {"ipopt.print_level": 0, "print_time": False, "ipopt.sb": "yes"}


def by_columns(one, numbers):
    """Numbers of a result, (size, …), in CasADi's order."""
    return numbers[np.arange(one.size).reshape(one.shape).ravel(order="F")]


@pytest.mark.parametrize("case", CASES, ids=case_name)
def test_value_and_jacobian(model, case):
    one, options, inputs = prepared(model, case)
    function = kempe.casadi.function(model, case[0], **options)
    assert function.size_out(0) == ((*one.shape, 1, 1)[:2])
    symbols = [casadi.MX.sym(name, n) for name, n in zip(one.inputs, one.sizes, strict=True)]
    result = casadi.vec(function(*symbols))
    whole = casadi.Function(
        "whole", symbols, [result, *[casadi.jacobian(result, s) for s in symbols]]
    )
    value, *slopes = whole.call(inputs)
    assert_close(np.array(value)[:, 0], by_columns(one, one.value(*inputs)), 1e-12)
    for found, slope in zip(slopes, one.derivatives(*inputs), strict=True):
        assert_close(np.array(found), by_columns(one, slope), 1e-12)


@pytest.mark.parametrize("case", CASES, ids=case_name)
def test_many_states_are_each_state(model, case):
    """With matrices side by side, and derivatives forward and backward, as CasADi's own map."""
    one, options, inputs = prepared(model, case)
    mapped = kempe.casadi.function(model, case[0], states=3, **options)
    single = kempe.casadi.function(model, case[0], **options)
    columns = [np.stack([y, 0.5 * y, -y], axis=1) for y in inputs]
    symbols = [casadi.MX.sym(name, n, 3) for name, n in zip(one.inputs, one.sizes, strict=True)]
    seeds = np.random.default_rng(7).normal(size=mapped.size_out(0))
    for function in (mapped, single.map(3)) if case[1] == {} else (mapped,):
        result = function(*symbols)
        along = casadi.jtimes(result, symbols[-1], columns[-1])
        back = casadi.jtimes(result, symbols[0], casadi.DM(seeds), True)
        whole = casadi.Function("whole", symbols, [result, along, back])
        value, change, gradient = (np.array(y) for y in whole.call(columns))
        parts = [np.split(y, 3, axis=1) for y in (value, change, seeds)]
        for i, (own_value, own_change, own_seeds) in enumerate(zip(*parts, strict=True)):
            own = [y[:, i] for y in columns]
            slopes = one.derivatives(*own)
            for found, right in ((own_value, one.value(*own)), (own_change, slopes[-1] @ own[-1])):
                assert_close(found.ravel(), right, 1e-9)
            assert_close(gradient[:, i], own_seeds.ravel() @ slopes[0], 1e-9)


@pytest.mark.parametrize("case", CASES, ids=case_name)
def test_hessian(model, case):
    """Exact where there are second derivatives; otherwise a message says what to do."""
    one, options, inputs = prepared(model, case)
    if one.has_second_derivatives:
        for states in (None, 3):
            has_exact_hessian(model, case[0], one, states, inputs, options)
        return
    function = kempe.casadi.function(model, case[0], **options)
    symbols = [casadi.MX.sym(name, n) for name, n in zip(one.inputs, one.sizes, strict=True)]
    with pytest.raises(RuntimeError, match=f"{case[0]} has no second.*limited-memory"):
        casadi.hessian(casadi.sumsqr(function(*symbols)), symbols[0])


def has_exact_hessian(model, name, one, states, inputs, options):
    function = kempe.casadi.function(model, name, states=states, **options)
    count = states or 1
    symbols = [
        casadi.MX.sym(name, n, count) for name, n in zip(one.inputs, one.sizes, strict=True)
    ]
    weights = np.random.default_rng(8).normal(size=(one.size, count))

    lagrangian = casadi.dot(casadi.reshape(function(*symbols), weights.shape), weights)
    unknowns = casadi.vertcat(*[casadi.vec(s) for s in symbols])
    hessian = casadi.Function("hessian", symbols, [casadi.hessian(lagrangian, unknowns)[0]])
    states_of = [np.stack([y, 0.5 * y, -y][:count], axis=1) for y in inputs]
    found = np.array(hessian.call(states_of)[0])
    # CasADi has all of the first input, then all of the second.
    starts = np.cumsum([0, *[n * count for n in one.sizes]])
    expected = np.zeros_like(found)
    for i in range(count):
        at = np.concatenate(
            [first + i * n + np.arange(n) for first, n in zip(starts, one.sizes, strict=False)]
        )
        own = [y[:, i] for y in states_of]
        expected[np.ix_(at, at)] = one.second_derivatives(weights[:, i], *own)
    assert_close(found, expected, 1e-9)


def test_gradients_and_jacobians_are_one_call(monkeypatch):
    model = kempe.robots.load("tello")
    calls = []

    def counted(called):
        def wrapped(self, *args):
            calls.append(called.__name__)
            return called(self, *args)

        return wrapped

    for name in ("derivatives", "second_derivatives"):
        kind = kempe.differentiable.Differentiable
        monkeypatch.setattr(kind, name, counted(getattr(kind, name)))
    function = kempe.casadi.function(model, "inverse_dynamics", states=4)
    x, v, a = (casadi.MX.sym(name, model.nv, 4) for name in "xva")
    result = function(x, v, a)
    both = casadi.vertcat(casadi.vec(x), casadi.vec(v))
    for of, names in (
        (casadi.jacobian(casadi.vec(result), both), ["derivatives"]),
        (casadi.gradient(casadi.sumsqr(result), both), ["derivatives"]),
        (casadi.hessian(casadi.sum1(casadi.vec(result)), x)[0],
         ["second_derivatives", "derivatives"]),
    ):
        calls.clear()
        casadi.Function("whole", [x, v, a], [of])(0.1, 0.2, 0.3)
        assert calls == names
    blocks = casadi.jacobian(casadi.vec(result), casadi.vec(x))
    assert blocks.nnz() == 4 * model.nv**2


@pytest.mark.parametrize("hessian", ["exact", "limited-memory"])
def test_in_an_optimisation(model, hessian):
    """IPOPT finds a posture at rest whose centre of mass is higher, with gravity balanced."""
    center = kempe.casadi.function(model, "center_of_mass")
    at = kempe.casadi.LocalCoordinates(model)
    target = model.center_of_mass(at.configuration(np.full(model.nv, 0.05)))
    problem = casadi.Opti()
    x = problem.variable(model.nv)
    problem.minimize(casadi.sumsqr(x))
    problem.subject_to(center(x)[2] == target[2])
    problem.solver("ipopt", {**QUIET, "ipopt.hessian_approximation": hessian})
    found = np.reshape(problem.solve().value(x), -1)
    assert abs(model.center_of_mass(at.configuration(found))[2] - target[2]) < 1e-7


def test_functions_own_their_derivatives():
    model = kempe.robots.load("four_bar")
    function = kempe.casadi.function(model, "forward_dynamics")
    symbols = [casadi.MX.sym(s, 1) for s in "xvt"]
    whole = casadi.Function(
        "whole", symbols, [casadi.jacobian(function(*symbols), casadi.vertcat(*symbols[:1]))]
    )
    gc.collect()  # the derivatives are still there
    assert np.isfinite(float(whole(0.4, 0.2, 0.1)))
    gone = [weakref.ref(function), *(weakref.ref(one) for one in function.derivatives)]
    assert len(gone) == 2
    del function
    gc.collect()
    assert all(one() is None for one in gone)
    with pytest.raises(RuntimeError, match="has been deleted"):
        whole(0.4, 0.2, 0.1)


def test_mistakes_are_named():
    model = kempe.robots.load("four_bar")
    with pytest.raises(ValueError, match="there is no algorithm 'dynamics'"):
        kempe.casadi.function(model, "dynamics")
    with pytest.raises(ValueError, match="states"):
        kempe.casadi.function(model, "forward_dynamics", states=0)


def test_states_without_a_result_are_nan():
    """So that solvers shorten their steps without a word of Python."""
    model = kempe.robots.load("tello")
    function = kempe.casadi.function(model, "center_of_mass", invalid="nan")
    x = np.zeros(model.nv)
    for rotor in (1, 2):
        x[model.v_names.index(f"right-hip-clamp-to-hip-rotor-{rotor}")] = -12.0
    assert np.isnan(np.array(function(x))).all()
