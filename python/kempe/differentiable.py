"""Algorithms with their derivatives, in local coordinates: the common part of the adapters to
CasADi, JAX, PyTorch and Crocoddyl."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kempe._kempe import Model

__all__ = ["Differentiable", "LocalCoordinates", "TangentSpace", "algorithm_names", "chosen"]

Array = NDArray[np.float64]


class TangentSpace:
    """Derivatives of integrate(q, step) and difference(q, other), in the tangent.

    Both are the identity for joints with one coordinate, also those of loops; floating bases and
    ball joints turn. The matrices are (nv, nv), or (N, nv, nv) for steps of shape (N, nv).
    """

    def __init__(self, model: Model) -> None:
        self.nv = model.nv
        names = list(model.v_names)
        self._turns: list[tuple[int, int]] = []  # first velocity and number of them
        for first, name in enumerate(names):
            joint, _, component = name.rpartition(".")
            if component not in ("vx", "wx") or f"{joint}.qw" not in model.q_names:
                continue
            if component == "wx" and f"{joint}.vx" in names:
                continue
            count = 6 if component == "vx" else 3
            axes = ["vx", "vy", "vz", "wx", "wy", "wz"][-count:]
            if names[first : first + count] != [f"{joint}.{axis}" for axis in axes]:
                raise ValueError(
                    f"joint {joint!r} is a ball joint of which only some velocities are "
                    "independent, so that it has no local coordinates. Choose other independent "
                    "joints (model.with_independent)."
                )
            self._turns.append((first, count))

    def by_step(self, step: ArrayLike) -> Array:
        """∂ integrate(q, step) / ∂ step: Σ (−ad)ᵏ / (k + 1)!."""
        return self._series(step, lambda k: k + 1)

    def by_configuration(self, step: ArrayLike) -> Array:
        """∂ integrate(q, step) / ∂q: exp(−ad)."""
        return self._series(step, lambda k: k)

    def _series(self, step: ArrayLike, divisor: Callable[[int], int]) -> Array:
        step = np.asarray(step, float)
        T = np.broadcast_to(np.eye(self.nv), (*step.shape, self.nv)).copy()
        for first, count in self._turns:
            part = slice(first, first + count)
            ad = _bracket(step[..., part])
            term = total = np.broadcast_to(np.eye(count), ad.shape)
            for k in range(1, 100):
                term = term @ -ad / divisor(k)
                total = total + term
                if abs(term).max(initial=0) < 1e-17:
                    break
            T[..., part, part] = total
        return T


def _bracket(step: Array) -> Array:
    """ad of rotation vectors, or of [translation; rotation]."""

    def skew(w: Array) -> Array:
        x, y, z = np.moveaxis(w, -1, 0)
        o = np.zeros_like(x)
        return np.stack([o, -z, y, z, o, -x, -y, x, o], axis=-1).reshape(*x.shape, 3, 3)

    if step.shape[-1] == 3:
        return skew(step)
    ad = np.zeros((*step.shape, 6))
    ad[..., :3, :3] = ad[..., 3:, 3:] = skew(step[..., 3:])
    ad[..., :3, 3:] = skew(step[..., :3])
    return ad


class LocalCoordinates:
    """Coordinates of the configurations of a model around a reference: q = integrate(reference, x).

    They are nv numbers, and those of joints with one coordinate are differences of positions.
    Solvers that know nothing of quaternions and loops use them: every x is a configuration whose
    loops are closed, on the branch of the reference. Those of a floating base or ball joint are the
    rotation vector from the reference and must stay below half a turn.

    Args:
        model: the model.
        reference: configuration at x = 0, (nq,); by default model.neutral().
    """

    def __init__(self, model: Model, reference: ArrayLike | None = None) -> None:
        self.model = model
        self.reference: Array = np.array(model.neutral() if reference is None else reference, float)
        self._space = TangentSpace(model)

    def configuration(self, x: ArrayLike) -> Array:
        """q at x, (nq,) or (N, nq)."""
        return self.model.integrate(self.reference, np.asarray(x, float), 1.0)

    def coordinates(self, q: ArrayLike) -> Array:
        """x of a configuration, (nv,) or (N, nv)."""
        return self.model.difference(self.reference, q)

    def tangent(self, x: ArrayLike) -> Array:
        """T of v = T ẋ, (nv, nv) or (N, nv, nv): the identity but for quaternions."""
        return self._space.by_step(x)


@dataclass(frozen=True)
class Differentiable:
    """An algorithm f(x, …) of local coordinates and further vectors, with its derivatives."""

    name: str
    coordinates: LocalCoordinates
    inputs: tuple[str, ...]  # the first is x; all have nv numbers
    shape: tuple[int, ...]  # of the result of one state
    evaluate: Callable[..., Array]  # of q and the other inputs
    differentiate: Callable[..., Sequence[Array]]  # by the tangent and by the other inputs

    @property
    def size(self) -> int:
        """Number of numbers of the result."""
        return prod(self.shape)

    def value(self, x: ArrayLike, *others: ArrayLike) -> Array:
        """f of one state or of N states, (size,) or (N, size)."""
        found = self.evaluate(self.coordinates.configuration(x), *others)
        return found.reshape(*np.shape(x)[:-1], self.size)

    def derivatives(self, x: ArrayLike, *others: ArrayLike) -> list[Array]:
        """∂f/∂x and those with respect to the other inputs, (size, nv) or (N, size, nv) each."""
        found = self.differentiate(self.coordinates.configuration(x), *others)
        nv = self.coordinates.model.nv
        first, *rest = (
            one.reshape(*np.shape(x)[:-1], self.size, nv) for one in found[: len(self.inputs)]
        )
        return [first @ self.coordinates.tangent(x), *rest]


# Inputs, shape, evaluate and differentiate of a Differentiable.
Parts = tuple[
    tuple[str, ...], tuple[int, ...], Callable[..., Array], Callable[..., Sequence[Array]]
]


def _forward_dynamics(model: Model) -> Parts:
    derivatives = model.forward_dynamics_derivatives
    return ("x", "v", "tau"), (model.nv,), model.forward_dynamics, derivatives


def _inverse_dynamics(model: Model) -> Parts:
    derivatives = model.inverse_dynamics_derivatives
    return ("x", "v", "a"), (model.nv,), model.inverse_dynamics, derivatives


def _bias_forces(model: Model) -> Parts:
    def derivatives(q: Array, v: Array) -> Sequence[Array]:
        return model.inverse_dynamics_derivatives(q, v, np.zeros_like(v))[:2]

    return ("x", "v"), (model.nv,), model.bias_forces, derivatives


def _gravity_forces(model: Model) -> Parts:
    def derivatives(q: Array) -> Sequence[Array]:
        still = np.zeros((*q.shape[:-1], model.nv))
        return model.inverse_dynamics_derivatives(q, still, still)[:1]

    return ("x",), (model.nv,), model.gravity_forces, derivatives


def _mass_matrix(model: Model) -> Parts:
    """∂H/∂q from those of H e_j = ID(q, 0, e_j) − ID(q, 0, 0), all j at once."""
    nv = model.nv

    def derivatives(q: Array) -> Sequence[Array]:
        states = np.repeat(np.atleast_2d(q), nv + 1, axis=0)
        a = np.tile(np.vstack([np.eye(nv), np.zeros(nv)]), (len(states) // (nv + 1), 1))
        forces = model.inverse_dynamics_derivatives(states, np.zeros_like(a), a)[0]
        forces = forces.reshape(*q.shape[:-1], nv + 1, nv, nv)
        return [forces[..., :nv, :, :] - forces[..., nv:, :, :]]  # H is symmetric

    return ("x",), (nv, nv), model.mass_matrix, derivatives


def _center_of_mass(model: Model) -> Parts:
    return ("x",), (3,), model.center_of_mass, lambda q: [model.center_of_mass_jacobian(q)]


def _named(name: str, inputs: tuple[str, ...], size: int) -> Callable[[Model], Parts]:
    """A function of the model whose derivatives have its name."""

    def parts(model: Model) -> Parts:
        return inputs, (size,), getattr(model, name), getattr(model, f"{name}_derivatives")

    return parts


def _named_of_frame(name: str, inputs: tuple[str, ...]) -> Callable[[Model, str | int], Parts]:
    """The same of a frame, [linear; angular] at its origin in axes of the world."""

    def parts(model: Model, frame: str | int) -> Parts:
        def evaluate(*args: Array) -> Array:
            found: Array = getattr(model, name)(*args, frame)
            return found

        def differentiate(*args: Array) -> Sequence[Array]:
            found: Sequence[Array] = getattr(model, f"{name}_derivatives")(*args, frame)
            return found

        return inputs, (6,), evaluate, differentiate

    return parts


def _frame_position(model: Model, frame: str | int) -> Parts:
    return (
        ("x",),
        (3,),
        lambda q: model.frame_placement(q, frame)[1],
        lambda q: [model.frame_jacobian(q, frame)[..., :3, :]],
    )


def _frame_rotation(model: Model, frame: str | int) -> Parts:
    """∂R = [ω]× R along each column ω of the Jacobian in world axes."""

    def derivatives(q: Array) -> Sequence[Array]:
        R = model.frame_placement(q, frame)[0]
        turns = np.swapaxes(model.frame_jacobian(q, frame)[..., 3:, :], -1, -2)
        turned = _bracket(turns) @ R[..., None, :, :]
        return [np.moveaxis(turned, -3, -1)]

    return ("x",), (3, 3), lambda q: model.frame_placement(q, frame)[0], derivatives


_OF_MODELS: dict[str, Callable[[Model], Parts]] = {
    "forward_dynamics": _forward_dynamics,
    "inverse_dynamics": _inverse_dynamics,
    "bias_forces": _bias_forces,
    "gravity_forces": _gravity_forces,
    "mass_matrix": _mass_matrix,
    "center_of_mass": _center_of_mass,
    "center_of_mass_velocity": _named("center_of_mass_velocity", ("x", "v"), 3),
    "center_of_mass_acceleration": _named("center_of_mass_acceleration", ("x", "v", "a"), 3),
    "momentum": _named("momentum", ("x", "v"), 6),
    "momentum_rate": _named("momentum_rate", ("x", "v", "a"), 6),
}
_OF_FRAMES: dict[str, Callable[[Model, str | int], Parts]] = {
    "frame_position": _frame_position,
    "frame_rotation": _frame_rotation,
    "frame_velocity": _named_of_frame("frame_velocity", ("x", "v")),
    "frame_acceleration": _named_of_frame("frame_acceleration", ("x", "v", "a")),
}


def algorithm_names() -> list[str]:
    """All algorithms that the adapters offer; those whose name begins with frame_ need a frame."""
    return [*_OF_MODELS, *_OF_FRAMES]


def chosen(
    model: Model,
    algorithm: str,
    reference: ArrayLike | None = None,
    frame: str | int | None = None,
) -> Differentiable:
    """An algorithm by name; see the modules of the adapters.

    Raises:
        ValueError: there is no such algorithm, or it needs a frame.
    """
    if algorithm in _OF_FRAMES:
        if frame is None:
            raise ValueError(f"{algorithm} needs the name of a frame: frame=…")
        model.frame_placement(model.neutral(), frame)  # raises if there is no such frame
        parts = _OF_FRAMES[algorithm](model, frame)
    elif algorithm in _OF_MODELS:
        if frame is not None:
            raise ValueError(f"{algorithm} takes no frame")
        parts = _OF_MODELS[algorithm](model)
    else:
        raise ValueError(
            f"there is no algorithm {algorithm!r}; there are {', '.join(algorithm_names())}"
        )
    return Differentiable(algorithm, LocalCoordinates(model, reference), *parts)
