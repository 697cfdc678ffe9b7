import jax
import jax.numpy as jnp
import numpy as np
import pytest
from differences import assert_close

import kempe.jax
from kempe.differentiable import Differentiable, algorithm_names, chosen

jax.config.update("jax_enable_x64", True)


def test_value_gradient_and_batches(model, state):
    reference, x, v, tau = state
    function = kempe.jax.function(model, "forward_dynamics", reference=reference)
    expected = chosen(model, "forward_dynamics", reference)
    assert_close(jax.jit(function)(x, v, tau), expected.value(x, v, tau), 1e-12)
    forward = jax.jit(jax.jacfwd(function, argnums=(0, 1, 2)))(x, v, tau)
    backward = jax.jacrev(function, argnums=(0, 1, 2))(x, v, tau)
    for found in (forward, backward):
        for slope, own in zip(found, expected.derivatives(x, v, tau), strict=True):
            assert_close(slope, own, 1e-12)
    states = np.stack([x, 0.3 * x, -x])
    many = jax.jit(jax.vmap(function, in_axes=(0, None, None)))(states, v, tau)
    for found, own in zip(many, states, strict=True):
        assert_close(found, expected.value(own, v, tau), 1e-9)
    loss = jax.jit(jax.vmap(jax.grad(lambda y: function(y, v, tau).sum())))(states)
    for found, own in zip(loss, states, strict=True):
        assert_close(found, expected.derivatives(own, v, tau)[0].sum(axis=0), 1e-9)


@pytest.mark.parametrize("name", algorithm_names())
def test_every_algorithm(model, state, name):
    reference, *inputs = state
    frame = {"frame": model.frame_names[-1]} if name.startswith("frame_") else {}
    function = kempe.jax.function(model, name, reference=reference, **frame)
    expected = chosen(model, name, reference, **frame)
    inputs = inputs[: len(expected.inputs)]
    assert_close(function(*inputs), expected.value(*inputs).reshape(expected.shape), 1e-12)
    slope = jax.jacobian(function)(*inputs)
    own = expected.derivatives(*inputs)[0].reshape(*expected.shape, model.nv)
    assert_close(slope, own, 1e-12)


def test_vmap_is_one_call(model, state, monkeypatch):
    reference, x, v, tau = state
    calls = []
    one = chosen(model, "forward_dynamics", reference)

    def counted(called, kind):
        def wrapped(*args):
            calls.append((kind, args[0].shape[:-1]))
            return called(*args)

        return wrapped

    counting = Differentiable(
        one.name,
        one.coordinates,
        one.inputs,
        one.shape,
        counted(one.evaluate, "value"),
        counted(one.differentiate, "derivatives"),
    )
    monkeypatch.setattr(kempe.jax, "chosen", lambda *_: counting)
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
