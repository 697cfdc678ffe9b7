"""Motion of a robot over time: simulate() and the Run that it gives."""

from __future__ import annotations

import dataclasses
import math
import os
import zipfile
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import ArrayLike

from kempe._kempe import Model
from kempe.errors import AssemblyError, SingularityError
from kempe.integrators import INTEGRATORS, Rates, State, Vector

__all__ = ["Run", "SimulationError", "simulate"]

Controller = Callable[[float, Vector, Vector], ArrayLike]
External = Mapping["str | int", ArrayLike]

FORMAT = 1  # of saved runs
MOST_STEPS = 1e10
BEYOND = 1e100  # velocities that nothing meaningful has


# --- runs ----------------------------------------------------------------------------------------

@dataclasses.dataclass(frozen=True, eq=False)
class Run:
    """A recorded motion: T samples, one at the start and one after every step."""

    robot: str  # the model's name
    dt: float
    integrator: str
    q_names: list[str]
    v_names: list[str]
    t: Vector  # (T,) s
    q: Vector  # (T, nq)
    v: Vector  # (T, nv)
    tau: Vector  # (T, nv), the controller's
    kinetic: Vector  # (T,) J
    potential: Vector  # (T,) J
    work: Vector  # (T,) J, done since the start by tau and external forces
    loop_error: Vector  # (T,) largest |loop_residual|, 0 where there are no loops

    @property
    def energy(self) -> Vector:
        """Kinetic and potential energy together, (T,) J."""
        return np.asarray(self.kinetic + self.potential)

    @property
    def energy_error(self) -> Vector:
        """How much energy has appeared (or gone) that no force has given (or taken), (T,) J.

        What the integrator does wrong, for robots without damping and friction; with them, what
        they have taken is in it too.
        """
        energy = self.energy
        return np.asarray(energy - energy[0] - self.work)

    @property
    def energy_drift(self) -> float:
        """The largest `energy_error` relative to the energy on the move, which is the largest
        kinetic energy, or the range of the potential one, or a millionth of all where nothing
        moves."""
        moved = max(float(self.kinetic.max()), float(np.ptp(self.potential)),
                    1e-6 * float(np.abs(self.energy).max()))
        largest = float(np.abs(self.energy_error).max())
        return largest / moved if moved > 0 else largest

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        return (f"kempe.Run of {self.robot}: {len(self)} samples, t = {self.t[0]:g} to "
                f"{self.t[-1]:g} s, dt {self.dt:g} s, {self.integrator}")

    def check_fits(self, model: Model) -> None:
        """Raises ValueError if this is not a run of a model with the same coordinates."""
        if self.q_names != model.q_names or self.v_names != model.v_names:
            raise ValueError(
                f'the run is of "{self.robot}" with nq {len(self.q_names)} and nv '
                f'{len(self.v_names)}; its coordinates are not those of "{model.name}" (nq '
                f"{model.nq}, nv {model.nv}). Give the robot, and the options, that it was "
                "recorded with.")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a file .npz, exactly to `path`; load() gives the same run back."""
        arrays = {field.name: np.asarray(getattr(self, field.name))
                  for field in dataclasses.fields(self)}
        with open(path, "wb") as file:
            np.savez(file, allow_pickle=False, kempe_run=np.asarray(FORMAT), **arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Run:
        """Reads what save() has written. Raises ValueError where the file is something else."""
        try:
            with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
                content = dict(archive)
        except (ValueError, EOFError, AttributeError, TypeError, zipfile.BadZipFile) as error:
            raise ValueError(f"{path}: not a recorded run (.npz of numpy)") from error
        wanted = [field.name for field in dataclasses.fields(cls)]
        missing = [name for name in ["kempe_run", *wanted] if name not in content]
        if missing:
            raise ValueError(f"{path}: not a run recorded by kempe; it lacks {', '.join(missing)}")
        if content["kempe_run"] != FORMAT:
            raise ValueError(f"{path}: a run of format {content['kempe_run']}; this version of "
                             f"kempe reads format {FORMAT}")
        plain = {"robot": str, "dt": float, "integrator": str}
        run = cls(**{name: plain[name](content[name].item()) if name in plain
                     else content[name].tolist() if name.endswith("_names") else content[name]
                     for name in wanted})
        samples, nq, nv = len(run.t), len(run.q_names), len(run.v_names)
        shapes = {"q": (samples, nq), "v": (samples, nv), "tau": (samples, nv)}
        for name in ("t", "q", "v", "tau", "kinetic", "potential", "work", "loop_error"):
            found, expected = getattr(run, name).shape, shapes.get(name, (samples,))
            if found != expected:
                raise ValueError(f'{path}: "{name}" has shape {found}, expected {expected}')
        return run


class SimulationError(RuntimeError):
    """A motion that could not go on. `run` is what there is until then, `time` when it was."""

    def __init__(self, text: str, run: Run, time: float) -> None:
        super().__init__(text)
        self.run = run
        self.time = time

    def __reduce__(self) -> tuple[type[SimulationError], tuple[str, Run, float]]:
        return type(self), (str(self), self.run, self.time)


# --- simulating ----------------------------------------------------------------------------------

class _CannotGoOn(Exception):
    """The text says why."""


class _Dynamics:
    """Rates of a state under a controller and external forces."""

    def __init__(self, model: Model, controller: Controller | None,
                 external: External | Callable[[float, Vector, Vector], External] | None) -> None:
        self._model = model
        self._controller = controller
        self._name = getattr(controller, "__qualname__", type(controller).__name__)
        self._external = external
        self._none = np.zeros(model.nv)
        self._none.flags.writeable = False

    def __call__(self, t: float, q: Vector, v: Vector) -> Rates:
        # What a controller is given belongs to the simulation.
        q.flags.writeable = False
        v.flags.writeable = False
        if not (np.abs(v) < BEYOND).all():
            raise _CannotGoOn("the velocities have grown beyond all numbers. Take a smaller dt, or "
                              "a controller with lower gains")
        tau = self._none if self._controller is None else self._command(self._controller, t, q, v)
        if self._external is None:
            a = self._model.forward_dynamics(q, v, tau)
            return Rates(a, tau, float(tau @ v))
        external = self._external(t, q, v) if callable(self._external) else self._external
        a = self._model.forward_dynamics(q, v, tau, external=external)
        power = sum(float(np.dot(force, self._model.frame_velocity(q, v, frame)))
                    for frame, force in external.items())
        return Rates(a, tau, float(tau @ v) + power)

    def _command(self, controller: Controller, t: float, q: Vector, v: Vector) -> Vector:
        """The controller's forces, checked."""
        try:
            given = controller(t, q, v)
        except Exception as error:
            raise _CannotGoOn(
                f"the controller {self._name} raised {type(error).__name__}: {error}") from error
        try:
            tau = np.array(given, dtype=np.float64)
            found = f"numbers of shape {tau.shape}"
        except (TypeError, ValueError):
            tau = np.empty(0)
            found = f"{given!r}"
        if given is None or tau.shape != (self._model.nv,):
            raise _CannotGoOn(
                f"the controller {self._name} returned {'nothing' if given is None else found}; it "
                f"must return nv = {self._model.nv} numbers, the force along each independent "
                "velocity (model.v_names)")
        if not np.isfinite(tau).all():
            wrong = int(np.flatnonzero(~np.isfinite(tau))[0])
            raise _CannotGoOn(f'the controller {self._name} returned {tau[wrong]} for '
                              f'"{self._model.v_names[wrong]}"; forces must be finite')
        return tau


