"""Kempe's dynamics as action models of Crocoddyl, with exact derivatives.

    state = kempe.crocoddyl.State(model)                             # x = (q, v), loops closed
    costs = crocoddyl.CostModelSum(state, model.nv)                  # Crocoddyl's own costs, and
    foot = kempe.crocoddyl.FramePosition(state, "foot", (0, 0, 0.1)) # residuals on Kempe's frames
    costs.addCost("foot", crocoddyl.CostModelResidual(state, foot), 10.0)
    action = kempe.crocoddyl.DifferentialActionModel(state, costs)
    running = kempe.crocoddyl.IntegratedActionModelRK4(action, 0.01) # or Crocoddyl's Euler

States are configurations and velocities as everywhere in Kempe, quaternions and dependent joints of
loops included; Crocoddyl sees their tangent, 2 nv numbers. Where a model has quaternions, two
classes of Crocoddyl 3.2 are inexact with a state that is defined in Python, and have replacements
here: its ResidualModelState takes the derivative of a difference to be the identity, and the
derivatives of its IntegratedActionModelRK have an error of third order in the step;
StateDifference and IntegratedActionModelRK4 are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import crocoddyl
import numpy as np
from numpy.typing import ArrayLike, NDArray

from kempe._kempe import Constraints, Model
from kempe.differentiable import TangentSpace, chosen
from kempe.errors import AssemblyError, SingularityError

__all__ = [
    "CenterOfMass",
    "ConstrainedActionModel",
    "ConstraintForces",
    "DifferentialActionModel",
    "FramePosition",
    "IntegratedActionModelRK4",
    "Residual",
    "State",
    "StateDifference",
]

Array = NDArray[np.float64]
_FIRST, _SECOND = crocoddyl.Jcomponent.first, crocoddyl.Jcomponent.second


def _attempt(compute: Callable[[], Array], *inputs: Array) -> Array:
    """The result, or NaN where inputs are not finite, a loop cannot be closed or is singular.

    Crocoddyl's solvers try steps that are too long, and take NaN as a sign to shorten them; an
    exception of Python ends the whole program there.
    """
    if all(np.isfinite(one).all() for one in inputs):
        try:
            return compute()
        except (AssemblyError, SingularityError):
            pass
    return np.array(np.nan)


def _write(target: Array, matrix: Array) -> None:
    """Into memory of Crocoddyl, where matrices with one row or column are shown as vectors."""
    target.reshape(matrix.shape or target.shape)[...] = matrix


class State(crocoddyl.StateAbstract):  # type: ignore[misc]
    """x = (q, v) of a model. dx = (step of integrate(q, step), change of v).

    Args:
        model: the model; loops that are left cut are not kept closed by steps.
    """

    def __init__(self, model: Model) -> None:
        super().__init__(model.nq + model.nv, 2 * model.nv)
        self.model = model
        self._space = TangentSpace(model)

    def split(self, x: Array) -> tuple[Array, Array]:
        """q and v."""
        return x[: self.model.nq], x[self.model.nq :]

    def zero(self) -> Array:
        """The neutral configuration, at rest."""
        return np.concatenate([self.model.neutral(), np.zeros(self.model.nv)])

    def rand(self) -> Array:
        """A random configuration, with random velocities."""
        seed = int(np.random.default_rng().integers(2**31))
        v = np.random.default_rng(seed).normal(size=self.model.nv)
        return np.concatenate([self.model.random_configuration(seed=seed), v])

    def diff(self, x0: Array, x1: Array) -> Array:
        (q0, v0), (q1, v1) = self.split(x0), self.split(x1)
        dx = np.empty(2 * self.model.nv)
        dx[: self.model.nv] = _attempt(lambda: self.model.difference(q0, q1), q0, q1)
        dx[self.model.nv :] = v1 - v0
        return dx

    def integrate(self, x: Array, dx: Array) -> Array:
        (q, v), (step, change) = self.split(x), np.split(dx, 2)
        moved = np.empty(self.model.nq + self.model.nv)
        moved[: self.model.nq] = _attempt(lambda: self.model.integrate(q, step, 1.0), q, step)
        moved[self.model.nq :] = v + change
        return moved

    def _jacobian(self, step: Array, which: crocoddyl.Jcomponent) -> Array:
        """∂ integrate by x or by dx."""
        J = np.eye(2 * self.model.nv)
        of = self._space.by_configuration if which == _FIRST else self._space.by_step
        J[: self.model.nv, : self.model.nv] = of(step[: self.model.nv])
        return J

    def Jintegrate(self, x: Array, dx: Array, firstsecond: crocoddyl.Jcomponent) -> Any:  # noqa: N802
        if firstsecond == crocoddyl.Jcomponent.both:
            return [self._jacobian(dx, _FIRST), self._jacobian(dx, _SECOND)]
        return self._jacobian(dx, firstsecond)

    def Jdiff(self, x0: Array, x1: Array, firstsecond: crocoddyl.Jcomponent) -> Any:  # noqa: N802
        # x1 = integrate(x0, dx): 0 = A dx0 + B d(dx) for x1 held, and dx1 = B d(dx) for x0 held.
        dx = self.diff(x0, x1)
        by_second = np.linalg.inv(self._jacobian(dx, _SECOND))
        if firstsecond == _SECOND:
            return by_second
        by_first = -by_second @ self._jacobian(dx, _FIRST)
        return by_first if firstsecond == _FIRST else [by_first, by_second]

    def JintegrateTransport(  # noqa: N802
        self, x: Array, dx: Array, Jin: Array, firstsecond: crocoddyl.Jcomponent
    ) -> Array:
        return self._jacobian(dx, firstsecond) @ Jin


class Residual(crocoddyl.ResidualModelAbstract):  # type: ignore[misc]
    """r = f(q) − reference, of a function of the configuration with its Jacobian.

    Args:
        state: the state.
        size: number of numbers of r.
        value: f(q), (size,).
        jacobian: ∂f/∂q in the tangent, (size, nv).
        nu: number of controls of the action; by default nv.
        reference: subtracted from f; by default 0.
    """

    def __init__(
        self,
        state: State,
        size: int,
        value: Callable[[Array], Array],
        jacobian: Callable[[Array], Array],
        nu: int | None = None,
        reference: ArrayLike | None = None,
    ) -> None:
        super().__init__(state, size, state.nv if nu is None else nu, True, False, False)
        self._state, self._value, self._jacobian = state, value, jacobian
        self.reference = np.zeros(size) if reference is None else np.array(reference, float)
        if self.reference.shape != (size,):
            raise ValueError(f"reference: expected {size} numbers, got {self.reference.shape}")

    def calc(self, data: Any, x: Array, u: Array | None = None) -> None:
        q, _ = self._state.split(x)
        data.r[:] = _attempt(lambda: self._value(q), q) - self.reference

    def calcDiff(self, data: Any, x: Array, u: Array | None = None) -> None:  # noqa: N802
        q, _ = self._state.split(x)
        found = _attempt(lambda: np.pad(self._jacobian(q), ((0, 0), (0, len(x) - len(q)))), q)
        _write(data.Rx, found)


class FramePosition(Residual):
    """Origin of a frame in the world, minus a target."""

    def __init__(
        self, state: State, frame: str | int, target: ArrayLike, nu: int | None = None
    ) -> None:
        one = chosen(state.model, "frame_position", frame=frame).parts
        super().__init__(state, 3, one.evaluate, lambda q: one.differentiate(q)[0], nu, target)


class CenterOfMass(Residual):
    """Centre of mass in the world, minus a target."""

    def __init__(self, state: State, target: ArrayLike, nu: int | None = None) -> None:
        one = chosen(state.model, "center_of_mass").parts
        super().__init__(state, 3, one.evaluate, lambda q: one.differentiate(q)[0], nu, target)


class StateDifference(crocoddyl.ResidualModelAbstract):  # type: ignore[misc]
    """State minus a reference, in the tangent: 2 nv numbers.

    Args:
        state: the state.
        reference: x of r = 0; by default state.zero().
        nu: number of controls of the action; by default nv.
    """

    def __init__(
        self, state: State, reference: ArrayLike | None = None, nu: int | None = None
    ) -> None:
        super().__init__(state, state.ndx, state.nv if nu is None else nu, True, True, False)
        self._state = state
        self.reference = state.zero() if reference is None else np.array(reference, float)
        if self.reference.shape != (state.nx,):
            raise ValueError(
                f"reference: expected {state.nx} numbers (q and v), got {self.reference.shape}"
            )

    def calc(self, data: Any, x: Array, u: Array | None = None) -> None:
        data.r[:] = self._state.diff(self.reference, x)

    def calcDiff(self, data: Any, x: Array, u: Array | None = None) -> None:  # noqa: N802
        _write(data.Rx, self._state.Jdiff(self.reference, x, _SECOND))


class _Data(crocoddyl.DifferentialActionDataAbstract):  # type: ignore[misc]
    def __init__(self, action: DifferentialActionModel) -> None:
        super().__init__(action)
        self.collector = crocoddyl.DataCollectorAbstract()
        self.costs = action.costs.createData(self.collector)


class DifferentialActionModel(crocoddyl.DifferentialActionModelAbstract):  # type: ignore[misc]
    """Forward dynamics a(q, v, B u) of a model and a sum of costs, with exact derivatives.

    Args:
        state: the state.
        costs: crocoddyl.CostModelSum on that state, with nu controls.
        actuation: B of tau = B u, (nv, nu); by default the identity, so that u = tau. For motors
            behind gears and belts these are rows of model.constraint_jacobian, transposed.

    Limits of the controls are given by u_lb and u_ub, as for all actions of Crocoddyl.

    Raises:
        ValueError: B has not nv rows, or the costs are for another number of controls.
    """

    def __init__(
        self,
        state: State,
        costs: crocoddyl.CostModelSum,
        actuation: ArrayLike | None = None,
    ) -> None:
        nv = state.model.nv
        B = np.eye(nv) if actuation is None else np.array(actuation, float)
        if B.ndim != 2 or len(B) != nv:
            raise ValueError(
                f"actuation: expected a matrix with {nv} rows (model.nv), got shape {B.shape}"
            )
        nu = B.shape[1]
        if costs.nu != nu:
            raise ValueError(
                f"costs: made for {costs.nu} controls, but actuation has {nu} columns; pass "
                f"nu={nu} to crocoddyl.CostModelSum and to residuals"
            )
        super().__init__(state, nu, costs.nr)
        self.costs = costs
        self.actuation: Array = B
        self._state, self._model = state, state.model

    def createData(self) -> _Data:  # noqa: N802
        return _Data(self)

    def accelerations(self, q: Array, v: Array, tau: Array) -> Array:
        """a; to be replaced together with acceleration_derivatives by other dynamics."""
        return self._model.forward_dynamics(q, v, tau)

    def acceleration_derivatives(self, q: Array, v: Array, tau: Array) -> Sequence[Array]:
        """∂a/∂q, ∂a/∂v and ∂a/∂τ."""
        return self._model.forward_dynamics_derivatives(q, v, tau)

    def calc(self, data: _Data, x: Array, u: Array | None = None) -> None:
        if u is None:
            self.costs.calc(data.costs, x)
        else:
            q, v = self._state.split(x)
            tau = self.actuation @ u
            data.xout[:] = _attempt(lambda: self.accelerations(q, v, tau), x, u)
            self.costs.calc(data.costs, x, u)
        data.cost = data.costs.cost

    def calcDiff(self, data: _Data, x: Array, u: Array | None = None) -> None:  # noqa: N802
        if u is None:
            self.costs.calcDiff(data.costs, x)
        else:
            q, v = self._state.split(x)
            tau, nv = self.actuation @ u, self._model.nv
            found = np.empty((nv, 3 * nv))
            found[:] = _attempt(lambda: np.hstack(self.acceleration_derivatives(q, v, tau)), x, u)
            _write(data.Fx, found[:, : 2 * nv])
            _write(data.Fu, found[:, 2 * nv :] @ self.actuation)
            self.costs.calcDiff(data.costs, x, u)
            data.Lu[:], data.Luu[:] = data.costs.Lu, data.costs.Luu
            data.Lxu[:] = data.costs.Lxu
        data.Lx[:], data.Lxx[:] = data.costs.Lx, data.costs.Lxx


class ConstrainedActionModel(DifferentialActionModel):
    """Forward dynamics under constraints, such as feet on the ground, with exact derivatives.

    The constraints hold accelerations; states of a trajectory satisfy them if the first one does.

    Args:
        state, costs, actuation: as for DifferentialActionModel.
        constraints: of the model of `state`, at time 0.
    """

    def __init__(
        self,
        state: State,
        costs: crocoddyl.CostModelSum,
        constraints: Constraints,
        actuation: ArrayLike | None = None,
    ) -> None:
        super().__init__(state, costs, actuation)
        self.constraints = constraints

    def accelerations(self, q: Array, v: Array, tau: Array) -> Array:
        """a under the constraints."""
        return self._model.constrained_forward_dynamics(q, v, tau, self.constraints).a

    def acceleration_derivatives(self, q: Array, v: Array, tau: Array) -> Sequence[Array]:
        """∂a/∂q, ∂a/∂v and ∂a/∂τ under the constraints."""
        return self._model.constrained_forward_dynamics_derivatives(
            q, v, tau, self.constraints
        )[:3]


class ConstraintForces(crocoddyl.ResidualModelAbstract):  # type: ignore[misc]
    """r = A λ of the multipliers λ of constraints, such as the edges of a friction cone.

    Args:
        state: the state.
        constraints: as for ConstrainedActionModel.
        matrix: A, (any number, rows of the constraints); by default the identity.
        actuation: as for the action.
    """

    def __init__(
        self,
        state: State,
        constraints: Constraints,
        matrix: ArrayLike | None = None,
        actuation: ArrayLike | None = None,
    ) -> None:
        A = np.eye(constraints.rows) if matrix is None else np.array(matrix, float)
        if A.ndim != 2 or A.shape[1] != constraints.rows:
            raise ValueError(
                f"matrix: expected {constraints.rows} columns (constraints.rows), got shape "
                f"{A.shape}"
            )
        B = np.eye(state.nv) if actuation is None else np.array(actuation, float)
        super().__init__(state, len(A), B.shape[1], True, True, True)
        self._state, self._constraints, self._matrix, self._actuation = state, constraints, A, B

    def calc(self, data: Any, x: Array, u: Array | None = None) -> None:
        if u is not None:  # there is no force without controls
            (q, v), tau = self._state.split(x), self._actuation @ u
            of = self._state.model.constrained_forward_dynamics
            found = _attempt(lambda: of(q, v, tau, self._constraints).multipliers, x, u)
            data.r[:] = self._matrix @ found if found.ndim else found

    def calcDiff(self, data: Any, x: Array, u: Array | None = None) -> None:  # noqa: N802
        if u is not None:
            (q, v), tau, nv = self._state.split(x), self._actuation @ u, self._state.nv
            of = self._state.model.constrained_forward_dynamics_derivatives
            found = np.empty((self._constraints.rows, 3 * nv))
            found[:] = _attempt(lambda: np.hstack(of(q, v, tau, self._constraints)[3:]), x, u)
            _write(data.Rx, self._matrix @ found[:, : 2 * nv])
            _write(data.Ru, self._matrix @ found[:, 2 * nv :] @ self._actuation)


class _StepData(crocoddyl.ActionDataAbstract):  # type: ignore[misc]
    def __init__(self, step: IntegratedActionModelRK4) -> None:
        super().__init__(step)
        self.stages = [step.differential.createData() for _ in range(4)]


class IntegratedActionModelRK4(crocoddyl.ActionModelAbstract):  # type: ignore[misc]
    """A step of the classical Runge–Kutta method with constant controls, with exact derivatives.

    The cost of a step is dt times the cost at its start. Stages are steps of State.integrate from
    the start, so that the method is of fourth order for joints without quaternions, and of second
    order for floating bases and ball joints that turn.

    Args:
        differential: action in continuous time; its limits of the controls are taken over.
        dt: seconds; 0 for a terminal action, whose cost is that of the differential action.
    """

    # Parts of the step at which stages are evaluated, and their weights.
    _PARTS, _WEIGHTS = (0.0, 0.5, 0.5, 1.0), (1 / 6, 1 / 3, 1 / 3, 1 / 6)

    def __init__(self, differential: DifferentialActionModel, dt: float) -> None:
        super().__init__(differential.state, differential.nu, differential.nr)
        if not dt >= 0:
            raise ValueError(f"dt: must not be negative, got {dt}")
        self.differential, self.dt = differential, dt
        self._state = differential._state
        self.u_lb, self.u_ub = differential.u_lb, differential.u_ub

    def createData(self) -> _StepData:  # noqa: N802
        return _StepData(self)

    def _stages(self, data: _StepData, x: Array, u: Array) -> tuple[list[Array], list[Array]]:
        """Displacements and states of the stages, and at last those of the whole step."""
        nq = self._state.model.nq
        steps: list[Array] = []
        states: list[Array] = []
        rates: list[Array] = []
        for part, stage in zip(self._PARTS, data.stages, strict=True):
            steps.append(part * self.dt * rates[-1] if rates else np.zeros(self._state.ndx))
            states.append(self._state.integrate(x, steps[-1]) if rates else x)
            self.differential.calc(stage, states[-1], u)
            rates.append(np.concatenate([states[-1][nq:], stage.xout]))
        steps.append(self.dt * (np.array(self._WEIGHTS) @ np.array(rates)))
        return steps, states

    def calc(self, data: _StepData, x: Array, u: Array | None = None) -> None:
        if u is None or self.dt == 0:
            self.differential.calc(data.stages[0], x, *([] if u is None else [u]))
            data.xnext[:] = x
            data.cost = data.stages[0].cost
            return
        steps, _ = self._stages(data, x, u)
        data.xnext[:] = self._state.integrate(x, steps[-1])
        data.cost = self.dt * data.stages[0].cost

    def calcDiff(self, data: _StepData, x: Array, u: Array | None = None) -> None:  # noqa: N802
        first = data.stages[0]
        if u is None or self.dt == 0:
            self.differential.calcDiff(first, x, *([] if u is None else [u]))
            _write(data.Fx, np.eye(self._state.ndx))
            scale = 1.0
        else:
            self._differentiate(data, x, u)
            scale = self.dt
        data.Lx[:], data.Lxx[:] = scale * first.Lx, scale * first.Lxx
        if u is not None:
            data.Lu[:], data.Luu[:] = scale * first.Lu, scale * first.Luu
            data.Lxu[:] = scale * first.Lxu

    def _differentiate(self, data: _StepData, x: Array, u: Array) -> None:
        # k_i = (v, a) at y_i = x ⊕ c_i h k_(i-1), x' = x ⊕ h Σ w_i k_i, each by (x, u).
        state, nv, ndx = self._state, self._state.nv, self._state.ndx
        steps, states = self._stages(data, x, u)

        def moved(step: Array, change: Array) -> Array:
            """Derivative of x ⊕ step, where step changes by `change`."""
            found = state._jacobian(step, _SECOND) @ change
            found[:, :ndx] += state._jacobian(step, _FIRST)
            return found

        total = np.zeros((ndx, ndx + self.nu))
        rate = total
        parts = zip(self._PARTS, self._WEIGHTS, data.stages, steps, states, strict=False)
        for part, weight, stage, step, point in parts:
            self.differential.calcDiff(stage, point, u)
            at = moved(step, part * self.dt * rate)
            rate = np.vstack([at[nv:], stage.Fx.reshape(nv, ndx) @ at])
            rate[nv:, ndx:] += stage.Fu.reshape(nv, self.nu)
            total = total + weight * rate
        found = moved(steps[-1], self.dt * total)
        _write(data.Fx, found[:, :ndx])
        _write(data.Fu, found[:, ndx:])
