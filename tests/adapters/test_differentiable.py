"""Local coordinates and their derivatives."""

import numpy as np
import pytest
from differences import assert_close, jacobian

from kempe.differentiable import LocalCoordinates, algorithm_names, chosen


def test_local_coordinates_invert(model, state):
    reference, x, *_ = state
    local = LocalCoordinates(model, reference)
    np.testing.assert_allclose(local.coordinates(local.configuration(x)), x, atol=1e-9)


@pytest.mark.parametrize("name", algorithm_names())
def test_derivatives_are_those_of_differences(model, state, name):
    reference, *inputs = state
    frame = model.frame_names[-1] if name.startswith("frame_") else None
    one = chosen(model, name, reference, frame)
    inputs = inputs[: len(one.inputs)]
    found = one.derivatives(*inputs)
    assert len(found) == len(inputs)
    for i, slope in enumerate(found):

        def along(y, i=i):
            return one.value(*inputs[:i], y, *inputs[i + 1 :])

        assert_close(slope, jacobian(along, inputs[i]))
    # Many states are each state.
    many = [np.stack([y, -0.5 * y]) for y in inputs]
    for k in range(2):
        own = [y[k] for y in many]
        assert_close(one.value(*many)[k], one.value(*own), 1e-9)
        for slopes, slope in zip(one.derivatives(*many), one.derivatives(*own), strict=True):
            assert_close(slopes[k], slope, 1e-9)