class _Recorder:
    """Samples of a run that is under way."""

    def __init__(self, model: Model, dt: float, integrator: str, times: Vector) -> None:
        self._model, self._dt, self._integrator, self._times = model, dt, integrator, times
        self._q = np.empty((len(times), model.nq))
        self._v = np.empty((len(times), model.nv))
        self._tau = np.empty((len(times), model.nv))
        self._work = np.empty(len(times))
        self.count = 0

    def add(self, state: State, tau: Vector) -> None:
        self._q[self.count], self._v[self.count], self._work[self.count] = state
        self._tau[self.count] = tau
        self.count += 1

    def run(self) -> Run:
        n = self.count
        q, v = self._q[:n], self._v[:n]
        kinetic, potential = self._model.energy(q, v)
        residual = self._model.loop_residual(q)
        return Run(
            robot=self._model.name, dt=self._dt, integrator=self._integrator,
            q_names=list(self._model.q_names), v_names=list(self._model.v_names),
            t=self._times[:n], q=q, v=v, tau=self._tau[:n], kinetic=kinetic,
            potential=potential, work=self._work[:n],
            loop_error=np.abs(residual).max(axis=1, initial=0.0))


def _times(duration: float, dt: float) -> Vector:
    """0, dt, 2 dt, … and the duration; the last step is shorter where dt does not divide it."""
    if not duration / dt < MOST_STEPS:
        raise ValueError(f"dt: {duration / dt:.3g} steps are too many. Take a longer dt or a "
                         "shorter duration.")
    steps = max(1, math.ceil(duration / dt * (1 - 1e-12) - 1e-9))
    times = dt * np.arange(steps + 1, dtype=np.float64)
    times[-1] = duration
    return times


