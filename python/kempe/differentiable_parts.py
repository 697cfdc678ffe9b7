"""The algorithms of kempe.differentiable, as functions of q with their derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np

from kempe._kempe import Constraints, Model
from kempe.local_coordinates import Array, bracket

__all__ = ["ALGORITHMS", "Entry", "Options", "Parts"]


class Options(TypedDict, total=False):
    """What algorithms take besides their inputs."""

    frame: str | int  # of algorithms of a frame
    frame_reference: str  # its axes: "local_world_aligned" (by default), "local" or "world"
    # A frame or several: their wrenches [force; moment], 6 numbers each, are a further input named
    # "external", given in external_reference.
    external: str | int | Sequence[str | int]
    external_reference: str  # "local_world_aligned" (by default), "local" or "world"
    constraints: Constraints
    time: float  # of constraints; 0 by default
    # At a singular position, where a loop cannot be closed, and of inputs that are not finite:
    # "raise" (by default), or "nan" in the results of that state only.
    invalid: str


@dataclass(frozen=True)
class Parts:
    """A function of q and further vectors, each (…, size), with its derivatives."""

    inputs: tuple[str, ...]
    sizes: tuple[int, ...]
    shape: tuple[int, ...]  # of the result of one state
    evaluate: Callable[..., Array]
    differentiate: Callable[..., Sequence[Array]]  # by the tangent and by the other inputs
    # Second derivatives of weights · f, of weights, q and the other inputs: one symmetric matrix of
    # all inputs, where entry (j, k) by q is the derivative along e_k of that along e_j.
    curve: Callable[..., Array] | None = None


def _zeros(model: Model, q: Array) -> Array:
    return np.zeros((*np.shape(q)[:-1], model.nv))


def _along_each(model: Model, derivatives: Callable[[Array, Array], Array], q: Array) -> Array:
    """∂(M e_j)/∂q of all j, (…, nv, rows, nv), from the derivative of M v by q at v."""
    nv = model.nv
    states = np.repeat(np.atleast_2d(q), nv, axis=0)
    found = derivatives(states, np.tile(np.eye(nv), (len(states) // nv, 1)))
    return found.reshape(*np.shape(q)[:-1], nv, -1, nv)


class _Wrenches:
    """External forces as an input: those of frames, one after another."""

    def __init__(self, model: Model, options: Options) -> None:
        given = options.get("external")
        if given is None:
            self.frames: list[str | int] = []
        else:
            self.frames = [given] if isinstance(given, (str, int)) else list(given)
            if not self.frames or len(set(self.frames)) < len(self.frames):
                raise ValueError("external: expected the name of a frame, or different names")
        self.model = model
        self.reference = options.get("external_reference", "local_world_aligned")
        for frame in self.frames:
            model.frame_jacobian(model.neutral(), frame, self.reference)  # raises if unknown

    def joined(self, inputs: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """Names of the inputs, and their sizes."""
        sizes = (self.model.nv,) * len(inputs)
        if not self.frames:
            return inputs, sizes
        return (*inputs, "external"), (*sizes, 6 * len(self.frames))

    def given(self, wrenches: tuple[Array, ...]) -> dict[str, Any]:
        """Arguments of the model's functions; `wrenches` are that input, or nothing."""
        if not self.frames:
            return {}
        (stacked,) = wrenches
        each = np.split(np.asarray(stacked, float), len(self.frames), axis=-1)
        external = {frame: one.copy() for frame, one in zip(self.frames, each, strict=True)}
        return {"external": external, "external_reference": self.reference}

    def jacobian(self, q: Array) -> Array:
        """J of all frames: the forces do the work of Jᵀ external."""
        of = self.model.frame_jacobian
        return np.concatenate([of(q, frame, self.reference) for frame in self.frames], axis=-2)

    def velocity_derivative(self, q: Array, v: Array) -> Array:
        """∂(J v)/∂q."""
        of = self.model.frame_velocity_derivatives
        found = [of(q, v, frame, reference=self.reference)[0] for frame in self.frames]
        return np.concatenate(found, axis=-2)


