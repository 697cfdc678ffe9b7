import gc
import weakref

import casadi
import numpy as np
import pytest
from differences import assert_close

import kempe.casadi
from kempe.differentiable import algorithm_names, chosen


def named(model, name, reference, **options):
    """The CasADi function and what it should compute."""
    frame = {"frame": model.frame_names[-1]} if name.startswith("frame_") else {}
    function = kempe.casadi.function(model, name, reference=reference, **frame, **options)
    return function, chosen(model, name, reference, **frame)


@pytest.mark.parametrize("name", algorithm_names())
def test_value_and_jacobian(model, state, name):
    reference, *inputs = state
    function, expected = named(model, name, reference)
    inputs = inputs[: len(expected.inputs)]
    symbols = [casadi.MX.sym(s, model.nv) for s in expected.inputs]
    result = casadi.vec(function(*symbols))
    whole = casadi.Function(
        "whole", symbols, [result, *[casadi.jacobian(result, s) for s in symbols]]
    )
    value, *slopes = whole.call(inputs)
    # CasADi's matrices are by columns.
    order = np.arange(expected.size).reshape(expected.shape).ravel(order="F")
    assert_close(np.array(value)[:, 0], expected.value(*inputs)[order], 1e-12)
    for found, slope in zip(slopes, expected.derivatives(*inputs), strict=True):
        assert_close(np.array(found), slope[order], 1e-12)


@pytest.mark.parametrize("name", ["forward_dynamics", "mass_matrix"])
def test_many_states_are_each_state(model, state, name):
    reference, *inputs = state
    mapped, one = named(model, name, reference, states=3)
    single, _ = named(model, name, reference)
    columns = [np.stack([y, 0.5 * y, -y], axis=1) for y in inputs[: len(one.inputs)]]
    symbols = [casadi.MX.sym(s, model.nv, 3) for s in one.inputs]
    slow = single.map(3)
    for function in (mapped, slow):
        result = function(*symbols)
        product = casadi.jtimes(result, symbols[0], columns[0])
        back = casadi.jtimes(result, symbols[0], casadi.DM.ones(result.shape), True)
        whole = casadi.Function("whole", symbols, [result, product, back])
        value, along, gradient = (np.array(y) for y in whole.call(columns))
        for i in range(3):
            own = [y[:, i] for y in columns]
            slope = one.derivatives(*own)[0]
            part = slice(i * value.shape[1] // 3, (i + 1) * value.shape[1] // 3)
            for found, right in ((value, one.value(*own)), (along, slope @ own[0])):
                assert_close(found[:, part].reshape(one.shape), right.reshape(one.shape), 1e-9)
            assert_close(gradient[:, i], slope.sum(axis=0), 1e-9)


def test_in_an_optimisation(model):
    """IPOPT finds a posture at rest whose centre of mass is higher, with gravity balanced."""
    center = kempe.casadi.function(model, "center_of_mass")
    at = kempe.casadi.LocalCoordinates(model)
    target = model.center_of_mass(at.configuration(np.full(model.nv, 0.05)))
    problem = casadi.Opti()
    x = problem.variable(model.nv)
    problem.minimize(casadi.sumsqr(x))
    problem.subject_to(center(x)[2] == target[2])
    quiet = {"ipopt.print_level": 0, "print_time": False, "ipopt.sb": "yes"}
    problem.solver("ipopt", {**quiet, "ipopt.hessian_approximation": "limited-memory"})
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
    with pytest.raises(ValueError, match="forward_dynamics"):
        kempe.casadi.function(model, "dynamics")
    with pytest.raises(ValueError, match="frame="):
        kempe.casadi.function(model, "frame_position")
    with pytest.raises(ValueError, match="foot"):
        kempe.casadi.function(model, "frame_position", frame="foot")
    with pytest.raises(ValueError, match="takes no frame"):
        kempe.casadi.function(model, "mass_matrix", frame="link1")
    with pytest.raises(ValueError, match="states"):
        kempe.casadi.function(model, "forward_dynamics", states=0)
