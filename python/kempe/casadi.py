"""Kempe's algorithms as CasADi functions with exact derivatives.

    dynamics = kempe.casadi.function(model, "forward_dynamics")   # a(x, v, tau)
    a = dynamics(x, v, tau)                                        # in any CasADi graph

x are local coordinates, nv numbers around a reference configuration (kempe.differentiable), so that
solvers need to know nothing of quaternions or loops. Dynamics, energies and positions of points
have second derivatives too, so that IPOPT works with exact Hessians; graphs with other algorithms
need a quasi-Newton Hessian: `{"ipopt.hessian_approximation": "limited-memory"}`.

Keep the function for as long as graphs use it: CasADi refers to it but does not own it, and
evaluating a graph whose function is gone fails with "Callback object has been deleted".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi
import numpy as np
from numpy.typing import ArrayLike

from kempe._kempe import Model
from kempe.differentiable import Differentiable, LocalCoordinates, Options, chosen

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["LocalCoordinates", "function"]


class _Callback(casadi.Callback):  # type: ignore[misc]
    """Of one state, or of several as columns; owns its derivatives, because CasADi does not."""

    def __init__(self, algorithm: Differentiable, states: int | None) -> None:
        super().__init__()
        self.algorithm = algorithm
        self.states = states
        self.derivatives: list[casadi.Callback] = []

    def kept(self, derivative: casadi.Callback) -> casadi.Callback:
        self.derivatives.append(derivative)
        return derivative

    def input_sparsity(self, i: int) -> casadi.Sparsity:
        return casadi.Sparsity.dense(self.algorithm.sizes[i], self.states or 1)

    def result_sparsity(self) -> casadi.Sparsity:
        """Matrices of several states lie side by side."""
        rows, across = (*self.algorithm.shape, 1, 1)[:2]
        return casadi.Sparsity.dense(rows, across * (self.states or 1))

    def blocks(self, rows: int, columns: int) -> casadi.Sparsity:
        """A matrix of each state, block-diagonal."""
        return casadi.diagcat(*[casadi.Sparsity.dense(rows, columns)] * (self.states or 1))

    def slope_sparsity(self, by: int) -> casadi.Sparsity:
        """Of the result by an input; states do not depend on one another."""
        return self.blocks(self.algorithm.size, self.algorithm.sizes[by])

    def curve_sparsity(self, of: int, by: int) -> casadi.Sparsity:
        """Of a part of the gradient by an input, by the result or by the weights."""
        count, sizes = len(self.algorithm.inputs), self.algorithm.sizes
        if by == count:  # the result is not used
            rows, columns = self.input_sparsity(of).numel(), self.result_sparsity().numel()
            return casadi.Sparsity(rows, columns)
        return self.blocks(sizes[of], sizes[by] if by < count else self.algorithm.size)

    def rows_of(self, args: list[casadi.DM]) -> list[np.ndarray]:
        """States as rows, or one state."""
        rows = [np.array(x, float).T for x in args]
        return rows if self.states else [x[0] for x in rows]

    def by_columns(self, found: np.ndarray) -> np.ndarray:
        """Results (…, size, …) with the numbers of each matrix in CasADi's order, by columns."""
        if len(self.algorithm.shape) < 2:
            return found
        axis = 1 if self.states else 0
        order = np.arange(self.algorithm.size).reshape(self.algorithm.shape).T.ravel()
        return np.take(found, order, axis=axis)


class _Named(_Callback):
    """A derivative, whose names CasADi gives."""

    def __init__(
        self,
        algorithm: Differentiable,
        states: int | None,
        name: str,
        inames: list[str],
        onames: list[str],
        opts: dict[str, object],
    ) -> None:
        super().__init__(algorithm, states)
        self.inames, self.onames = inames, onames
        self.construct(name, opts)

    def get_n_in(self) -> int:
        return len(self.inames)

    def get_n_out(self) -> int:
        return len(self.onames)

    def get_name_in(self, i: int) -> str:
        return self.inames[i]

    def get_name_out(self, i: int) -> str:
        return self.onames[i]


class _Value(_Callback):
    def __init__(self, algorithm: Differentiable, states: int | None) -> None:
        super().__init__(algorithm, states)
        # One product with the transposed Jacobian is computed as such, several from the Jacobian.
        numbers = self.result_sparsity().nnz()
        self.construct(algorithm.name, {"jac_penalty": 1.5 / max(1, numbers)})

    def get_n_in(self) -> int:
        return len(self.algorithm.inputs)

    def get_n_out(self) -> int:
        return 1

    def get_name_in(self, i: int) -> str:
        return self.algorithm.inputs[i]

    def get_name_out(self, i: int) -> str:
        return "result"

    def get_sparsity_in(self, i: int) -> casadi.Sparsity:
        return self.input_sparsity(i)

    def get_sparsity_out(self, i: int) -> casadi.Sparsity:
        return self.result_sparsity()

    def eval(self, args: list[casadi.DM]) -> list[casadi.DM]:
        found = self.by_columns(self.algorithm.value(*self.rows_of(args)))
        return [casadi.DM(self.result_sparsity(), found.ravel())]

    def has_jac_sparsity(self, of: int, by: int) -> bool:
        return True

    def get_jac_sparsity(self, of: int, by: int, symmetric: bool) -> casadi.Sparsity:
        return self.slope_sparsity(by)

    def has_jacobian(self) -> bool:
        return True

    def get_jacobian(
        self, name: str, inames: list[str], onames: list[str], opts: dict[str, object]
    ) -> casadi.Callback:
        return self.kept(_Jacobian(self.algorithm, self.states, name, inames, onames, opts))

    def has_reverse(self, count: int) -> bool:
        return count == 1 and self.algorithm.has_second_derivatives

    def get_reverse(
        self, count: int, name: str, inames: list[str], onames: list[str], opts: dict[str, object]
    ) -> casadi.Callback:
        return self.kept(_Gradient(self.algorithm, self.states, name, inames, onames, opts))


