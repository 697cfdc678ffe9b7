"""JAX functions of all algorithms under its transformations."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from differences import assert_close
from differentiable_cases import CASES, case_name, prepared

import kempe.jax
from kempe.differentiable import chosen

jax.config.update("jax_enable_x64", True)


@pytest.mark.parametrize("case", CASES, ids=case_name)
def test_every_algorithm(model, case):
    """Values, derivatives forward and backward, compiled and of many states."""
    one, options, inputs = prepared(model, case)
    function = kempe.jax.function(model, case[0], **options)
    assert_close(jax.jit(function)(*inputs), one.value(*inputs).reshape(one.shape), 1e-12)
    each = tuple(range(len(inputs)))
    for jacobian in (jax.jit(jax.jacfwd(function, each)), jax.jacrev(function, each)):
        slopes = zip(jacobian(*inputs), one.derivatives(*inputs), one.sizes, strict=True)
        for found, slope, size in slopes:
            assert_close(found, slope.reshape(*one.shape, size), 1e-12)

    def loss(*args):
        return (function(*args) ** 2).sum()

    # Many x at the same other inputs.
    states = np.stack([inputs[0], 0.3 * inputs[0], -inputs[0]])
    axes = (0, *[None] * (len(inputs) - 1))
    many = jax.jit(jax.vmap(function, axes))(states, *inputs[1:])
    gradients = jax.jit(jax.vmap(jax.grad(loss, each), axes))(states, *inputs[1:])
    for i, own in enumerate(states):
        value, slopes = one.value(own, *inputs[1:]), one.derivatives(own, *inputs[1:])
        assert_close(many[i], value.reshape(one.shape), 1e-9)
        for gradient, slope in zip(gradients, slopes, strict=True):
            assert_close(gradient[i], 2 * value @ slope, 1e-9)


def test_vmap_is_one_call(model, state, monkeypatch):
    reference, x, v, tau = state
    calls = []
    one = chosen(model, "forward_dynamics", reference)

    def counted(called, kind):
        def wrapped(*args):
            calls.append((kind, args[0].shape[:-1]))
            return called(*args)

        return wrapped

    parts = dataclasses.replace(
        one.parts,
        evaluate=counted(one.parts.evaluate, "value"),
        differentiate=counted(one.parts.differentiate, "derivatives"),
    )
    counting = dataclasses.replace(one, parts=parts)
    monkeypatch.setattr(kempe.jax, "chosen", lambda *_, **__: counting)
    function = kempe.jax.function(model, "forward_dynamics")
    many = [jnp.tile(y, (7, 1)) for y in (x, v, tau)]
    jax.block_until_ready(jax.jit(jax.vmap(function))(*many))
    assert calls == [("value", (7,))]
    calls.clear()
    nested = jax.vmap(jax.vmap(function, (0, None, None)), (None, 0, None))
    assert nested(many[0], many[1][:3], tau).shape == (3, 7, model.nv)
    assert calls == [("value", (21,))]
    calls.clear()
    jax.block_until_ready(jax.jit(jax.vmap(jax.jacfwd(function)))(*many))
    assert [shape for kind, shape in calls if kind == "derivatives"] == [(7,)]


def test_precision_follows_jax(model, state):
    reference, *inputs = state
    function = kempe.jax.function(model, "forward_dynamics", reference=reference)
    exact = function(*inputs)
    assert exact.dtype == jnp.float64
    try:
        jax.config.update("jax_enable_x64", False)
        single = jax.jit(function)(*(jnp.asarray(y, jnp.float32) for y in inputs))
        assert single.dtype == jnp.float32
    finally:
        jax.config.update("jax_enable_x64", True)
    # Rounded inputs and outputs, computed in double.
    rounded = [np.asarray(y, np.float32).astype(float) for y in inputs]
    assert_close(single, chosen(model, "forward_dynamics", reference).value(*rounded), 1e-7)


def test_second_derivatives_are_refused(model, state):
    reference, x, v, tau = state
    function = kempe.jax.function(model, "forward_dynamics", reference=reference)
    with pytest.raises(NotImplementedError, match="forward_dynamics has no second derivatives"):
        jax.hessian(lambda y: function(y, v, tau).sum())(x)


def test_mistakes_are_named(model):
    function = kempe.jax.function(model, "forward_dynamics")
    with pytest.raises(TypeError, match="x, v, tau"):
        function(jnp.zeros(model.nv))
    with pytest.raises(ValueError, match="vmap"):
        function(*(jnp.zeros((2, model.nv)),) * 3)


def test_states_that_are_not_finite_are_nan(model, state):
    reference, x, v, tau = state
    function = kempe.jax.function(model, "forward_dynamics", reference=reference, invalid="nan")
    gradient = jax.vmap(jax.value_and_grad(lambda y: function(y, v, tau).sum()))
    for found in gradient(np.stack([x, x * np.nan])):
        assert jnp.isfinite(found[0]).all()
        assert jnp.isnan(found[1]).all()
