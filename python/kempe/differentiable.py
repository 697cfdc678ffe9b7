"""Algorithms with their derivatives, in local coordinates: what the adapters to CasADi, JAX and
PyTorch have in common."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kempe._kempe import Model

Array = NDArray[np.float64]


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

    def configuration(self, x: ArrayLike) -> Array:
        """q at x, (nq,) or (N, nq)."""
        return self.model.integrate(self.reference, np.asarray(x, float), 1.0)

    def coordinates(self, q: ArrayLike) -> Array:
        """x of a configuration, (nv,) or (N, nv)."""
        return self.model.difference(self.reference, q)

    def tangent(self, x: ArrayLike) -> Array:
        """T of v = T ẋ, (nv, nv) or (N, nv, nv): the identity but for quaternions."""
        x = np.asarray(x, float)
        T = np.broadcast_to(np.eye(self.model.nv), (*x.shape, self.model.nv)).copy()
        for first, count in self._turns:
            part = slice(first, first + count)
            for index in np.ndindex(x.shape[:-1]):
                T[(*index, part, part)] = _right_jacobian(x[(*index, part)])
        return T


def _skew(w: Array) -> Array:
    return np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])


def _right_jacobian(step: Array) -> Array:
    """Σ (−ad)ᵏ / (k + 1)! of a rotation vector, or of [translation; rotation]."""
    count = len(step)
    ad = np.zeros((count, count))
    if count == 3:
        ad[:] = _skew(step)
    else:
        ad[:3, :3] = ad[3:, 3:] = _skew(step[3:])
        ad[:3, 3:] = _skew(step[:3])
    term = total = np.eye(count)
    for k in range(1, 60):
        term = term @ -ad / (k + 1)
        total = total + term
        if abs(term).max() < 1e-17:
            break
    return total


@dataclass(frozen=True)
class Differentiable:
    """An algorithm f(x, …) of local coordinates and further vectors, with its derivatives."""

    name: str
    coordinates: LocalCoordinates
    inputs: tuple[str, ...]  # the first is x; all have nv numbers
    size: int  # of the result
    evaluate: Callable[..., Array]  # of q and the other inputs
    differentiate: Callable[..., Sequence[Array]]  # by the tangent and by the other inputs

    def value(self, x: ArrayLike, *others: ArrayLike) -> Array:
        """f, (size,) or (N, size)."""
        return self.evaluate(self.coordinates.configuration(x), *others)

    def derivatives(self, x: ArrayLike, *others: ArrayLike) -> list[Array]:
        """∂f/∂x and those with respect to the other inputs, (size, nv) or (N, size, nv) each."""
        first, *rest = self.differentiate(self.coordinates.configuration(x), *others)
        return [first @ self.coordinates.tangent(x), *rest]


def algorithms(model: Model, reference: ArrayLike | None = None) -> dict[str, Differentiable]:
    """All algorithms that the adapters offer, by name; see their modules."""
    local = LocalCoordinates(model, reference)
    nv = model.nv

    def bias_derivatives(q: Array, v: Array) -> Sequence[Array]:
        return model.inverse_dynamics_derivatives(q, v, np.zeros_like(v))[:2]

    def gravity_derivatives(q: Array) -> Sequence[Array]:
        still = np.zeros((*q.shape[:-1], nv))
        return model.inverse_dynamics_derivatives(q, still, still)[:1]

    found = [
        Differentiable(
            "forward_dynamics",
            local,
            ("x", "v", "tau"),
            nv,
            model.forward_dynamics,
            model.forward_dynamics_derivatives,
        ),
        Differentiable(
            "inverse_dynamics",
            local,
            ("x", "v", "a"),
            nv,
            model.inverse_dynamics,
            model.inverse_dynamics_derivatives,
        ),
        Differentiable("bias_forces", local, ("x", "v"), nv, model.bias_forces, bias_derivatives),
        Differentiable(
            "gravity_forces", local, ("x",), nv, model.gravity_forces, gravity_derivatives
        ),
        Differentiable(
            "center_of_mass",
            local,
            ("x",),
            3,
            model.center_of_mass,
            lambda q: [model.center_of_mass_jacobian(q)],
        ),
    ]
    return {one.name: one for one in found}


def chosen(
    model: Model,
    algorithm: str,
    reference: ArrayLike | None = None,
    frame: str | int | None = None,
) -> Differentiable:
    """An algorithm by name, or the position of a frame."""
    if algorithm == "frame_position":
        if frame is None:
            raise ValueError("frame_position needs the name of a frame: frame=…")
        return frame_position(model, frame, reference)
    known = algorithms(model, reference)
    if algorithm not in known:
        raise ValueError(
            f"there is no algorithm {algorithm!r}; there are "
            f"{', '.join([*known, 'frame_position'])}"
        )
    return known[algorithm]


def frame_position(
    model: Model, frame: str | int, reference: ArrayLike | None = None
) -> Differentiable:
    """The origin of a frame in the world."""
    return Differentiable(
        "frame_position",
        LocalCoordinates(model, reference),
        ("x",),
        3,
        lambda q: model.frame_placement(q, frame)[1],
        lambda q: [model.frame_jacobian(q, frame)[..., :3, :]],
    )