class _InverseDynamics:
    """Of q, v, a and external forces."""

    def __init__(self, model: Model, options: Options) -> None:
        self.model, self.wrenches = model, _Wrenches(model, options)

    def derivatives(self, q: Array, v: Array, a: Array, *wrenches: Array) -> list[Array]:
        given = self.wrenches.given(wrenches)
        found = list(self.model.inverse_dynamics_derivatives(q, v, a, **given))
        if wrenches:
            found.append(-np.swapaxes(self.wrenches.jacobian(q), -1, -2))
        return found

    def curve(self, weights: Array, q: Array, v: Array, a: Array, *wrenches: Array) -> Array:
        nv, given = self.model.nv, self.wrenches.given(wrenches)
        qq, qv, vv, qa = self.model.inverse_dynamics_second_derivatives(q, v, a, weights, **given)
        total = 3 * nv + 6 * len(self.wrenches.frames)
        found = np.zeros((*qq.shape[:-2], total, total))
        blocks = [qq, qv, qa]
        if wrenches:
            along = self.wrenches.velocity_derivative(q, weights)
            blocks.append(-np.swapaxes(along, -1, -2))
        found[..., :nv, :] = np.concatenate(blocks, axis=-1)
        found[..., nv:, :nv] = np.swapaxes(found[..., :nv, nv:], -1, -2)
        found[..., nv : 2 * nv, nv : 2 * nv] = vv
        return found


def _inverse_dynamics(model: Model, options: Options) -> Parts:
    own = _InverseDynamics(model, options)

    def evaluate(q: Array, v: Array, a: Array, *wrenches: Array) -> Array:
        return model.inverse_dynamics(q, v, a, **own.wrenches.given(wrenches))

    inputs, sizes = own.wrenches.joined(("x", "v", "a"))
    return Parts(inputs, sizes, (model.nv,), evaluate, own.derivatives, own.curve)


def _forward_dynamics(model: Model, options: Options) -> Parts:
    own, nv = _InverseDynamics(model, options), model.nv

    def evaluate(q: Array, v: Array, tau: Array, *wrenches: Array) -> Array:
        return model.forward_dynamics(q, v, tau, **own.wrenches.given(wrenches))

    def differentiate(q: Array, v: Array, tau: Array, *wrenches: Array) -> list[Array]:
        given = own.wrenches.given(wrenches)
        found = list(model.forward_dynamics_derivatives(q, v, tau, **given))
        if wrenches:
            found.append(found[2] @ np.swapaxes(own.wrenches.jacobian(q), -1, -2))
        return found

    def curve(weights: Array, q: Array, v: Array, tau: Array, *wrenches: Array) -> Array:
        # ID(q, v, a(q, v, τ, f), f) = τ twice: with λ = −H⁻¹ μ and L = λ · ID,
        # μ ∂²a = ∂²L + L_za ∂a + (L_za ∂a)ᵀ, where z = (q, v, τ, f), and L does not depend on τ.
        slopes = differentiate(q, v, tau, *wrenches)
        lam = -np.einsum("...ij,...i->...j", slopes[2], weights)
        L = own.curve(lam, q, v, evaluate(q, v, tau, *wrenches), *wrenches)
        of_a = slice(2 * nv, 3 * nv)
        L_za = L[..., of_a].copy()
        L[..., of_a] = L[..., of_a, :] = 0
        L_za[..., of_a, :] = 0
        mixed = L_za @ np.concatenate(slopes, axis=-1)
        return L + mixed + np.swapaxes(mixed, -1, -2)

    inputs, sizes = own.wrenches.joined(("x", "v", "tau"))
    # Loops that are left cut act on a, but not in ID.
    exact = None if model.cut_loops else curve
    return Parts(inputs, sizes, (nv,), evaluate, differentiate, exact)


