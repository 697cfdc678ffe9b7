"""Coordinates of configurations around a reference, and derivatives along the tangent."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kempe._kempe import Model

__all__ = ["LocalCoordinates", "TangentSpace"]

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
        """T = ∂ integrate(q, step) / ∂ step: Σ (−ad)ᵏ / (k + 1)!."""
        return self._series(step, lambda k: k + 1)

    def by_configuration(self, step: ArrayLike) -> Array:
        """∂ integrate(q, step) / ∂q: exp(−ad)."""
        return self._series(step, lambda k: k)

    def curvature(self, step: ArrayLike, gradient: ArrayLike) -> Array:
        """∂(Tᵀ g) / ∂ step of T = by_step(step), with a constant g."""
        step, g = np.asarray(step, float), np.asarray(gradient, float)
        found = np.zeros((*step.shape, self.nv))
        for first, count in self._turns:
            part = slice(first, first + count)
            ad = bracket(step[..., part])
            for k, turn in enumerate(bracket(np.eye(count))):
                # The series of [[A, δA], [0, A]] has that of A's change in the corner.
                both = np.zeros((*ad.shape[:-2], 2 * count, 2 * count))
                both[..., :count, :count] = both[..., count:, count:] = ad
                both[..., :count, count:] = turn
                change = _series(both, lambda k: k + 1)[..., :count, count:]
                found[..., part, first + k] = np.einsum("...ij,...i->...j", change, g[..., part])
        return found

    def _series(self, step: ArrayLike, divisor: Callable[[int], int]) -> Array:
        step = np.asarray(step, float)
        T = np.broadcast_to(np.eye(self.nv), (*step.shape, self.nv)).copy()
        for first, count in self._turns:
            part = slice(first, first + count)
            T[..., part, part] = _series(bracket(step[..., part]), divisor)
        return T


def _series(ad: Array, divisor: Callable[[int], int]) -> Array:
    """1 + Σ (−ad)ᵏ / (divisor(1) … divisor(k))."""
    term = total = np.broadcast_to(np.eye(ad.shape[-1]), ad.shape)
    for k in range(1, 100):
        term = term @ -ad / divisor(k)
        total = total + term
        if abs(term).max(initial=0) < 1e-17:
            break
    return total


def bracket(step: Array) -> Array:
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
        self.space = TangentSpace(model)

    def configuration(self, x: ArrayLike) -> Array:
        """q at x, (nq,) or (N, nq)."""
        return self.model.integrate(self.reference, np.asarray(x, float), 1.0)

    def coordinates(self, q: ArrayLike) -> Array:
        """x of a configuration, (nv,) or (N, nv)."""
        return self.model.difference(self.reference, q)

    def tangent(self, x: ArrayLike) -> Array:
        """T of v = T ẋ, (nv, nv) or (N, nv, nv): the identity but for quaternions."""
        return self.space.by_step(x)
