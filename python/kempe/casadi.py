"""Kempe's algorithms as CasADi functions with exact Jacobians.

    dynamics = kempe.casadi.function(model, "forward_dynamics")   # a(x, v, tau)
    a = dynamics(x, v, tau)                                        # in any CasADi graph

x are local coordinates, nv numbers around a reference configuration (kempe.differentiable), so that
solvers need to know nothing of quaternions or loops. Second derivatives are not given: choose a
quasi-Newton Hessian, such as `{"ipopt.hessian_approximation": "limited-memory"}`.

Keep the function for as long as graphs use it: CasADi refers to it but does not own it, and
evaluating a graph whose function is gone fails with "Callback object has been deleted".
"""

from __future__ import annotations

import casadi
import numpy as np
from numpy.typing import ArrayLike

from kempe._kempe import Model
from kempe.differentiable import Differentiable, LocalCoordinates, chosen

__all__ = ["LocalCoordinates", "function"]


class _Callback(casadi.Callback):  # type: ignore[misc]
    """Of one state, or of several as columns."""

    def __init__(self, algorithm: Differentiable, states: int | None) -> None:
        super().__init__()
        self.algorithm = algorithm
        self.states = states

    def columns(self, count: int) -> casadi.Sparsity:
        return casadi.Sparsity.dense(count, self.states or 1)

    def input_sparsity(self) -> casadi.Sparsity:
        return self.columns(self.algorithm.coordinates.model.nv)

    def result_sparsity(self) -> casadi.Sparsity:
        """Matrices of several states lie side by side."""
        rows, *across = self.algorithm.shape
        return casadi.Sparsity.dense(rows, (across[0] if across else 1) * (self.states or 1))

    def rows_of(self, args: list[casadi.DM]) -> list[np.ndarray]:
        """States as rows, or one state."""
        rows = [np.array(x, float).T for x in args[: len(self.algorithm.inputs)]]
        return rows if self.states else [x[0] for x in rows]

    def by_columns(self, found: np.ndarray) -> np.ndarray:
        """Results (…, size, …) with the numbers of each matrix in CasADi's order, by columns."""
        if len(self.algorithm.shape) == 1:
            return found
        axis = 1 if self.states else 0
        order = np.arange(self.algorithm.size).reshape(self.algorithm.shape).T.ravel()
        return np.take(found, order, axis=axis)


class _Value(_Callback):
    def __init__(self, algorithm: Differentiable, states: int | None) -> None:
        super().__init__(algorithm, states)
        self.derivatives: list[casadi.Callback] = []  # owned, because CasADi does not
        self.construct(algorithm.name, {})

    def get_n_in(self) -> int:
        return len(self.algorithm.inputs)

    def get_n_out(self) -> int:
        return 1

    def get_name_in(self, i: int) -> str:
        return self.algorithm.inputs[i]

    def get_name_out(self, i: int) -> str:
        return "result"

    def get_sparsity_in(self, i: int) -> casadi.Sparsity:
        return self.input_sparsity()

    def get_sparsity_out(self, i: int) -> casadi.Sparsity:
        return self.result_sparsity()

    def eval(self, args: list[casadi.DM]) -> list[casadi.DM]:
        found = self.by_columns(self.algorithm.value(*self.rows_of(args)))
        return [casadi.DM(self.result_sparsity(), found.ravel())]

    def has_jacobian(self) -> bool:
        return True

    def get_jacobian(
        self, name: str, inames: list[str], onames: list[str], opts: dict[str, object]
    ) -> casadi.Callback:
        found = _Jacobian(self.algorithm, self.states, name, inames, onames, opts)
        self.derivatives.append(found)
        return found


class _Jacobian(_Callback):
    """∂result/∂input of every input; those of mapped functions are block diagonal."""

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
        return len(self.algorithm.inputs) + 1

    def get_n_out(self) -> int:
        return len(self.algorithm.inputs)

    def get_name_in(self, i: int) -> str:
        return self.inames[i]

    def get_name_out(self, i: int) -> str:
        return self.onames[i]

    def get_sparsity_in(self, i: int) -> casadi.Sparsity:
        if i < len(self.algorithm.inputs):
            return self.input_sparsity()
        return casadi.Sparsity(*self.result_sparsity().shape)  # the result is not used

    def get_sparsity_out(self, i: int) -> casadi.Sparsity:
        block = casadi.Sparsity.dense(self.algorithm.size, self.algorithm.coordinates.model.nv)
        return casadi.diagcat(*[block] * (self.states or 1))

    def eval(self, args: list[casadi.DM]) -> list[casadi.DM]:
        # Numbers of block-diagonal matrices by columns, block after block.
        return [
            casadi.DM(self.get_sparsity_out(i), np.swapaxes(self.by_columns(one), -1, -2).ravel())
            for i, one in enumerate(self.algorithm.derivatives(*self.rows_of(args)))
        ]


def function(
    model: Model,
    algorithm: str,
    *,
    reference: ArrayLike | None = None,
    states: int | None = None,
    frame: str | int | None = None,
) -> casadi.Callback:
    """An algorithm as a CasADi function with its Jacobian.

    Args:
        model: the model.
        algorithm: "forward_dynamics" (x, v, tau → a), "inverse_dynamics" (x, v, a → tau),
            "bias_forces" (x, v), "gravity_forces" (x), "mass_matrix" (x), "center_of_mass" (x),
            "center_of_mass_velocity" (x, v), "center_of_mass_acceleration" (x, v, a), "momentum"
            (x, v), "momentum_rate" (x, v, a), or, with `frame`, "frame_position" (x),
            "frame_rotation" (x), "frame_velocity" (x, v), "frame_acceleration" (x, v, a).
        reference: configuration at x = 0; by default model.neutral().
        states: number of states; inputs and result then have one column for each (results that are
            matrices lie side by side), and all are computed at once, on all threads.
        frame: of algorithms of a frame.

    Returns:
        The function, which owns its derivatives: keep it for as long as graphs use it.

    Raises:
        ValueError: there is no such algorithm, it needs a frame, or `states` is less than 1.
    """
    if states is not None and states < 1:
        raise ValueError(f"states: must be at least 1, got {states}")
    return _Value(chosen(model, algorithm, reference, frame), states)
