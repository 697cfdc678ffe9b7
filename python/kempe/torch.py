"""Kempe's algorithms as PyTorch functions, with exact derivatives.

    dynamics = kempe.torch.function(model, "forward_dynamics")   # a(x, v, tau)
    dynamics(x, v, tau).sum().backward()

x are local coordinates, nv numbers around a reference configuration (kempe.differentiable).
Tensors are (nv,) or (…, nv), in the precision that they have, on the CPU.
"""

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


class _Evaluation(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(ctx: Any, algorithm: Differentiable, *args: torch.Tensor) -> torch.Tensor:
        ctx.algorithm = algorithm
        ctx.save_for_backward(*args)
        rows, shape = _rows(args)
        found = algorithm.value(*rows)
        return torch.as_tensor(found).to(args[0]).reshape(*shape, algorithm.size)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        args = ctx.saved_tensors
        rows, _ = _rows(args)
        outer = gradient.detach().reshape(-1, 1, ctx.algorithm.size).double().numpy()
        gradients = []
        found = ctx.algorithm.derivatives(*rows)
        for x, slope in zip(args, found, strict=False):
            own = torch.as_tensor((outer @ slope)[:, 0]).to(x)
            gradients.append(own.reshape(*gradient.shape[:-1], -1).sum_to_size(x.shape))
        return None, *gradients


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
            "bias_forces" (x, v), "gravity_forces" (x), "center_of_mass" (x), or, with `frame`,
            "frame_position" (x).
        reference: configuration at x = 0; by default model.neutral().
        frame: of "frame_position".
    """
    one = chosen(model, algorithm, reference, frame)
    return lambda *args: _Evaluation.apply(one, *args)
