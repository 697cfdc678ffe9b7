"""Kempe's algorithms as JAX functions, with exact derivatives.

    dynamics = kempe.jax.function(model, "forward_dynamics")   # a(x, v, tau)
    jax.jit(jax.vmap(dynamics))(x, v, tau); jax.grad(…)

x are local coordinates, nv numbers around a reference configuration (kempe.differentiable). The
algorithms run on the CPU, called back from compiled code; `vmap` computes all states in one call.
Derivatives of first order exist, forward and backward.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

from kempe._kempe import Model
from kempe.differentiable import Differentiable, LocalCoordinates, chosen

__all__ = ["LocalCoordinates", "function"]


def _called(algorithm: Differentiable) -> Callable[..., jax.Array]:
    nv, size, count = algorithm.coordinates.model.nv, algorithm.size, len(algorithm.inputs)

    def rows_of(args: tuple[np.ndarray, ...]) -> tuple[list[np.ndarray], tuple[int, ...]]:
        """All states as rows, or one state, and the shape of the states."""
        arrays = [np.asarray(x, np.float64) for x in args]
        shape = np.broadcast_shapes(*(x.shape[:-1] for x in arrays))
        rows = [np.broadcast_to(x, (*shape, nv)).reshape(-1, nv) for x in arrays]
        return (rows if shape else [x[0] for x in rows]), shape

    def result_type(*args: jax.Array) -> jnp.dtype:
        return jnp.result_type(float, *args)

    def value(*args: jax.Array) -> jax.Array:
        dtype = result_type(*args)

        def compute(*x: np.ndarray) -> np.ndarray:
            rows, shape = rows_of(x)
            return algorithm.value(*rows).reshape(*shape, size).astype(dtype)

        shape = jax.ShapeDtypeStruct((size,), dtype)
        return jax.pure_callback(compute, shape, *args, vmap_method="expand_dims")

    def derivatives(*args: jax.Array) -> tuple[jax.Array, ...]:
        dtype = result_type(*args)

        def compute(*x: np.ndarray) -> tuple[np.ndarray, ...]:
            rows, shape = rows_of(x)
            found = algorithm.derivatives(*rows)[:count]
            return tuple(one.reshape(*shape, size, nv).astype(dtype) for one in found)

        shapes = (jax.ShapeDtypeStruct((size, nv), dtype),) * count
        return tuple(jax.pure_callback(compute, shapes, *args, vmap_method="expand_dims"))

    custom = jax.custom_jvp(value)
    called: Callable[..., jax.Array] = custom

    @custom.defjvp  # type: ignore[untyped-decorator]
    def jvp(
        primals: tuple[jax.Array, ...], tangents: tuple[jax.Array, ...]
    ) -> tuple[jax.Array, jax.Array]:
        slopes = derivatives(*primals)
        return called(*primals), sum(J @ t for J, t in zip(slopes, tangents, strict=True))

    return called


def function(
    model: Model,
    algorithm: str,
    *,
    reference: ArrayLike | None = None,
    frame: str | int | None = None,
) -> Callable[..., jax.Array]:
    """An algorithm as a JAX function of vectors, for `jit`, `vmap`, `grad`, `jvp` and `jacobian`.

    Args:
        model: the model.
        algorithm: "forward_dynamics" (x, v, tau → a), "inverse_dynamics" (x, v, a → tau),
            "bias_forces" (x, v), "gravity_forces" (x), "center_of_mass" (x), or, with `frame`,
            "frame_position" (x).
        reference: configuration at x = 0; by default model.neutral().
        frame: of "frame_position".
    """
    return _called(chosen(model, algorithm, reference, frame))
