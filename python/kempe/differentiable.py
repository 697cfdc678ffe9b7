"""Algorithms with their derivatives, in local coordinates: the common part of the adapters to
CasADi, JAX, PyTorch and Crocoddyl.

=====================================  =========  ==================================================
algorithm                              inputs     result
=====================================  =========  ==================================================
``forward_dynamics`` ᵉ ²               x, v, tau  accelerations, nv
``inverse_dynamics`` ᵉ ²               x, v, a    forces, nv
``bias_forces`` ᵉ ²                    x, v       h, nv
``gravity_forces`` ²                   x          g, nv
``mass_matrix``                        x          H, (nv, nv)
``constrained_forward_dynamics`` ᵉ ᶜ   x, v, tau  [accelerations; multipliers], nv + rows
``project_velocities`` ᶜ               x, v       [velocities afterwards; impulses], nv + rows
``kinetic_energy`` ²                   x, v       a number
``potential_energy`` ²                 x          a number
``center_of_mass`` ²                   x          3
``center_of_mass_velocity``            x, v       3
``center_of_mass_acceleration``        x, v, a    3
``center_of_mass_jacobian``            x          (3, nv)
``momentum``                           x, v       [linear; angular] about the centre of mass, 6
``momentum_rate``                      x, v, a    6
``centroidal_momentum_matrix``         x          (6, nv)
``frame_position`` ᶠ ²                 x          3
``frame_rotation`` ᶠ                   x          (3, 3)
``frame_velocity`` ᶠ ʳ                 x, v       [linear; angular], 6
``frame_acceleration`` ᶠ ʳ             x, v, a    6
``frame_jacobian`` ᶠ ʳ                 x          (6, nv)
``frame_jacobian_rate`` ᶠ ʳ            x, v       J̇ v, 6
=====================================  =========  ==================================================

ᶠ needs ``frame``, ʳ takes ``frame_reference``, ᵉ takes ``external``, whose wrenches are then the
last input, ᶜ needs ``constraints``, ² has second derivatives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from kempe._kempe import Model
from kempe.differentiable_parts import ALGORITHMS, Options, Parts
from kempe.errors import AssemblyError, SingularityError
from kempe.local_coordinates import Array, LocalCoordinates, TangentSpace

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = [
    "Differentiable",
    "LocalCoordinates",
    "Options",
    "TangentSpace",
    "algorithm_names",
    "chosen",
]


@dataclass(frozen=True)
class Differentiable:
    """An algorithm f(x, …) of local coordinates and further vectors, with its derivatives."""

    name: str
    coordinates: LocalCoordinates
    parts: Parts
    nan_where_invalid: bool = False  # instead of raising AssemblyError and so on

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the inputs. The first is x."""
        return self.parts.inputs

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many numbers each input has."""
        return self.parts.sizes

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the result of one state; () is a number."""
        return self.parts.shape

    @property
    def size(self) -> int:
        """How many numbers the result has."""
        return prod(self.shape)

    @property
    def has_second_derivatives(self) -> bool:
        """Whether second_derivatives() exists."""
        return self.parts.curve is not None

    def value(self, x: ArrayLike, *others: ArrayLike) -> Array:
        """f of one state or of N states, (size,) or (N, size)."""

        def compute(x: Array, *others: Array) -> list[Array]:
            found = self.parts.evaluate(self.coordinates.configuration(x), *others)
            return [np.reshape(found, (*x.shape[:-1], self.size))]

        return self._computed(compute, [(self.size,)], x, *others)[0]

    def derivatives(self, x: ArrayLike, *others: ArrayLike) -> list[Array]:
        """∂f/∂x and those by the other inputs, (size, size of the input) or (N, …) each."""

        def compute(x: Array, *others: Array) -> list[Array]:
            first, *rest = self._slopes(x, others)
            return [first @ self.coordinates.tangent(x), *rest]

        return self._computed(compute, [(self.size, count) for count in self.sizes], x, *others)

    def second_derivatives(self, weights: ArrayLike, x: ArrayLike, *others: ArrayLike) -> Array:
        """Hessian of weights · f by all inputs, one after another, (sum(sizes),) * 2 or (N, …).

        Raises:
            NotImplementedError: the algorithm has none.
        """
        curve, nv = self.parts.curve, self.coordinates.model.nv
        if curve is None:
            raise NotImplementedError(f"{self.name} has no second derivatives")

        def compute(weights: Array, x: Array, *others: Array) -> list[Array]:
            found = curve(weights, self.coordinates.configuration(x), *others)
            # f(x) has the gradient Tᵀ g, whose derivative is Tᵀ (∂g/∂q) T + (∂T/∂x)ᵀ g.
            T = self.coordinates.tangent(x)
            found[..., :nv, :] = np.swapaxes(T, -1, -2) @ found[..., :nv, :]
            found[..., :nv] = found[..., :nv] @ T
            gradient = np.einsum("...i,...ij->...j", weights, self._slopes(x, others)[0])
            found[..., :nv, :nv] += self.coordinates.space.curvature(x, gradient)
            return [found]

        return self._computed(compute, [(sum(self.sizes),) * 2], weights, x, *others)[0]

    def _slopes(self, x: Array, others: Sequence[Array]) -> list[Array]:
        """Derivatives by the tangent and by the other inputs."""
        found = self.parts.differentiate(self.coordinates.configuration(x), *others)
        return [
            np.reshape(one, (*x.shape[:-1], self.size, count))
            for one, count in zip(found, self.sizes, strict=True)
        ]

    def _computed(
        self,
        compute: Callable[..., list[Array]],
        shapes: list[tuple[int, ...]],
        *inputs: ArrayLike,
    ) -> list[Array]:
        """Results of these shapes, of one state or of many."""
        arrays = [np.asarray(one, float) for one in inputs]
        if not self.nan_where_invalid:
            return compute(*arrays)
        states = arrays[0].shape[:-1]
        found = [np.full((*states, *shape), np.nan) for shape in shapes]
        valid = np.all([np.isfinite(one).all(axis=-1) for one in arrays], axis=0)
        chosen = [one[valid] for one in arrays] if states else arrays
        if not valid.any():
            return found
        try:
            results = compute(*chosen)
        except (AssemblyError, SingularityError):
            count = len(chosen[0])
            if not states or count == 1:
                return found
            # One of them has no result: it remains alone after some halvings.
            halves = [
                self._computed(compute, shapes, *(one[part] for one in chosen))
                for part in (slice(count // 2), slice(count // 2, count))
            ]
            results = [np.concatenate(pair) for pair in zip(*halves, strict=True)]
        for target, result in zip(found, results, strict=True):
            target[valid if states else ...] = result
        return found


def algorithm_names() -> list[str]:
    """All algorithms that the adapters offer."""
    return list(ALGORITHMS)


def chosen(
    model: Model,
    algorithm: str,
    reference: ArrayLike | None = None,
    **options: Unpack[Options],
) -> Differentiable:
    """An algorithm by name; see the table above.

    Args:
        model: the model.
        algorithm: its name.
        reference: configuration at x = 0; by default model.neutral().
        frame: name or index of a frame, of algorithms of a frame.
        frame_reference: axes of its velocity or acceleration: "local_world_aligned" (by default),
            "local" or "world".
        external: a frame or several; the wrenches [force; moment] on them, 6 numbers each, are then
            the last input, "external".
        external_reference: how they are given, as in model.forward_dynamics.
        constraints: of the model.
        time: t of the constraints, in seconds; a constant, 0 by default.
        invalid: "raise" (by default) or "nan": at a state that is singular, whose loops cannot be
            closed, or whose inputs are not finite, the call raises, or its results are NaN.

    Raises:
        ValueError: there is no such algorithm or frame, or it needs or does not take an option.
    """
    entry = ALGORITHMS.get(algorithm)
    if entry is None:
        raise ValueError(
            f"there is no algorithm {algorithm!r}; there are {', '.join(algorithm_names())}"
        )
    # None stands for an option that is left out.
    given: Options = {key: one for key, one in options.items() if one is not None}  # type: ignore[assignment]
    invalid = given.pop("invalid", "raise")
    if invalid not in ("raise", "nan"):
        raise ValueError(f'invalid: expected "raise" or "nan", got {invalid!r}')
    for key in given:
        if key not in Options.__annotations__:
            raise TypeError(
                f"there is no option {key!r}; there are {', '.join(Options.__annotations__)}"
            )
        if key not in entry.needs + entry.takes:
            takes = ", ".join(entry.needs + entry.takes) or "none"
            raise ValueError(f"{algorithm} takes no {key} (its options: {takes})")
    for key in entry.needs:
        if key not in given:
            what = {"frame": "the name of a frame", "constraints": "Constraints of the model"}[key]
            raise ValueError(f"{algorithm} needs {what}: {key}=…")
    if "external_reference" in given and "external" not in given:
        raise ValueError(
            "external_reference: there are no external forces; name frames: external=…"
        )
    if "frame" in given:  # raises if there is no such frame or reference
        axes = given.get("frame_reference", "local_world_aligned")
        model.frame_jacobian(model.neutral(), given["frame"], axes)
    coordinates = LocalCoordinates(model, reference)
    return Differentiable(algorithm, coordinates, entry.make(model, given), invalid == "nan")
