"""Actuators: their forces from controls, and how these act on a model."""

from __future__ import annotations

import dataclasses
import reprlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kempe import _kempe
from kempe.mjcf.frames import Array, turns
from kempe.mjcf.loops import sites_of_tendon, sum_of_tendon
from kempe.mjcf.tree import BALL, FREE, Reading, number_of_actuators

TRANSMISSIONS = ("joint", "jointinparent", "slidercrank", "tendon", "site", "body", "so3")
WITHOUT = (float("-inf"), float("inf"))


@dataclasses.dataclass(frozen=True)
class Actuator:
    """An actuator of a MJCF file. Its force is gain · control + bias, with

    gain = gain[0] + gain[1] · length + gain[2] · velocity, and bias likewise; it acts along its
    transmission, multiplied by the gear."""

    name: str
    kind: str
    """"motor", "position", "velocity", "general", "muscle" or "adhesion"."""
    transmission: str
    """"joint", "jointinparent", "tendon", "site", "slidercrank", "body" or "so3"."""
    target: str
    """The joint, tendon, site or body that it drives."""
    gear: tuple[float, ...]
    gain: tuple[float, float, float]
    bias: tuple[float, float, float]
    control_range: tuple[float, float]
    force_range: tuple[float, float]
    dynamics: str = "none"
    """How its activation follows the control: "none", "integrator", "filter", "muscle", …"""
    affine: bool = True
    """Whether gain and bias determine its force."""
    joint_type: str = ""
    """Of a joint: "revolute", "continuous", "prismatic", "spherical" or "free"."""
    terms: tuple[tuple[str, float], ...] = ()
    """Of a fixed tendon: its joints and their coefficients."""
    sites: tuple[str, ...] = ()
    """Of a tendon that runs straight through sites: their frames."""

    @property
    def acts(self) -> bool:
        """Whether Kempe computes how it acts on the joints."""
        return self.transmission in ("joint", "jointinparent", "site") or bool(
            self.terms or self.sites)


def read_actuators(reading: Reading) -> tuple[Actuator, ...]:
    """The actuators. Joints that they drive are marked as actuated; those that have an actuator of
    their own, as independent."""
    actuators = tuple(_read(reading, i) for i in range(number_of_actuators(reading.model)))
    notes = reading.notes
    driven, independent = set[str](), set[str]()
    for actuator in actuators:
        if not actuator.acts:
            notes.about("actuator", actuator.name, "its transmission is not supported; its column "
                        "of actuation_matrix is zero.")
        if actuator.transmission in ("joint", "jointinparent"):
            driven.add(actuator.target)
            if actuator.joint_type == "one":
                independent.add(actuator.target)
        driven.update(joint for joint, _ in actuator.terms)
    if actuators and reading.source.disabled("ACTUATION"):
        notes.file("actuators are listed, although the file disables them.")
    for joint in reading.mechanism.joints:
        if joint.name in driven:
            joint.actuated = True
        if joint.name in independent:
            joint.independent = True
    return actuators


def _read(reading: Reading, i: int) -> Actuator:
    model, source, mujoco = reading.model, reading.source, reading.source.mujoco
    name = source.named("actuator", i) or f"actuator{i}"
    number = int(model.actuator_trntype[i])
    transmission = TRANSMISSIONS[number] if 0 <= number < len(TRANSMISSIONS) else "unknown"
    target, other = map(int, model.actuator_trnid[i])
    gain_type, bias_type = int(model.actuator_gaintype[i]), int(model.actuator_biastype[i])
    gains, biases = mujoco.mjtGain, mujoco.mjtBias
    gain, bias = model.actuator_gainprm[i, :3].copy(), model.actuator_biasprm[i, :3].copy()
    if gain_type == gains.mjGAIN_FIXED:
        gain[1:] = 0
    if bias_type == biases.mjBIAS_NONE:
        bias[:] = 0
    affine = (gain_type in (gains.mjGAIN_FIXED, gains.mjGAIN_AFFINE)
              and bias_type in (biases.mjBIAS_NONE, biases.mjBIAS_AFFINE))
    dynamics = _word(mujoco.mjtDyn, "mjDYN_", int(model.actuator_dyntype[i]))
    parts: dict[str, Any] = {}
    if transmission in ("joint", "jointinparent"):
        parts["joint_type"] = {FREE: "free", BALL: "spherical"}.get(
            int(model.jnt_type[target]), "one")
        own = reading.joints[target]
    elif transmission == "tendon":
        own = source.named("tendon", target) or f"tendon{target}"
        total, sites = sum_of_tendon(reading, target), sites_of_tendon(reading, target)
        if total is not None:
            parts["terms"] = tuple(total.terms.items())
        elif sites is not None:
            parts["sites"] = tuple(reading.sites[site] for site in sites)
    elif transmission in ("site", "slidercrank"):
        own = reading.sites[target] if target >= 0 else ""
        if transmission == "site" and other >= 0:
            transmission = "site with refsite"
    else:
        own = reading.bodies[target] if transmission == "body" and target >= 0 else ""
    return Actuator(
        name, _kind(transmission, gain, bias, affine, dynamics), transmission, own,
        tuple(map(float, model.actuator_gear[i])), _three(gain), _three(bias),
        _range(model.actuator_ctrllimited[i] and not source.disabled("CLAMPCTRL"),
               model.actuator_ctrlrange[i]),
        _range(model.actuator_forcelimited[i], model.actuator_forcerange[i]),
        dynamics, affine, **parts)


