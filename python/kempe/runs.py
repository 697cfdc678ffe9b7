"""Recorded motions: the Run that simulate() returns, and its files."""

from __future__ import annotations

import dataclasses
import functools
import math
import os
import reprlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kempe import _kempe
from kempe._kempe import Model

__all__ = ["Run"]

Vector = NDArray[np.floating[Any]]

FORMAT = 2  # of archives
RECORDING = b"kempe recording "  # how recordings begin
ARCHIVE_SUFFIX = ".npz"
SCALARS = ("kinetic", "potential", "work", "losses", "loop_error")  # one number per sample
OF_FORCES = ("spanning_velocities", "spanning_forces", "body_forces")
# For snapshots and recordings; the numbers of a sample.
OF_SNAPSHOTS = {"work_terms": 6, "step_control": 9}
OPTIONAL = (*OF_FORCES, *OF_SNAPSHOTS, "energy_exchanged", "spanning_names", "choices", "choice",
            "fingerprint")  # may be missing in a file


def real_numbers(given: object) -> Vector:
    """An array as Model takes them. Callers put a name before the text of the ValueError."""
    if isinstance(given, np.ma.MaskedArray):
        raise ValueError("expected real numbers, got a masked array")
    try:
        array = np.asarray(given)
    except Exception as error:  # ragged lists, and objects whose __array__ fails
        raise ValueError(f"expected real numbers, got {reprlib.repr(given)}") from error
    if array.dtype.kind not in "fiu":
        raise ValueError(f"expected real numbers, got an array of type {array.dtype}")
    return array.astype(np.float64)


