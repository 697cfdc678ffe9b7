"""Kempe's algorithms as JAX functions, with exact derivatives.

    dynamics = kempe.jax.function(model, "forward_dynamics")   # a(x, v, tau)
    jax.jit(jax.vmap(dynamics))(x, v, tau); jax.grad(…)

x are local coordinates, nv numbers around a reference configuration (kempe.differentiable). The
algorithms run on the CPU, called back from compiled code; `vmap` computes all states in one call.
Derivatives of first order exist, forward and backward. Kempe computes in double precision; JAX
passes and returns float32 unless `jax.config.update("jax_enable_x64", True)` is set, and rounding
to it costs 1e-7 of the largest numbers.
"""

from __future__ import annotations

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
            return algorithm.value(*rows).reshape(*shape, *algorithm.shape).astype(dtype)

        shape = jax.ShapeDtypeStruct(algorithm.shape, dtype)
        return jax.pure_callback(compute, shape, *args, vmap_method="expand_dims")

    def derivatives(*args: jax.Array) -> tuple[jax.Array, ...]:
        dtype = result_type(*args)

        def compute(*x: np.ndarray) -> tuple[np.ndarray, ...]:
            rows, shape = rows_of(x)
            found = algorithm.derivatives(*rows)
            return tuple(one.reshape(*shape, size, nv).astype(dtype) for one in found)

        shapes = (jax.ShapeDtypeStruct((size, nv), dtype),) * count
        return tuple(jax.pure_callback(compute, shapes, *args, vmap_method="expand_dims"))

    slopes = jax.custom_jvp(derivatives)

    @slopes.defjvp  # type: ignore[untyped-decorator]
    def second(primals: tuple[jax.Array, ...], tangents: tuple[jax.Array, ...]) -> None:
        raise NotImplementedError(
            f"kempe.jax: {algorithm.name} has no second derivatives; "
            "jax.lax.stop_gradient treats a first derivative as constant"
        )

    custom = jax.custom_jvp(value)

    @custom.defjvp  # type: ignore[untyped-decorator]
    def jvp(
        primals: tuple[jax.Array, ...], tangents: tuple[jax.Array, ...]
    ) -> tuple[jax.Array, jax.Array]:
        found = slopes(*primals)
        along = sum(J @ t for J, t in zip(found, tangents, strict=True))
        return custom(*primals), along.reshape(algorithm.shape)

    def called(*args: jax.Array) -> jax.Array:
        if len(args) != count:
            raise TypeError(
                f"{algorithm.name} takes {', '.join(algorithm.inputs)}; got {len(args)} arguments"
            )
        for name, x in zip(algorithm.inputs, args, strict=True):
            if jnp.shape(x) != (nv,):
                raise ValueError(
                    f"{name}: expected shape ({nv},), got {jnp.shape(x)}; use jax.vmap for several "
                    "states"
                )
        found: jax.Array = custom(*args)
        return found

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
            "bias_forces" (x, v), "gravity_forces" (x), "mass_matrix" (x), "center_of_mass" (x),
            "center_of_mass_velocity" (x, v), "center_of_mass_acceleration" (x, v, a), "momentum"
            (x, v), "momentum_rate" (x, v, a), or, with `frame`, "frame_position" (x),
            "frame_rotation" (x), "frame_velocity" (x, v), "frame_acceleration" (x, v, a).
        reference: configuration at x = 0; by default model.neutral().
        frame: of algorithms of a frame.

    Raises:
        ValueError: there is no such algorithm, or it needs a frame.
    """
    return _called(chosen(model, algorithm, reference, frame))