def _word(enumeration: Any, prefix: str, value: int) -> str:
    for name in dir(enumeration):
        if name.startswith(prefix) and int(getattr(enumeration, name)) == value:
            return name.removeprefix(prefix).lower()
    return "unknown"


def _three(numbers: Any) -> tuple[float, float, float]:
    a, b, c = map(float, numbers)
    return a, b, c


def _range(limited: Any, numbers: Any) -> tuple[float, float]:
    if not limited:
        return WITHOUT
    low, high = map(float, numbers)
    return low, high


def _kind(transmission: str, gain: Array, bias: Array, affine: bool, dynamics: str) -> str:
    """The word for the element that makes such an actuator."""
    if transmission == "body":
        return "adhesion"
    if dynamics == "muscle":
        return "muscle"
    if affine and dynamics == "none" and not gain[1:].any():
        if not bias.any() and gain[0] == 1:
            return "motor"
        if not bias[0] and gain[0] and bias[1] == -gain[0]:
            return "position"
        if not bias[:2].any() and gain[0] and bias[2] == -gain[0]:
            return "velocity"
    return "general"


# --- on a model ----------------------------------------------------------------------------------

class Drive:
    """What the actuators of a model do."""

    def __init__(self, model: _kempe.Model, actuators: tuple[Actuator, ...]) -> None:
        self._model = model
        self._actuators = actuators
        self._constant = np.zeros((model.nv_spanning, len(actuators)))  # for all joints
        for k, actuator in enumerate(actuators):
            if actuator.transmission in ("joint", "jointinparent"):
                first = model.joint_velocity_index(actuator.target)
                if actuator.joint_type == "one":
                    self._constant[first, k] = actuator.gear[0]
                elif actuator.joint_type == "spherical" and actuator.transmission == "joint":
                    self._constant[first:first + 3, k] = actuator.gear[:3]
                elif actuator.joint_type == "free" and actuator.transmission == "joint":
                    self._constant[first + 3:first + 6, k] = actuator.gear[3:6]
            for joint, coefficient in actuator.terms:
                self._constant[model.joint_velocity_index(joint), k] += (
                    actuator.gear[0] * coefficient)

    def matrix(self, q: ArrayLike) -> Array:
        """(nv, actuators), or (N, nv, actuators)."""
        model = self._model
        G = np.asarray(model.constraint_jacobian(q))
        result: Array = np.swapaxes(G, -1, -2) @ self._constant
        for k, actuator in enumerate(self._actuators):
            gear = np.array(actuator.gear)
            if actuator.transmission == "site":
                J = np.asarray(model.frame_jacobian(q, actuator.target, reference="local"))
                result[..., k] = gear @ J
            elif actuator.sites:
                result[..., k] = gear[0] * self._path(q, actuator.sites)[1]
            elif actuator.transmission in ("joint", "jointinparent") and (
                    actuator.joint_type in ("free", "spherical")):
                self._add_turned(q, G, actuator, result[..., k])
        return result

    def _add_turned(self, q: ArrayLike, G: Array, actuator: Actuator, column: Array) -> None:
        """Adds what a joint's gear does along axes of its parent, not of its child."""
        first = self._model.joint_velocity_index(actuator.target)
        at = self._model.joint_position_index(actuator.target)
        free = actuator.joint_type == "free"
        positions = np.asarray(self._model.spanning_positions(q))
        R = turns(positions[..., at + 3 * free:at + 3 * free + 4])
        gear = np.array(actuator.gear)
        parts = [(first, gear[:3])] if free else []
        if actuator.transmission == "jointinparent":
            parts.append((first + 3 * free, gear[3:6] if free else gear[:3]))
        for row, vector in parts:
            local = np.swapaxes(R, -1, -2) @ vector
            column += np.einsum("...ij,...i->...j", G[..., row:row + 3, :], local)

    def _path(self, q: ArrayLike, sites: tuple[str, ...]) -> tuple[Array, Array]:
        """Length of a tendon through sites, and its derivative."""
        length, slope = np.array(0.0), np.array(0.0)
        for one, other in zip(sites, sites[1:], strict=False):
            ends = [np.asarray(self._model.frame_placement(q, site)[1]) for site in (one, other)]
            J = [np.asarray(self._model.frame_jacobian(q, site))[..., :3, :]
                 for site in (one, other)]
            along = ends[1] - ends[0]
            distance = np.linalg.norm(along, axis=-1)
            unit = along / np.where(distance > 0, distance, 1)[..., None]
            length = length + distance
            slope = slope + np.einsum("...i,...ij->...j", unit, J[1] - J[0])
        return length, slope

    def _lengths(self, q: ArrayLike) -> Array:
        """Of the transmissions, (actuators,) or (N, actuators)."""
        positions = np.asarray(self._model.spanning_positions(q))
        lengths = np.zeros((*positions.shape[:-1], len(self._actuators)))
        for k, actuator in enumerate(self._actuators):
            gear = actuator.gear[0]
            if actuator.joint_type == "one":
                lengths[..., k] = gear * positions[
                    ..., self._model.joint_position_index(actuator.target)]
            for joint, coefficient in actuator.terms:
                lengths[..., k] += gear * coefficient * positions[
                    ..., self._model.joint_position_index(joint)]
            if actuator.sites:
                lengths[..., k] = gear * self._path(q, actuator.sites)[0]
        return lengths

    def controls(self, given: Mapping[str, float] | ArrayLike) -> Array:
        """Controls of all actuators: those that are not named are zero."""
        names = [actuator.name for actuator in self._actuators]
        if not isinstance(given, Mapping):
            array = finite("controls", given)
            if array.ndim < 1 or array.shape[-1] != len(names):
                raise ValueError(f"controls: expected {len(names)} numbers, one for each of "
                                 f"actuator_names, or a mapping; got shape {array.shape}")
            return array
        unknown = [name for name in given if name not in names]
        if unknown:
            raise ValueError(f'controls: there is no actuator "{unknown[0]}". Actuators: '
                             f"{', '.join(names) or 'none'}")
        return finite("controls", [given.get(name, 0.0) for name in names])

    def forces(self, q: ArrayLike, v: ArrayLike, controls: Array) -> Array:
        """Of all actuators, (actuators,) or (N, actuators)."""
        velocities = finite("v", v)
        if velocities.ndim < 1 or velocities.shape[-1] != self._model.nv:
            raise ValueError(f"v: expected {self._model.nv} numbers for each state, got shape "
                             f"{velocities.shape}")
        velocity = np.einsum("...ij,...i->...j", self.matrix(q), velocities)
        length = self._lengths(q)
        columns = []
        for k, actuator in enumerate(self._actuators):
            if not actuator.affine or actuator.dynamics != "none":
                raise ValueError(
                    f'actuator "{actuator.name}" of kind {actuator.kind} has activation dynamics '
                    f"({actuator.dynamics}) or a gain that Kempe does not compute. Compute its "
                    "force yourself and multiply it by actuation_matrix.")
            if actuator.transmission in ("joint", "jointinparent", "site") and (
                    actuator.joint_type != "one" and (actuator.gain[1] or actuator.bias[1])):
                raise ValueError(
                    f'actuator "{actuator.name}" depends on the length of a transmission of '
                    f"{actuator.joint_type or 'a site'}, which Kempe does not compute.")
            x, y = length[..., k], velocity[..., k]
            gain = actuator.gain[0] + actuator.gain[1] * x + actuator.gain[2] * y
            bias = actuator.bias[0] + actuator.bias[1] * x + actuator.bias[2] * y
            force = gain * np.clip(controls[..., k], *actuator.control_range) + bias
            columns.append(np.clip(force, *actuator.force_range))
        if not columns:
            return np.zeros((*length.shape[:-1], 0))
        return np.stack(np.broadcast_arrays(*columns), axis=-1)


def finite(name: str, given: object) -> Array:
    """An argument as an array of finite numbers. Raises ValueError."""
    try:
        array = np.asarray(given, float)
    except (TypeError, ValueError):
        raise ValueError(f"{name}: expected real numbers, got {reprlib.repr(given)}") from None
    if not np.isfinite(array).all():
        raise ValueError(f"{name} is not finite")
    return array