class _Jacobian(_Named):
    """∂result/∂input of every input, of the inputs and the result; of states block-diagonal."""

    def get_sparsity_in(self, i: int) -> casadi.Sparsity:
        if i < len(self.algorithm.inputs):
            return self.input_sparsity(i)
        return casadi.Sparsity(*self.result_sparsity().shape)  # the result is not used

    def get_sparsity_out(self, i: int) -> casadi.Sparsity:
        return self.slope_sparsity(i)

    def eval(self, args: list[casadi.DM]) -> list[casadi.DM]:
        # Numbers of block-diagonal matrices by columns, block after block.
        states = self.rows_of(args[: len(self.algorithm.inputs)])
        return [
            casadi.DM(self.get_sparsity_out(i), np.swapaxes(self.by_columns(one), -1, -2).ravel())
            for i, one in enumerate(self.algorithm.derivatives(*states))
        ]

    def has_jacobian(self) -> bool:
        return True

    def get_jacobian(
        self, name: str, inames: list[str], onames: list[str], opts: dict[str, object]
    ) -> casadi.Callback:
        raise NotImplementedError(_NO_SECOND.format(self.algorithm.name))


_NO_SECOND = (
    "kempe.casadi: {} has no second derivatives of this kind. Choose a quasi-Newton Hessian, "
    "such as {{'ipopt.hessian_approximation': 'limited-memory'}}."
)


class _Gradient(_Named):
    """Weights · ∂result/∂input of every input, of the inputs, the result and the weights.

    Results are vectors or numbers here: matrices have no second derivatives.
    """

    def get_sparsity_in(self, i: int) -> casadi.Sparsity:
        count = len(self.algorithm.inputs)
        if i < count:
            return self.input_sparsity(i)
        if i == count:
            return casadi.Sparsity(*self.result_sparsity().shape)  # the result is not used
        return self.result_sparsity()

    def get_sparsity_out(self, i: int) -> casadi.Sparsity:
        return self.input_sparsity(i)

    def eval(self, args: list[casadi.DM]) -> list[casadi.DM]:
        count = len(self.algorithm.inputs)
        *states, weights = self.rows_of([*args[:count], args[count + 1]])
        return [
            casadi.DM(self.input_sparsity(i), np.einsum("...i,...ij->...j", weights, one).ravel())
            for i, one in enumerate(self.algorithm.derivatives(*states))
        ]

    def has_jac_sparsity(self, of: int, by: int) -> bool:
        return True

    def get_jac_sparsity(self, of: int, by: int, symmetric: bool) -> casadi.Sparsity:
        return self.curve_sparsity(of, by)

    def has_jacobian(self) -> bool:
        return True

    def get_jacobian(
        self, name: str, inames: list[str], onames: list[str], opts: dict[str, object]
    ) -> casadi.Callback:
        return self.kept(_Hessian(self.algorithm, self.states, name, inames, onames, opts))


class _Hessian(_Named):
    """The Jacobian of _Gradient, of its inputs and its results."""

    def get_sparsity_in(self, i: int) -> casadi.Sparsity:
        count = len(self.algorithm.inputs)
        if i < count:
            return self.input_sparsity(i)
        if i == count + 1:
            return self.result_sparsity()
        # The result and the gradient are not used.
        unused = self.result_sparsity() if i == count else self.input_sparsity(i - count - 2)
        return casadi.Sparsity(*unused.shape)

    def get_sparsity_out(self, i: int) -> casadi.Sparsity:
        return self.curve_sparsity(*divmod(i, len(self.algorithm.inputs) + 2))

    def eval(self, args: list[casadi.DM]) -> list[casadi.DM]:
        count = len(self.algorithm.inputs)
        *states, weights = self.rows_of([*args[:count], args[count + 1]])
        curve = self.algorithm.second_derivatives(weights, *states)
        slopes = self.algorithm.derivatives(*states)
        ends = np.cumsum(self.algorithm.sizes)[:-1]
        found: list[casadi.DM] = []
        for slope, rows in zip(slopes, np.split(curve, ends, axis=-2), strict=True):
            # Both matrices are written by columns: blocks of the symmetric Hessian, and slopeᵀ.
            blocks = [np.swapaxes(one, -1, -2) for one in np.split(rows, ends, axis=-1)]
            for block in [*blocks, np.empty(0), slope]:
                found.append(casadi.DM(self.get_sparsity_out(len(found)), block.ravel()))
        return found


def function(
    model: Model,
    algorithm: str,
    *,
    reference: ArrayLike | None = None,
    states: int | None = None,
    **options: Unpack[Options],
) -> casadi.Callback:
    """An algorithm as a CasADi function with its Jacobian.

    Args:
        model: the model.
        algorithm: its name, such as "forward_dynamics"; kempe.differentiable lists them.
        reference: configuration at x = 0; by default model.neutral().
        states: number of states; inputs and result then have one column for each (results that are
            matrices lie side by side), and all are computed at once, on all threads.
        frame, frame_reference, external, external_reference, constraints, time: of algorithms that
            take them (kempe.differentiable.chosen).

    Returns:
        The function, which owns its derivatives: keep it for as long as graphs use it.

    Raises:
        ValueError: there is no such algorithm or frame, it needs or does not take an option, or
            `states` is less than 1.
    """
    if states is not None and states < 1:
        raise ValueError(f"states: must be at least 1, got {states}")
    return _Value(chosen(model, algorithm, reference, **options), states)