def _bias_forces(model: Model, options: Options) -> Parts:
    own, nv = _InverseDynamics(model, options), model.nv

    def evaluate(q: Array, v: Array, *wrenches: Array) -> Array:
        return model.bias_forces(q, v, **own.wrenches.given(wrenches))

    def differentiate(q: Array, v: Array, *wrenches: Array) -> list[Array]:
        found = own.derivatives(q, v, np.zeros_like(v), *wrenches)
        return [*found[:2], *found[3:]]

    def curve(weights: Array, q: Array, v: Array, *wrenches: Array) -> Array:
        found = own.curve(weights, q, v, np.zeros_like(v), *wrenches)
        of_a = range(2 * nv, 3 * nv)
        return np.delete(np.delete(found, of_a, axis=-1), of_a, axis=-2)

    inputs, sizes = own.wrenches.joined(("x", "v"))
    return Parts(inputs, sizes, (nv,), evaluate, differentiate, curve)


def _constrained_forward_dynamics(model: Model, options: Options) -> Parts:
    constraints, time = _constraints(options)
    forces = _Wrenches(model, options)

    def evaluate(q: Array, v: Array, tau: Array, *wrenches: Array) -> Array:
        given = forces.given(wrenches)
        found = model.constrained_forward_dynamics(q, v, tau, constraints, time, **given)
        return np.concatenate([found.a, found.multipliers], axis=-1)

    def differentiate(q: Array, v: Array, tau: Array, *wrenches: Array) -> list[Array]:
        given = forces.given(wrenches)
        of = model.constrained_forward_dynamics_derivatives(q, v, tau, constraints, time, **given)
        found = [np.concatenate(pair, axis=-2) for pair in zip(of[:3], of[3:], strict=True)]
        if wrenches:
            found.append(found[2] @ np.swapaxes(forces.jacobian(q), -1, -2))
        return found

    inputs, sizes = forces.joined(("x", "v", "tau"))
    return Parts(inputs, sizes, (model.nv + constraints.rows,), evaluate, differentiate)


def _project_velocities(model: Model, options: Options) -> Parts:
    constraints, time = _constraints(options)
    nv = model.nv

    def evaluate(q: Array, v: Array) -> Array:
        return np.concatenate(model.project_velocities(q, v, constraints, time), axis=-1)

    def differentiate(q: Array, v: Array) -> list[Array]:
        of = model.project_velocities_derivatives(q, v, constraints, time)
        return [np.concatenate(pair, axis=-2) for pair in zip(of[:2], of[2:], strict=True)]

    return Parts(("x", "v"), (nv, nv), (nv + constraints.rows,), evaluate, differentiate)


def _constraints(options: Options) -> tuple[Constraints, float]:
    return options["constraints"], options.get("time", 0.0)


def _gravity_forces(model: Model, _: Options) -> Parts:
    own, nv = _InverseDynamics(model, {}), model.nv

    def differentiate(q: Array) -> list[Array]:
        return own.derivatives(q, _zeros(model, q), _zeros(model, q))[:1]

    def curve(weights: Array, q: Array) -> Array:
        return own.curve(weights, q, _zeros(model, q), _zeros(model, q))[..., :nv, :nv]

    return Parts(("x",), (nv,), (nv,), model.gravity_forces, differentiate, curve)


def _momenta_derivative(model: Model, q: Array, v: Array) -> Array:
    """∂(H v)/∂q, where H v = ID(q, 0, v) − ID(q, 0, 0)."""
    of, still = model.inverse_dynamics_derivatives, np.zeros_like(v)
    found: Array = of(q, still, v)[0] - of(q, still, still)[0]
    return found


def _mass_matrix(model: Model, _: Options) -> Parts:
    nv = model.nv

    def differentiate(q: Array) -> list[Array]:  # H is symmetric
        return [_along_each(model, lambda *at: _momenta_derivative(model, *at), q)]

    return Parts(("x",), (nv,), (nv, nv), model.mass_matrix, differentiate)


