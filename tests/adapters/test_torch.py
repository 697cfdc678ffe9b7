"""PyTorch functions of all algorithms under its transformations."""

import dataclasses

import numpy as np
import pytest
from differences import assert_close
from differentiable_cases import CASES, case_name, prepared

from kempe.differentiable import algorithm_names, chosen

torch = pytest.importorskip("torch")


@pytest.fixture
def adapter():
    import kempe.torch

    return kempe.torch


def leaf(x, **options):
    return torch.tensor(x, requires_grad=True, **options)


@pytest.mark.parametrize("case", CASES, ids=case_name)
def test_every_algorithm(adapter, model, case):
    """Values and gradients, of three x at the same other inputs."""
    one, options, inputs = prepared(model, case)
    function = adapter.function(model, case[0], **options)
    states = np.stack([inputs[0], 0.3 * inputs[0], -inputs[0]])
    tensors = [leaf(y) for y in (states, *inputs[1:])]
    result = function(*tensors)
    assert result.shape == (3, *one.shape)
    (result**2).sum().backward()
    gradients = [0.0] * len(inputs)
    for i, own in enumerate(states):
        value, slopes = one.value(own, *inputs[1:]), one.derivatives(own, *inputs[1:])
        assert_close(result[i].detach().numpy(), value.reshape(one.shape), 1e-9)
        assert_close(tensors[0].grad[i].numpy(), 2 * value @ slopes[0], 1e-9)
        gradients = [g + 2 * value @ slope for g, slope in zip(gradients, slopes, strict=True)]
    for tensor, gradient in zip(tensors[1:], gradients[1:], strict=True):
        assert_close(tensor.grad.numpy(), gradient, 1e-9)


@pytest.mark.parametrize("case", CASES, ids=case_name)
def test_gradcheck(adapter, model, case):
    """Torch's own differences, backward and forward, along random directions of large models."""
    one, options, inputs = prepared(model, case)
    function = adapter.function(model, case[0], **options)
    tensors = [leaf(np.stack([y, 0.5 * y])) for y in inputs]
    size = max(1.0, float(function(*tensors).detach().abs().max()))
    assert torch.autograd.gradcheck(
        lambda *args: function(*args) / size,
        tensors,
        eps=1e-5,
        atol=1e-4,
        check_forward_ad=True,
        fast_mode=model.nv > 2,
    )


@pytest.mark.parametrize("case", CASES[: len(algorithm_names())], ids=case_name)
def test_transforms(adapter, model, case):
    one, options, inputs = prepared(model, case)
    function = adapter.function(model, case[0], **options)
    args = [torch.tensor(y) for y in inputs]
    each = tuple(range(len(args)))
    for transform in (torch.func.jacrev, torch.func.jacfwd):
        slopes = zip(transform(function, each)(*args), one.derivatives(*inputs), strict=True)
        for found, slope in slopes:
            assert_close(found.numpy().reshape(slope.shape), slope, 1e-9)
    states = torch.stack([args[0], 0.3 * args[0], -args[0]])
    axes = (0, *[None] * (len(args) - 1))
    many = torch.func.vmap(function, axes)(states, *args[1:])
    slopes = torch.func.vmap(torch.func.jacrev(function), axes)(states, *args[1:])
    for i, own in enumerate(states.numpy()):
        value, slope = one.value(own, *inputs[1:]), one.derivatives(own, *inputs[1:])[0]
        assert_close(many[i].numpy(), value.reshape(one.shape), 1e-9)
        assert_close(slopes[i].numpy().reshape(slope.shape), slope, 1e-9)


def test_all_states_are_one_call(adapter, model, state, monkeypatch):
    reference, x, v, tau = state
    calls = []
    one = chosen(model, "forward_dynamics", reference)
    parts = dataclasses.replace(
        one.parts,
        evaluate=lambda *args: calls.append("value") or one.parts.evaluate(*args),
        differentiate=lambda *args: calls.append("derivatives") or one.parts.differentiate(*args),
    )
    counted = dataclasses.replace(one, parts=parts)
    monkeypatch.setattr(adapter, "chosen", lambda *_, **__: counted)
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
    with pytest.raises(ValueError, match="tau: expected shape"):
        x = torch.zeros(3, model.nv)
        adapter.function(model, "forward_dynamics")(x, x, torch.zeros(3, model.nv + 1))
    function = adapter.function(model, "bias_forces")
    with pytest.raises(TypeError, match=r"v: expected a torch.Tensor, got ndarray"):
        function(torch.zeros(model.nv), np.zeros(model.nv))
    with pytest.raises(ValueError, match=r"do not broadcast: x \(2, .*v \(3, "):
        function(torch.zeros(2, model.nv), torch.zeros(3, model.nv))
    whole = function(torch.zeros(model.nv, dtype=torch.int64), torch.ones(model.nv).int())
    assert whole.dtype == torch.get_default_dtype()


def test_states_that_are_not_finite_are_nan(adapter, model, state):
    reference, x, v, tau = state
    function = adapter.function(model, "forward_dynamics", reference=reference, invalid="nan")
    many = leaf(np.stack([x, x * np.nan]))
    result = function(many, torch.tensor(v), torch.tensor(tau))
    result.sum().backward()
    for found in (result, many.grad):
        assert found[0].isfinite().all()
        assert found[1].isnan().all()
