import numpy as np
import pytest
from differences import assert_close

from kempe.differentiable import chosen

torch = pytest.importorskip("torch")


def test_value_and_gradient(model, state):
    import kempe.torch

    reference, x, v, tau = state
    function = kempe.torch.function(model, "forward_dynamics", reference=reference)
    expected = chosen(model, "forward_dynamics", reference)
    states = np.stack([x, 0.3 * x, -x])
    inputs = [torch.tensor(y, requires_grad=True) for y in (states, v, tau)]
    result = function(*inputs)
    result.sum().backward()
    slopes = [expected.derivatives(own, v, tau) for own in states]
    for i, own in enumerate(states):
        assert_close(result[i].detach().numpy(), expected.value(own, v, tau), 1e-9)
        assert_close(inputs[0].grad[i].numpy(), slopes[i][0].sum(axis=0), 1e-9)
    assert_close(inputs[1].grad.numpy(), sum(s[1].sum(axis=0) for s in slopes), 1e-9)