def _kinetic_energy(model: Model, _: Options) -> Parts:
    """T = ½ v · H v."""
    nv = model.nv

    def differentiate(q: Array, v: Array) -> list[Array]:
        by_q = np.einsum("...i,...ij->...j", v, _momenta_derivative(model, q, v)) / 2
        return [by_q, np.einsum("...ij,...j->...i", model.mass_matrix(q), v)]

    def curve(weights: Array, q: Array, v: Array) -> Array:
        still, of = np.zeros_like(v), model.inverse_dynamics_second_derivatives
        found = np.empty((*v.shape[:-1], 2 * nv, 2 * nv))
        found[..., :nv, :nv] = (of(q, still, v, v)[0] - of(q, still, still, v)[0]) / 2
        found[..., nv:, :nv] = _momenta_derivative(model, q, v)
        found[..., :nv, nv:] = np.swapaxes(found[..., nv:, :nv], -1, -2)
        found[..., nv:, nv:] = model.mass_matrix(q)
        return found * weights[..., None]

    def evaluate(q: Array, v: Array) -> Array:
        return np.asarray(model.energy(q, v)[0])

    return Parts(("x", "v"), (nv, nv), (), evaluate, differentiate, curve)


def _potential_energy(model: Model, _: Options) -> Parts:
    def evaluate(q: Array) -> Array:
        return np.asarray(model.energy(q, _zeros(model, q))[1])

    def curve(weights: Array, q: Array) -> Array:
        still = _zeros(model, q)
        by_q = model.inverse_dynamics_derivatives(q, still, still)[0]
        return by_q * weights[..., None]

    def differentiate(q: Array) -> list[Array]:
        return [model.gravity_forces(q)]  # of springs also

    return Parts(("x",), (model.nv,), (), evaluate, differentiate, curve)


def _center_of_mass(model: Model, _: Options) -> Parts:
    def velocities(q: Array, v: Array) -> Array:
        return model.center_of_mass_velocity_derivatives(q, v)[0]

    return Parts(
        ("x",),
        (model.nv,),
        (3,),
        model.center_of_mass,
        lambda q: [model.center_of_mass_jacobian(q)],
        _curve_of_point(model, velocities),
    )


def _frame_position(model: Model, options: Options) -> Parts:
    frame = options["frame"]

    def velocities(q: Array, v: Array) -> Array:
        return model.frame_velocity_derivatives(q, v, frame)[0][..., :3, :]

    return Parts(
        ("x",),
        (model.nv,),
        (3,),
        lambda q: model.frame_placement(q, frame)[1],
        lambda q: [model.frame_jacobian(q, frame)[..., :3, :]],
        _curve_of_point(model, velocities),
    )


def _curve_of_point(
    model: Model, velocities: Callable[[Array, Array], Array]
) -> Callable[..., Array]:
    """Second derivatives of a point p from ∂ṗ/∂q."""

    def curve(weights: Array, q: Array) -> Array:
        found: Array = np.einsum("...i,...jik->...jk", weights, _along_each(model, velocities, q))
        return found

    return curve


def _frame_rotation(model: Model, options: Options) -> Parts:
    """∂R = [ω]× R along each column ω of the Jacobian in world axes."""
    frame = options["frame"]

    def differentiate(q: Array) -> list[Array]:
        R = model.frame_placement(q, frame)[0]
        turns = np.swapaxes(model.frame_jacobian(q, frame)[..., 3:, :], -1, -2)
        turned = bracket(turns) @ R[..., None, :, :]
        return [np.moveaxis(turned, -3, -1)]

    def evaluate(q: Array) -> Array:
        return model.frame_placement(q, frame)[0]

    return Parts(("x",), (model.nv,), (3, 3), evaluate, differentiate)


def _bound(model: Model, options: Options) -> Callable[[str], Callable[..., Any]]:
    """The model's functions by name; those of a frame with its name and reference."""
    if "frame" not in options:
        return lambda name: getattr(model, name)
    frame, reference = options["frame"], options.get("frame_reference", "local_world_aligned")

    def of(name: str) -> Callable[..., Any]:
        function = getattr(model, name)
        return lambda *args: function(*args, frame, reference=reference)

    return of


