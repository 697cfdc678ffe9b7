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
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

from kempe._kempe import Model
from kempe.differentiable import Differentiable, LocalCoordinates, Options, chosen

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["LocalCoordinates", "function"]


def _called(algorithm: Differentiable) -> Callable[..., jax.Array]:
    size, sizes, count = algorithm.size, algorithm.sizes, len(algorithm.inputs)

    def rows_of(args: tuple[np.ndarray, ...]) -> tuple[list[np.ndarray], tuple[int, ...]]:
        """All states as rows, or one state, and the shape of the states."""
        arrays = [np.asarray(x, np.float64) for x in args]
        shape = np.broadcast_shapes(*(x.shape[:-1] for x in arrays))
        rows = [
            np.broadcast_to(x, (*shape, n)).reshape(-1, n)
            for x, n in zip(arrays, sizes, strict=True)
        ]
        return (rows if shape else [x[0] for x in rows]), shape

    def result_type(*args: jax.Array) -> jnp.dtype:
        return jnp.result_type(float, *args)

    def value(*args: jax.Array) -> jax.Array:
        dtype = result_type(*args)

        def compute(*x: np.ndarray) -> np.ndarray:
            rows, shape = rows_of(x)
            return algorithm.value(*rows).reshape((*shape, *algorithm.shape)).astype(dtype)

        shape = jax.ShapeDtypeStruct(algorithm.shape, dtype)
        return jax.pure_callback(compute, shape, *args, vmap_method="expand_dims")

    def derivatives(*args: jax.Array) -> tuple[jax.Array, ...]:
        dtype = result_type(*args)

        def compute(*x: np.ndarray) -> tuple[np.ndarray, ...]:
            rows, shape = rows_of(x)
            found = algorithm.derivatives(*rows)
            return tuple(
                one.reshape(*shape, size, n).astype(dtype)
                for one, n in zip(found, sizes, strict=True)
            )

        shapes = tuple(jax.ShapeDtypeStruct((size, n), dtype) for n in sizes)
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
        for name, n, x in zip(algorithm.inputs, sizes, args, strict=True):
            if jnp.shape(x) != (n,):
                raise ValueError(
                    f"{name}: expected shape ({n},), got {jnp.shape(x)}; use jax.vmap for several "
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
    **options: Unpack[Options],
) -> Callable[..., jax.Array]:
    """An algorithm as a JAX function of vectors, for `jit`, `vmap`, `grad`, `jvp` and `jacobian`.

    Args:
        model: the model.
        algorithm: its name, such as "forward_dynamics"; kempe.differentiable lists them.
        reference: configuration at x = 0; by default model.neutral().
        frame, frame_reference, external, external_reference, constraints, time: of algorithms that
            take them (kempe.differentiable.chosen).

    Raises:
        ValueError: there is no such algorithm or frame, or it needs or does not take an option.
    """
    return _called(chosen(model, algorithm, reference, **options))