@dataclasses.dataclass(frozen=True, eq=False)
class Run:
    """A recorded motion: T samples, one at the start and one after every dt."""

    robot: str  # the model's name
    dt: float
    integrator: str
    q_names: list[str]
    v_names: list[str]
    t: Vector  # (T,) s
    q: Vector  # (T, nq)
    v: Vector  # (T, nv)
    a: Vector  # (T, nv), NaN in runs that were saved by versions without it
    tau: Vector  # (T, nv), the controller's
    kinetic: Vector  # (T,) J
    potential: Vector  # (T,) J
    work: Vector  # (T,) J, done since the start by tau, external forces and motors
    losses: Vector  # (T,) J, dissipated since the start by damping, friction and end stops
    loop_error: Vector  # (T,) largest |loop_residual|, 0 without loops
    warnings: list[str] = dataclasses.field(default_factory=list)  # about the motion
    integrators_used: list[str] = dataclasses.field(default_factory=list)  # that took steps
    # J, Simulator.energy_exchanged at the end; 0 in runs that were saved by versions without it.
    energy_exchanged: float = 0.0
    # At all tree joints, (T, nv_spanning); None in runs that were saved by versions without them.
    spanning_velocities: Vector | None = None
    spanning_forces: Vector | None = None  # tau, springs, motors, friction, stops, constraints
    # [force; moment] on the body of each joint, (T, joints, 6), in world axes about the world's
    # origin: external forces, springs between points, constraints. None if there are none.
    body_forces: Vector | None = None
    # For snapshots and recordings; None in runs that were saved by versions without them.
    work_terms: Vector | None = None  # (T, 6), as Simulator.work
    step_control: Vector | None = None  # (T, 9), memory of integrators with error control
    choices: list[list[str]] = dataclasses.field(default_factory=list)  # independent coordinates
    choice: NDArray[np.integer[Any]] | None = None  # (T,), index into `choices`
    spanning_names: list[str] = dataclasses.field(default_factory=list)  # of velocities
    fingerprint: int = 0  # of the robot; 0 if it is not known
    model: Model | None = dataclasses.field(default=None, repr=False)  # Simulator.model; not saved

    @functools.cached_property
    def _forces(self) -> tuple[dict[str, Vector], dict[str, Vector]]:
        """Of all joints and of all loops."""
        if self.spanning_velocities is None or self.spanning_forces is None:
            raise ValueError(f"the run of {self.robot} has no forces: it was saved by a version of "
                             "kempe that did not record them. Simulate again.")
        if self.model is None:
            raise ValueError(f"the run of {self.robot} was loaded without its robot. Give it: "
                             "kempe.Run.load(path, model).")
        wrenches = np.empty((len(self), 0)) if self.body_forces is None else self.body_forces
        return _kempe.forces_of_run(
            self.model, *(np.ascontiguousarray(numbers.reshape(len(self), -1)) for numbers in (
                self.q, self.spanning_velocities, self.a, self.spanning_forces, wrenches)))

    @property
    def joint_forces(self) -> dict[str, Vector]:
        """[Force; moment] that the parent applies to the child of every joint, with everything that
        acts, (T, 6) each: at the joint's origin, in world axes; see Model.joint_forces. Computed
        when first used. NaN at change points."""
        return dict(self._forces[0])

    @property
    def loop_forces(self) -> dict[str, Vector]:
        """Forces that each loop transmits, (T, 6) or (T, coordinates); see Model.loop_forces."""
        return dict(self._forces[1])

    @property
    def energy(self) -> Vector:
        """Sum of kinetic and potential energy, (T,) J."""
        return np.asarray(self.kinetic + self.potential)

    @property
    def energy_error(self) -> Vector:
        """Energy − energy at the start − work + losses, (T,) J: zero for an exact integrator."""
        balance = self.energy - self.work + self.losses
        return np.asarray(balance - balance[0])

    @property
    def energy_drift(self) -> float:
        """The largest `energy_error` relative to the energy exchanged in the motion: the largest
        of the peak kinetic energy, the range of the potential energy, the work and the losses
        (these two between samples too: `energy_exchanged`), and a millionth of the total energy
        (for robots at rest)."""
        moved = max(float(self.kinetic.max()), float(np.ptp(self.potential)),
                    float(np.abs(self.work - self.work[0]).max()),
                    float(np.abs(self.losses - self.losses[0]).max()),
                    1e-6 * float(np.abs(self.energy).max()), self.energy_exchanged)
        largest = float(np.abs(self.energy_error).max())
        return largest / moved if moved > 0 else largest

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        return (f"kempe.Run of {self.robot}: {len(self)} samples, t = {self.t[0]:g} to "
                f"{self.t[-1]:g} s, dt {self.dt:g} s, {self.method}")

    @property
    def method(self) -> str:
        """The integrator; if it chose among others, those that it used."""
        used = " and ".join(self.integrators_used)
        return f"{self.integrator} ({used})" if used not in ("", self.integrator) else (
            self.integrator)

    def check_fits(self, model: Model) -> None:
        """Raises ValueError if this is not a run of a model with the same coordinates."""
        if self.q_names != model.q_names or self.v_names != model.v_names:
            raise ValueError(
                f'the run is of "{self.robot}" with nq {len(self.q_names)} and nv '
                f'{len(self.v_names)}; its coordinates are not those of "{model.name}" (nq '
                f"{model.nq}, nv {model.nv}). Give the robot, and the options, that it was "
                "recorded with.")

    def snapshot(self, sample: int = -1) -> _kempe.Snapshot:
        """The complete state at a sample, by default the last, from which Simulator.restore()
        continues exactly."""
        count = len(self)
        if not -count <= sample < count:
            raise ValueError(f"sample: {sample} is not one of the {count} of the run")
        return _kempe.snapshot_of_run(self, sample % count)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a recording to exactly `path`: the file that Recording::save of the C++ library
        writes, and that load() reads in both languages. A name that ends in .npz gives an archive
        of the same arrays for numpy, which only Python reads."""
        if not os.fsdecode(path).lower().endswith(ARCHIVE_SUFFIX):
            _kempe.save_recording(os.fsdecode(path), self)
            return
        values = {field.name: getattr(self, field.name)
                  for field in dataclasses.fields(self) if field.name != "model"}
        arrays = {name: np.asarray(value) for name, value in values.items() if value is not None}
        with open(path, "wb") as file:
            np.savez(file, allow_pickle=False, kempe_run=np.asarray(FORMAT), **arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str], model: Model | None = None) -> Run:
        """Reads a recording, written by save() or by Recording::save of the C++ library, or an
        archive of numpy, which earlier versions of save() wrote. Raises ValueError for other files.

        joint_forces and loop_forces need the model: that of the simulator, which includes the
        armatures of its motors.
        """
        content = _recording(path) if _is_recording(path) else _archive(path)
        known = [field.name for field in dataclasses.fields(cls) if field.name != "model"]
        wanted = [name for name in known if name in content or name not in OPTIONAL]
        missing = [name for name in wanted if name not in content]
        if missing:
            raise ValueError(f"{path}: not a run recorded by kempe; it lacks {', '.join(missing)}")
        values: dict[str, Any] = {}
        for name in wanted:
            try:
                values[name] = _loaded_field(name, content[name])
            except ValueError as error:
                raise ValueError(f'{path}: "{name}": {error}') from error.__cause__
        run = cls(**values, model=model)
        if model is not None:
            run.check_fits(model)
        samples, nq, nv = len(run.t), len(run.q_names), len(run.v_names)
        shapes = {"q": (samples, nq), "v": (samples, nv), "a": (samples, nv), "tau": (samples, nv)}
        for name in ("q", "v", "a", "tau", *SCALARS):
            found, expected = getattr(run, name).shape, shapes.get(name, (samples,))
            if found != expected:
                raise ValueError(f'{path}: "{name}" has shape {found}, expected {expected}')
        for name in OF_FORCES:
            array, dimensions = getattr(run, name), 3 if name == "body_forces" else 2
            if array is not None and (array.ndim != dimensions or len(array) != samples):
                raise ValueError(f'{path}: "{name}" has shape {array.shape}, expected {dimensions} '
                                 f"dimensions, the first of them {samples}")
        for name, size in OF_SNAPSHOTS.items():
            array = getattr(run, name)
            if array is not None and array.shape != (samples, size):
                raise ValueError(f'{path}: "{name}" has shape {array.shape}, expected '
                                 f"{(samples, size)}")
        if run.choice is not None and (run.choice.shape != (samples,) or not (
                (run.choice >= 0) & (run.choice < len(run.choices))).all()):
            raise ValueError(f'{path}: "choice": expected {samples} indices of the '
                             f"{len(run.choices)} choices")
        return run


def _is_recording(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins like a recording."""
    with open(path, "rb") as file:
        return file.read(len(RECORDING)) == RECORDING


