import jax
import numpy as np
from differences import assert_close

import kempe.jax
from kempe.differentiable import chosen

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
