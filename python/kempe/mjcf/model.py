"""Mechanisms and models that were read from MJCF: with actuators and keyframes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kempe._kempe import Mechanism, Model
from kempe.errors import AssemblyError, SingularityError
from kempe.mjcf.actuators import Actuator, Drive
from kempe.mjcf.frames import Array

Positions = Mapping[str, Sequence[float]]  # of joints
MOST_MOVED = 1e-3  # of a keyframe by closing its loops, rad or m, that is not worth a warning


class MjcfMechanism(Mechanism):
    """A Mechanism with the actuators and keyframes of its file.

    kempe.mjcf.MjcfModel compiles it with them, kempe.Model without."""

    actuators: tuple[Actuator, ...]
    keyframes: dict[str, Positions]
    """Positions of all joints, by keyframe and joint; loops need not be closed."""

    def __init__(self, name: str = "mechanism") -> None:
        super().__init__(name)
        self.actuators = ()
        self.keyframes = {}

    @classmethod
    def of(cls, mechanism: Mechanism, actuators: tuple[Actuator, ...],
           keyframes: Mapping[str, Positions]) -> MjcfMechanism:
        """A copy of a mechanism, with actuators and keyframes."""
        copy = cls.__new__(cls)
        Mechanism.__setstate__(copy, Mechanism.__getstate__(mechanism))
        copy.actuators = actuators
        copy.keyframes = dict(keyframes)
        return copy

    def __copy__(self) -> MjcfMechanism:
        return self.of(self, self.actuators, self.keyframes)

    def __deepcopy__(self, memo: Any) -> MjcfMechanism:
        return self.__copy__()

    def __getstate__(self) -> tuple[Any, ...]:
        return super().__getstate__(), self.actuators, self.keyframes

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        base, self.actuators, self.keyframes = state
        super().__setstate__(base)


class MjcfModel(Model):
    """A Model with the actuators and keyframes of its file."""

    actuators: tuple[Actuator, ...]
    keyframes: Mapping[str, Array]
    """Configurations, with closed loops, by name."""

    def __init__(self, mechanism: Mechanism, *, fold_rotors: bool = True,
                 merge_gimbals: bool = False) -> None:
        super().__init__(mechanism, fold_rotors=fold_rotors, merge_gimbals=merge_gimbals)
        self.actuators = getattr(mechanism, "actuators", ())
        self._positions: dict[str, Positions] = dict(getattr(mechanism, "keyframes", {}))
        self._warnings: list[str] = []
        self._source = mechanism.source
        self._drive = Drive(self, self.actuators)
        self.keyframes = MappingProxyType(self._closed_keyframes())

    def _closed_keyframes(self) -> dict[str, Array]:
        keyframes: dict[str, Array] = {}
        index = {name: i for i, name in enumerate(self.spanning_position_names)}
        chosen = [index[name] for name in self.q_names]
        for name, positions in self._positions.items():
            spanning = np.full(self.nq_spanning, np.nan)
            for joint, numbers in positions.items():
                first = self.joint_position_index(joint)
                spanning[first:first + len(numbers)] = numbers
            problem = ""
            try:
                q = np.asarray(self.project(spanning[chosen]))
            except (AssemblyError, SingularityError, ValueError) as error:
                problem = f"is left out, because its loops cannot be closed: {error}"
            else:
                moved = np.abs(np.asarray(self.spanning_positions(q)) - spanning).max(initial=0)
                if not np.isfinite(moved) or moved > MOST_MOVED:
                    problem = (f"was changed by up to {moved:.3g} (rad or m) to close the loops")
                keyframes[name] = q
            if problem:
                place = f"{self._source}: " if self._source else ""
                self._warnings.append(f'{place}keyframe "{name}": {problem}')
        return keyframes

    @property
    def warnings(self) -> list[str]:
        """Warnings from reading and compiling, and about keyframes."""
        return [*super().warnings, *self._warnings]

    @property
    def mechanism(self) -> MjcfMechanism:
        """A copy of the mechanism that the model was compiled from, to inspect, or to change and
        compile again."""
        return MjcfMechanism.of(super().mechanism, self.actuators, self._positions)

    @property
    def actuator_names(self) -> list[str]:
        return [actuator.name for actuator in self.actuators]

    def actuation_matrix(self, q: ArrayLike) -> Array:
        """The A of tau = A f for forces f of the actuators, (nv, actuators) or (N, nv, actuators).
        Gears are included. Columns of actuators with transmissions that Kempe does not support are
        zero; a warning names them."""
        return self._drive.matrix(q)

    def actuator_forces(self, q: ArrayLike, v: ArrayLike,
                        controls: Mapping[str, float] | ArrayLike) -> Array:
        """Forces of the actuators, (actuators,) or (N, actuators): gain · control + bias within
        their ranges. Controls are numbers by name, the others being zero, or an array of all.
        Raises ValueError for actuators with activation dynamics."""
        return self._drive.forces(q, v, self._drive.controls(controls))

    def actuator_torques(self, q: ArrayLike, v: ArrayLike,
                         controls: Mapping[str, float] | ArrayLike) -> Array:
        """The tau that actuators with these controls apply, (nv,) or (N, nv): for controllers of
        simulations. Arguments as in actuator_forces()."""
        forces = self.actuator_forces(q, v, controls)
        return np.asarray(np.einsum("...ij,...j->...i", self.actuation_matrix(q), forces))

    def with_independent(self, coordinates: Sequence[str]) -> MjcfModel:
        """As Model.with_independent; keyframes are converted."""
        chosen = super().with_independent(coordinates)
        return self._again(chosen.mechanism)

    def _again(self, mechanism: Mechanism) -> MjcfModel:
        return MjcfModel(MjcfMechanism.of(mechanism, self.actuators, self._positions),
                         fold_rotors=self.fold_rotors, merge_gimbals=self.merge_gimbals)

    def __reduce__(self) -> tuple[Any, ...]:
        return _compiled_again, (self.mechanism, self.fold_rotors, self.merge_gimbals)


def _compiled_again(mechanism: Mechanism, fold_rotors: bool, merge_gimbals: bool) -> MjcfModel:
    return MjcfModel(mechanism, fold_rotors=fold_rotors, merge_gimbals=merge_gimbals)