def _recording(path: str | os.PathLike[str]) -> dict[str, np.ndarray[Any, Any]]:
    """The arrays of a run's fields, from a recording."""
    try:
        fields = _kempe.fields_of_recording(os.fsdecode(path))
    except RuntimeError as error:
        raise ValueError(str(error)) from None
    content = {name: np.asarray(value) for name, value in fields.items()}
    for name in SCALARS:
        content[name] = content[name][:, 0]
    if "body_forces" in content:
        content["body_forces"] = content["body_forces"].reshape(len(content["t"]), -1, 6)
    return content


def _archive(path: str | os.PathLike[str]) -> dict[str, np.ndarray[Any, Any]]:
    """The same from an archive of numpy."""
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
            content = dict(archive)
    except (OSError, MemoryError):
        raise
    except Exception as error:  # numpy and zipfile raise many kinds for other files
        raise ValueError(f"{path}: not a recorded run: neither a .recording, which begins with "
                         f'"{RECORDING.decode()}", nor an .npz of numpy') from error
    if "kempe_run" not in content:
        raise ValueError(f"{path}: not a run recorded by kempe; it lacks kempe_run")
    version = content["kempe_run"]
    if version.shape != () or version not in (1, FORMAT):
        raise ValueError(f"{path}: a run of format {version}; this version of kempe reads "
                         f"formats 1 and {FORMAT}")
    if version == 1:
        _complete_format_1(content)
    return content


def _complete_format_1(content: dict[str, np.ndarray[Any, Any]]) -> None:
    """Adds what format 1 lacks: accelerations as NaN, losses as zero, and a note."""
    if "v" in content and content["v"].dtype.kind in "fiu":
        content["a"] = np.full(content["v"].shape, np.nan)
    if "work" in content and content["work"].dtype.kind in "fiu":
        content["losses"] = np.zeros(content["work"].shape)
    if "integrator" in content:
        content["integrators_used"] = np.atleast_1d(content["integrator"])
    content["warnings"] = np.asarray(
        ["saved in format 1, without losses: energy_error includes the energy that damping and "
         "friction dissipated"])


def _loaded_field(name: str, array: np.ndarray[Any, Any]) -> Any:
    """The value of a run's field, from its array in a file."""
    if name in ("robot", "integrator"):
        if array.shape != () or array.dtype.kind != "U":
            raise ValueError(f"expected a string, got an array of type {array.dtype} and shape "
                             f"{array.shape}")
        return str(array.item())
    if name.endswith("_names") or name in ("warnings", "integrators_used"):
        if array.ndim != 1 or (array.size and array.dtype.kind != "U"):
            raise ValueError(f"expected a list of strings, got an array of type {array.dtype} and "
                             f"shape {array.shape}")
        return array.tolist()
    if name == "choices":
        if array.ndim != 2 or (array.size and array.dtype.kind != "U"):
            raise ValueError("expected lists of strings of equal length, got an array of type "
                             f"{array.dtype} and shape {array.shape}")
        return array.tolist()
    if name in ("choice", "fingerprint"):
        if array.dtype.kind not in "iu" or array.ndim != (name == "choice"):
            raise ValueError(f"expected whole numbers, got an array of type {array.dtype} and "
                             f"shape {array.shape}")
        return array if name == "choice" else int(array)
    if name == "dt":
        if array.shape != ():
            raise ValueError(f"expected one number, got shape {array.shape}")
        number = float(real_numbers(array))
        if not (math.isfinite(number) and number > 0):
            raise ValueError(f"expected a positive, finite number of seconds, got {number}")
        return number
    if name == "energy_exchanged":
        if array.shape != () or not (math.isfinite(real_numbers(array)) and array >= 0):
            raise ValueError(f"expected one number of joules, zero or more, got {array}")
        return float(array)
    numbers = real_numbers(array)
    if name == "t" and (numbers.ndim != 1 or len(numbers) == 0):
        raise ValueError(f"expected the times of at least one sample, got shape {numbers.shape}")
    if name in ("t", "q", "v") and not np.isfinite(numbers).all():
        raise ValueError("expected finite numbers")
    if name == "t" and not (np.diff(numbers) > 0).all():
        raise ValueError("expected strictly increasing times")
    return numbers
