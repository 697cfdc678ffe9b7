"""Kempe's algorithms as CasADi functions with exact Jacobians.

    dynamics = kempe.casadi.function(model, "forward_dynamics")   # a(x, v, tau)
    a = dynamics(x, v, tau)                                        # in any CasADi graph

x are local coordinates, nv numbers around a reference configuration (kempe.differentiable), so that
solvers need to know nothing of quaternions or loops. Second derivatives are not given: choose a
quasi-Newton Hessian, such as `{"ipopt.hessian_approximation": "limited-memory"}`.
"""

import casadi
import numpy as np
from numpy.typing import ArrayLike

from kempe._kempe import Model
from kempe.differentiable import Differentiable, LocalCoordinates, chosen

__all__ = ["LocalCoordinates", "function"]

# CasADi does not keep callbacks alive that are part of a graph.
_kept: list[casadi.Callback] = []


class _Value(casadi.Callback):  # type: ignore[misc]
    def __init__(self, algorithm: Differentiable, states: int | None) -> None:
        super().__init__()
        self.algorithm = algorithm
        self.states = states
        self.construct(algorithm.name, {})
        _kept.append(self)

    def get_n_in(self) -> int:
        return len(self.algorithm.inputs)

    def get_n_out(self) -> int:
        return 1

    def get_name_in(self, i: int) -> str:
        return self.algorithm.inputs[i]

    def get_name_out(self, i: int) -> str:
        return "result"

    def get_sparsity_in(self, i: int) -> casadi.Sparsity:
        return casadi.Sparsity.dense(self.algorithm.coordinates.model.nv, self.states or 1)

    def get_sparsity_out(self, i: int) -> casadi.Sparsity:
        return casadi.Sparsity.dense(self.algorithm.size, self.states or 1)

    def arguments(self, args: list[casadi.DM]) -> list[np.ndarray]:
        """States as rows, or one state."""
        rows = [np.array(x, float).T for x in args[: self.get_n_in()]]
        return rows if self.states else [x[0] for x in rows]

    def eval(self, args: list[casadi.DM]) -> list[casadi.DM]:
        return [casadi.DM(self.algorithm.value(*self.arguments(args)).T)]

    def has_jacobian(self) -> bool:
        return True

    def get_jacobian(
        self, name: str, inames: list[str], onames: list[str], opts: dict[str, object]
    ) -> casadi.Callback:
        return _Jacobian(self, name, inames, onames, opts)


class _Jacobian(casadi.Callback):  # type: ignore[misc]
    """∂result/∂input of every input; those of mapped functions are block diagonal."""

    def __init__(
        self,
        value: _Value,
        name: str,
        inames: list[str],
        onames: list[str],
        opts: dict[str, object],
    ) -> None:
        super().__init__()
        self.value = value
        self.inames, self.onames = inames, onames
        self.construct(name, opts)
        _kept.append(self)

    def get_n_in(self) -> int:
        return self.value.get_n_in() + 1

    def get_n_out(self) -> int:
        return self.value.get_n_in()

    def get_name_in(self, i: int) -> str:
        return self.inames[i]

    def get_name_out(self, i: int) -> str:
        return self.onames[i]

    def get_sparsity_in(self, i: int) -> casadi.Sparsity:
        if i < self.value.get_n_in():
            return self.value.get_sparsity_in(i)
        return casadi.Sparsity(*self.value.get_sparsity_out(0).shape)  # the result is not used

    def get_sparsity_out(self, i: int) -> casadi.Sparsity:
        algorithm = self.value.algorithm
        block = casadi.Sparsity.dense(algorithm.size, algorithm.coordinates.model.nv)
        return casadi.diagcat(*[block] * (self.value.states or 1))

    def eval(self, args: list[casadi.DM]) -> list[casadi.DM]:
        found = self.value.algorithm.derivatives(*self.value.arguments(args))
        if not self.value.states:
            return [casadi.DM(matrix) for matrix in found]
        # Numbers of block-diagonal matrices by columns, block after block.
        return [
            casadi.DM(self.get_sparsity_out(i), np.swapaxes(matrix, 1, 2).ravel())
            for i, matrix in enumerate(found)
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
            "bias_forces" (x, v), "gravity_forces" (x), "center_of_mass" (x), or, with `frame`,
            "frame_position" (x).
        reference: configuration at x = 0; by default model.neutral().
        states: number of states; inputs and result then have one column for each, and all are
            computed at once, on all threads.
        frame: of "frame_position".
    """
    return _Value(chosen(model, algorithm, reference, frame), states)
