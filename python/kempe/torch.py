"""Kempe's algorithms as PyTorch functions, with exact derivatives.

    dynamics = kempe.torch.function(model, "forward_dynamics")   # a(x, v, tau)
    dynamics(x, v, tau).sum().backward()

x are local coordinates, nv numbers around a reference configuration (kempe.differentiable).
Tensors are (nv,) or (…, nv), with leading dimensions that are broadcast; all states are computed in
one call, on the CPU and in double precision, and the result has the precision and the device of the
inputs. Derivatives of first order exist, backward and forward, also under `torch.func`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import ArrayLike

from kempe._kempe import Model
from kempe.differentiable import Differentiable, LocalCoordinates, Options, chosen

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["LocalCoordinates", "function"]


def _rows(args: tuple[torch.Tensor, ...]) -> tuple[list[np.ndarray], torch.Size]:
    """All states as rows, and the shape of the states."""
    shape = torch.broadcast_shapes(*(x.shape[:-1] for x in args))
    return [
        x.detach().expand(*shape, x.shape[-1]).reshape(-1, x.shape[-1]).cpu().double().numpy()
        for x in args
    ], shape


def _like(found: np.ndarray, args: tuple[torch.Tensor, ...]) -> torch.Tensor:
    dtype = args[0].dtype
    for x in args[1:]:
        dtype = torch.promote_types(dtype, x.dtype)
    if not dtype.is_floating_point:
        dtype = torch.get_default_dtype()
    return torch.as_tensor(found).to(args[0].device, dtype)


def _in_front(
    in_dims: tuple[int | None, ...], args: tuple[torch.Tensor, ...]
) -> tuple[torch.Tensor, ...]:
    """Arguments of vmap with their batch as first dimension, or one of size 1."""
    moved = [
        x.unsqueeze(0) if dim is None else x.movedim(dim, 0)
        for x, dim in zip(args, in_dims, strict=True)
    ]
    most = max(x.ndim for x in moved)
    return tuple(x.reshape(x.shape[0], *[1] * (most - x.ndim), *x.shape[1:]) for x in moved)


class _Slopes(torch.autograd.Function):  # type: ignore[misc]
    """The derivatives by all inputs, (…, size, nv) each."""

    @staticmethod
    def forward(algorithm: Differentiable, *args: torch.Tensor) -> tuple[torch.Tensor, ...]:
        rows, shape = _rows(args)
        return tuple(
            _like(one.reshape(*shape, *one.shape[1:]), args) for one in algorithm.derivatives(*rows)
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[torch.Tensor, ...]) -> None:
        ctx.name = inputs[0].name

    @staticmethod
    def backward(ctx: Any, *_: torch.Tensor) -> None:
        raise NotImplementedError(
            f"kempe.torch: {ctx.name} has no second derivatives. Leave out create_graph=True, or "
            "detach the gradient."
        )

    jvp = backward

    @staticmethod
    def vmap(
        info: Any, in_dims: tuple[int | None, ...], algorithm: Differentiable, *args: torch.Tensor
    ) -> tuple[tuple[torch.Tensor, ...], tuple[int, ...]]:
        return _Slopes.apply(algorithm, *_in_front(in_dims[1:], args)), (0,) * len(args)


class _Evaluation(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(algorithm: Differentiable, *args: torch.Tensor) -> torch.Tensor:
        rows, shape = _rows(args)
        return _like(algorithm.value(*rows).reshape(*shape, algorithm.size), args)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
        ctx.algorithm, *args = inputs
        ctx.save_for_backward(*args)
        ctx.save_for_forward(*args)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        args = ctx.saved_tensors
        slopes = _Slopes.apply(ctx.algorithm, *args)
        return None, *(
            torch.einsum("...i,...ij->...j", gradient, slope).sum_to_size(x.shape).to(x.dtype)
            for x, slope in zip(args, slopes, strict=True)
        )

    @staticmethod
    def jvp(ctx: Any, _: None, *tangents: torch.Tensor | None) -> torch.Tensor:
        slopes = _Slopes.apply(ctx.algorithm, *ctx.saved_tensors)
        return sum(
            torch.einsum("...ij,...j->...i", slope, t.to(slope.dtype))
            for slope, t in zip(slopes, tangents, strict=True)
            if t is not None
        )

    @staticmethod
    def vmap(
        info: Any, in_dims: tuple[int | None, ...], algorithm: Differentiable, *args: torch.Tensor
    ) -> tuple[torch.Tensor, int]:
        return _Evaluation.apply(algorithm, *_in_front(in_dims[1:], args)), 0


def function(
    model: Model,
    algorithm: str,
    *,
    reference: ArrayLike | None = None,
    **options: Unpack[Options],
) -> Callable[..., torch.Tensor]:
    """An algorithm as a PyTorch function.

    Args:
        model: the model.
        algorithm: its name, such as "forward_dynamics"; kempe.differentiable lists them.
        reference: configuration at x = 0; by default model.neutral().
        frame, frame_reference, external, external_reference, constraints, time: of algorithms that
            take them (kempe.differentiable.chosen).

    Raises:
        ValueError: there is no such algorithm or frame, or it needs or does not take an option.
    """
    one = chosen(model, algorithm, reference, **options)

    def called(*args: torch.Tensor) -> torch.Tensor:
        if len(args) != len(one.inputs):
            raise TypeError(f"{algorithm} takes {', '.join(one.inputs)}; got {len(args)} arguments")
        for name, size, x in zip(one.inputs, one.sizes, args, strict=True):
            if not isinstance(x, torch.Tensor):
                raise TypeError(f"{name}: expected a torch.Tensor, got {type(x).__name__}")
            if x.ndim == 0 or x.shape[-1] != size:
                raise ValueError(f"{name}: expected shape (…, {size}), got {tuple(x.shape)}")
        try:
            torch.broadcast_shapes(*(x.shape[:-1] for x in args))
        except RuntimeError:
            given = ", ".join(
                f"{name} {tuple(x.shape)}" for name, x in zip(one.inputs, args, strict=True)
            )
            raise ValueError(f"leading dimensions do not broadcast: {given}") from None
        found = _Evaluation.apply(one, *args)
        return found.reshape((*found.shape[:-1], *one.shape))

    return called
