import casadi
import numpy as np
import pytest
from differences import assert_close

import kempe.casadi
from kempe.differentiable import chosen


@pytest.mark.parametrize("name", ["forward_dynamics", "inverse_dynamics"])
def test_value_and_jacobian(model, state, name):
    reference, x, v, tau = state
    function = kempe.casadi.function(model, name, reference=reference)
    symbols = [casadi.MX.sym(s, model.nv) for s in "xvt"]
    result = function(*symbols)
    whole = casadi.Function(
        "whole", symbols, [result, *[casadi.jacobian(result, s) for s in symbols]]
    )
    expected = chosen(model, name, reference)
    value, *slopes = whole(x, v, tau)
    assert_close(np.array(value)[:, 0], expected.value(x, v, tau), 1e-12)
    for found, slope in zip(slopes, expected.derivatives(x, v, tau), strict=True):
        assert_close(np.array(found), slope, 1e-12)


def test_many_states_are_each_state(model, state):
    reference, x, v, tau = state
    columns = [np.stack([y, 0.5 * y, -y], axis=1) for y in (x, v, tau)]
    mapped = kempe.casadi.function(model, "forward_dynamics", reference=reference, states=3)
    symbols = [casadi.MX.sym(s, model.nv, 3) for s in "xvt"]
    result = mapped(*symbols)
    product = casadi.jtimes(result, symbols[0], columns[1])
    value, along = casadi.Function("whole", symbols, [result, product])(*columns)
    one = chosen(model, "forward_dynamics", reference)
    for i in range(3):
        own = [y[:, i] for y in columns]
        assert_close(np.array(value)[:, i], one.value(*own), 1e-9)
        assert_close(np.array(along)[:, i], one.derivatives(*own)[0] @ own[1], 1e-9)


def test_unknown_algorithms_are_named():
    with pytest.raises(ValueError, match="forward_dynamics"):
        kempe.casadi.function(kempe.robots.load("four_bar"), "dynamics")