def _named(name: str, inputs: tuple[str, ...], size: int) -> Callable[[Model, Options], Parts]:
    """A function of the model whose derivatives have its name."""

    def parts(model: Model, options: Options) -> Parts:
        of = _bound(model, options)
        sizes = (model.nv,) * len(inputs)
        return Parts(inputs, sizes, (size,), of(name), of(f"{name}_derivatives"))

    return parts


def _factor(name: str, velocity: str, size: int) -> Callable[[Model, Options], Parts]:
    """The matrix M of a velocity M v."""

    def parts(model: Model, options: Options) -> Parts:
        of = _bound(model, options)

        def differentiate(q: Array) -> list[Array]:
            found = _along_each(model, lambda *at: of(f"{velocity}_derivatives")(*at)[0], q)
            return [np.swapaxes(found, -3, -2)]

        return Parts(("x",), (model.nv,), (size, model.nv), of(name), differentiate)

    return parts


def _frame_jacobian_rate(model: Model, options: Options) -> Parts:
    of = _bound(model, options)

    def differentiate(q: Array, v: Array) -> Sequence[Array]:
        found: Sequence[Array] = of("frame_acceleration_derivatives")(q, v, np.zeros_like(v))
        return found[:2]

    sizes = (model.nv, model.nv)
    return Parts(("x", "v"), sizes, (6,), of("frame_jacobian_rate"), differentiate)


@dataclass(frozen=True)
class Entry:
    """How to make an algorithm, and its options."""

    make: Callable[[Model, Options], Parts]
    needs: tuple[str, ...] = ()  # options
    takes: tuple[str, ...] = ()


EXTERNAL = ("external", "external_reference")
_FRAME, _AXES = ("frame",), ("frame_reference",)
ALGORITHMS: dict[str, Entry] = {
    "forward_dynamics": Entry(_forward_dynamics, takes=EXTERNAL),
    "inverse_dynamics": Entry(_inverse_dynamics, takes=EXTERNAL),
    "bias_forces": Entry(_bias_forces, takes=EXTERNAL),
    "gravity_forces": Entry(_gravity_forces),
    "mass_matrix": Entry(_mass_matrix),
    "constrained_forward_dynamics": Entry(
        _constrained_forward_dynamics, ("constraints",), ("time", *EXTERNAL)
    ),
    "project_velocities": Entry(_project_velocities, ("constraints",), ("time",)),
    "kinetic_energy": Entry(_kinetic_energy),
    "potential_energy": Entry(_potential_energy),
    "center_of_mass": Entry(_center_of_mass),
    "center_of_mass_velocity": Entry(_named("center_of_mass_velocity", ("x", "v"), 3)),
    "center_of_mass_acceleration": Entry(_named("center_of_mass_acceleration", ("x", "v", "a"), 3)),
    "center_of_mass_jacobian": Entry(
        _factor("center_of_mass_jacobian", "center_of_mass_velocity", 3)
    ),
    "momentum": Entry(_named("momentum", ("x", "v"), 6)),
    "momentum_rate": Entry(_named("momentum_rate", ("x", "v", "a"), 6)),
    "centroidal_momentum_matrix": Entry(_factor("centroidal_momentum_matrix", "momentum", 6)),
    "frame_position": Entry(_frame_position, _FRAME),
    "frame_rotation": Entry(_frame_rotation, _FRAME),
    "frame_velocity": Entry(_named("frame_velocity", ("x", "v"), 6), _FRAME, _AXES),
    "frame_acceleration": Entry(_named("frame_acceleration", ("x", "v", "a"), 6), _FRAME, _AXES),
    "frame_jacobian": Entry(_factor("frame_jacobian", "frame_velocity", 6), _FRAME, _AXES),
    "frame_jacobian_rate": Entry(_frame_jacobian_rate, _FRAME, _AXES),
}
