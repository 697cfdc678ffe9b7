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
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike

from kempe._kempe import Model
from kempe.differentiable import Differentiable, LocalCoordinates, chosen

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
            _like(one, args).reshape(*shape, *one.shape[1:]) for one in algorithm.derivatives(*rows)
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
        return _like(algorithm.value(*rows), args).reshape(*shape, algorithm.size)

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
    frame: str | int | None = None,
) -> Callable[..., torch.Tensor]:
    """An algorithm as a PyTorch function.

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
    one = chosen(model, algorithm, reference, frame)

    def called(*args: torch.Tensor) -> torch.Tensor:
        if len(args) != len(one.inputs):
            raise TypeError(f"{algorithm} takes {', '.join(one.inputs)}; got {len(args)} arguments")
        found = _Evaluation.apply(one, *args)
        return found.reshape(*found.shape[:-1], *one.shape)

    return called
