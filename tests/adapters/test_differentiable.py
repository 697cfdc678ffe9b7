"""Local coordinates and their derivatives."""

import numpy as np
from differences import assert_close, jacobian

from kempe.differentiable import LocalCoordinates, chosen

NAMES = ["forward_dynamics", "inverse_dynamics", "bias_forces", "gravity_forces", "center_of_mass"]


def test_local_coordinates_invert(model, state):
    reference, x, *_ = state
    local = LocalCoordinates(model, reference)
    np.testing.assert_allclose(local.coordinates(local.configuration(x)), x, atol=1e-9)


def test_derivatives_are_those_of_differences(model, state):
    reference, x, v, tau = state
    for name in NAMES:
        one = chosen(model, name, reference)
        rest = (v, tau)[: len(one.inputs) - 1]
        found = one.derivatives(x, *rest)
        at = jacobian(lambda y, one=one, rest=rest: one.value(y, *rest), x)
        assert_close(found[0], at)
    foot = chosen(model, "frame_position", reference, model.frame_names[-1])
    assert_close(foot.derivatives(x)[0], jacobian(foot.value, x))