def _positive(name: str, value: float) -> float:
    number = float(value)
    if not (math.isfinite(number) and number > 0):
        raise ValueError(f"{name}: a positive, finite number of seconds is needed, got {value}")
    return number


def simulate(
    model: Model,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    *,
    duration: float,
    dt: float = 1e-3,
    integrator: str = "rk4",
    controller: Controller | None = None,
    external: External | Callable[[float, Vector, Vector], External] | None = None,
    progress: Callable[[float], object] | None = None,
) -> Run:
    """The motion of a robot from a state.

    Damping and friction of joints count; friction f sign(velocity) has no memory, so that a joint
    that sticks hovers around rest. Contact is not modelled.

    Args:
        q: where it starts, (nq,), by default neutral; loops are closed first where they are open.
        v: velocities at the start, (nv,), by default zero.
        duration: seconds.
        dt: length of a step in seconds; the last one is shorter where dt does not divide the
            duration.
        integrator: "rk4": the classical Runge-Kutta method, of order four also where joints turn in
            space; it evaluates the dynamics four times per step. "semi_implicit_euler": of order
            one, once per step. Loops are closed to rounding after either.
        controller: f(t, q, v) -> tau, nv numbers. Called at every evaluation, within a step too. By
            default no forces.
        external: forces on bodies, {frame: [force; moment]} at the frame's origin, axes of the
            world; or a function of (t, q, v) that gives such a dict.
        progress: called after every step with the fraction done; the run ends early if it returns
            False.

    Raises:
        ValueError: an argument is wrong.
        SingularityError, AssemblyError: the start is impossible.
        SimulationError: the motion cannot go on: at a singular position, where the loops end, where
            numbers grow beyond bounds, where the controller fails. It carries the run until then.
    """
    dt, duration = _positive("dt", dt), _positive("duration", duration)
    if integrator not in INTEGRATORS:
        raise ValueError(f'integrator: "{integrator}" is not known. Choose one of '
                         f"{', '.join(INTEGRATORS)}.")
    times = _times(duration, dt)
    start_v = np.zeros(model.nv) if v is None else np.array(v, dtype=np.float64)
    if start_v.shape != (model.nv,) or not np.isfinite(start_v).all():
        raise ValueError(f"v: nv = {model.nv} finite numbers are needed, got shape {start_v.shape}")
    start_q: Vector = np.array(model.neutral() if q is None else q, dtype=np.float64)
    if start_q.shape != (model.nq,):
        raise ValueError(f"q: nq = {model.nq} numbers are needed, got shape {start_q.shape}")
    # A step of no length closes loops and makes quaternions of unit length.
    start_q = model.integrate(start_q, np.zeros(model.nv), 0.0)

    dynamics = _Dynamics(model, controller, external)
    method = INTEGRATORS[integrator](model, dynamics)
    recorder = _Recorder(model, dt, integrator, times)
    state = State(start_q, start_v, 0.0)
    last = len(times) - 1
    time = 0.0
    try:
        for index in range(last + 1):
            time = float(times[index])
            first = dynamics(time, state.q, state.v)
            recorder.add(state, first.tau)
            if index > 0 and progress is not None and progress(index / last) is False:
                break
            if index < last:
                state = method.step(time, float(times[index + 1]) - time, state, first)
    except (AssemblyError, SingularityError, _CannotGoOn, ValueError) as error:
        cause = error.__cause__ if isinstance(error, _CannotGoOn) else error
        if recorder.count == 0:  # nothing has moved: an argument is wrong
            if isinstance(error, _CannotGoOn):
                raise ValueError(str(error)) from cause
            raise
        raise SimulationError(f"{model.name}: the motion stopped at t = {time:.6g} s: {error}",
                              recorder.run(), time) from cause
    return recorder.run()
