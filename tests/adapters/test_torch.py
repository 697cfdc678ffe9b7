import numpy as np
import pytest
from differences import assert_close

from kempe.differentiable import chosen

torch = pytest.importorskip("torch")


@pytest.fixture
def adapter():
    import kempe.torch

    return kempe.torch


def leaf(x, **options):
    return torch.tensor(x, requires_grad=True, **options)


def test_value_and_gradient(adapter, model, state):
    reference, x, v, tau = state
    function = adapter.function(model, "forward_dynamics", reference=reference)
    expected = chosen(model, "forward_dynamics", reference)
    states = np.stack([x, 0.3 * x, -x])
    inputs = [leaf(y) for y in (states, v, tau)]
    result = function(*inputs)
    result.sum().backward()
    slopes = [expected.derivatives(own, v, tau) for own in states]
    for i, own in enumerate(states):
        assert_close(result[i].detach().numpy(), expected.value(own, v, tau), 1e-9)
        assert_close(inputs[0].grad[i].numpy(), slopes[i][0].sum(axis=0), 1e-9)
    assert_close(inputs[1].grad.numpy(), sum(s[1].sum(axis=0) for s in slopes), 1e-9)


@pytest.mark.parametrize("name", ["forward_dynamics", "inverse_dynamics", "mass_matrix"])
def test_gradcheck(adapter, model, state, name):
    if model.nv > 20:
        pytest.skip("differences of many inputs")
    reference, x, v, tau = state
    function = adapter.function(model, name, reference=reference)
    count = len(chosen(model, name, reference).inputs)
    inputs = [leaf(np.stack([y, 0.5 * y])) for y in (x, v, tau)[:count]]
    size = max(1.0, float(function(*inputs).detach().abs().max()))
    assert torch.autograd.gradcheck(
        lambda *args: function(*args) / size, inputs, eps=1e-5, atol=1e-4, check_forward_ad=True
    )


def test_transforms(adapter, model, state):
    reference, x, v, tau = state
    function = adapter.function(model, "forward_dynamics", reference=reference)
    expected = chosen(model, "forward_dynamics", reference)
    args = [torch.tensor(y) for y in (x, v, tau)]
    for transform in (torch.func.jacrev, torch.func.jacfwd):
        found = transform(function, argnums=(0, 1, 2))(*args)
        for slope, own in zip(found, expected.derivatives(x, v, tau), strict=True):
            assert_close(slope.numpy(), own, 1e-9)
    states = torch.stack([args[0], 0.3 * args[0], -args[0]])
    many = torch.func.vmap(function, in_dims=(0, None, None))(states, args[1], args[2])
    slopes = torch.func.vmap(torch.func.jacrev(function), (0, None, None))(states, *args[1:])
    for i, own in enumerate(states.numpy()):
        assert_close(many[i].numpy(), expected.value(own, v, tau), 1e-9)
        assert_close(slopes[i].numpy(), expected.derivatives(own, v, tau)[0], 1e-9)


def test_all_states_are_one_call(adapter, model, state, monkeypatch):
    reference, x, v, tau = state
    calls = []
    one = chosen(model, "forward_dynamics", reference)
    counted = type(one)(
        one.name,
        one.coordinates,
        one.inputs,
        one.shape,
        lambda *args: calls.append("value") or one.evaluate(*args),
        lambda *args: calls.append("derivatives") or one.differentiate(*args),
    )
    monkeypatch.setattr(adapter, "chosen", lambda *_: counted)
    inputs = [leaf(np.tile(y, (2, 5, 1))) for y in (x, v, tau)]
    adapter.function(model, "forward_dynamics")(*inputs).sum().backward()
    assert calls == ["value", "derivatives"]


def test_precision_follows_the_inputs(adapter, model, state):
    reference, x, v, tau = state
    function = adapter.function(model, "forward_dynamics", reference=reference)
    single = [leaf(y, dtype=torch.float32) for y in (x, v, tau)]
    result = function(*single)
    assert result.dtype == torch.float32
    result.sum().backward()
    assert all(one.grad.dtype == torch.float32 for one in single)
    mixed = function(single[0], *(torch.tensor(y) for y in (v, tau)))
    assert mixed.dtype == torch.float64


def test_second_derivatives_are_refused(adapter, model, state):
    reference, x, v, tau = state
    function = adapter.function(model, "forward_dynamics", reference=reference)
    inputs = [leaf(y) for y in (x, v, tau)]
    (slope,) = torch.autograd.grad(function(*inputs).sum(), inputs[0], create_graph=True)
    with pytest.raises(NotImplementedError, match="forward_dynamics has no second derivatives"):
        slope.sum().backward()


def test_wrong_arguments_are_named(adapter, model):
    with pytest.raises(TypeError, match="x, v, tau"):
        adapter.function(model, "forward_dynamics")(torch.zeros(model.nv))
