"""Motion of a robot over time: simulate(), Simulator and their errors."""

from __future__ import annotations

import math
import os
import reprlib
import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kempe import _kempe
from kempe._kempe import Model
from kempe.errors import AssemblyError, SimulationWarning, SingularityError
from kempe.runs import SCALARS, Run, Vector, real_numbers

__all__ = ["DEFAULT_INTEGRATOR", "INTEGRATORS", "Run", "SimulationError",
           "SimulationInterrupted", "Simulator", "simulate"]

Controller = Callable[[float, Vector, Vector], ArrayLike]
# Numbers by joint, coordinate or (joint, component); Mapping is invariant in its keys.
Named = (Mapping[str, ArrayLike] | Mapping[tuple[str, int], ArrayLike]
         | Mapping["str | tuple[str, int]", ArrayLike])
External = Mapping["str | int", ArrayLike]

FIXED_STEPS = ("rk4", "semi_implicit_euler", "implicit_midpoint")
INTEGRATORS = (*FIXED_STEPS, "adaptive", "radau", "auto")
DEFAULT_INTEGRATOR = "auto"  # as in SimulatorOptions

MOST_STEPS = 1e10
LOOK_EVERY = 0.5  # seconds, between looks at a run that is under way
COMPUTING = "the simulator is computing"  # how the error of callbacks that evaluate it begins
BEYOND = 1e100  # a velocity above this means that the simulation diverged


def _real_argument(name: str, given: object) -> Vector:
    try:
        return real_numbers(given)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error.__cause__


def _positive(name: str, value: object) -> float:
    number = _real_argument(name, value)
    if number.shape != () or not (np.isfinite(number) and number > 0):
        raise ValueError(f"{name}: a positive, finite number of seconds is needed, got {value}")
    return float(number)


class SimulationError(RuntimeError):
    """A simulation that had to stop. `run` is the motion up to that point, `time` its end in s."""

    def __init__(self, text: str, run: Run, time: float) -> None:
        super().__init__(text)
        self.run = run
        self.time = time

    def __reduce__(self) -> tuple[type[SimulationError], tuple[str, Run, float]]:
        return type(self), (str(self), self.run, self.time)


class SimulationInterrupted(KeyboardInterrupt):
    """Ctrl-C during a simulation. `run` is the motion up to that point, `time` its end in s."""

    def __init__(self, run: Run, time: float) -> None:
        super().__init__(f"{run.robot}: interrupted at t = {time:.6g} s")
        self.run = run
        self.time = time


# --- simulating ----------------------------------------------------------------------------------

class _CannotGoOn(Exception):
    """The text says why."""


class _Ended(Exception):
    """A run ends within a step: `progress` returned False, or raised the exception `error`."""

    def __init__(self, error: Exception | None = None) -> None:
        super().__init__()
        self.error = error


class _Actions:
    """A controller and external forces, with checks of their results."""

    def __init__(self, model: Model, controller: Controller | None,
                 external: External | Callable[[float, Vector, Vector], External] | None) -> None:
        self._model = model
        self._controller = controller
        self._name = getattr(controller, "__qualname__", type(controller).__name__)
        self._external = external
        self._frames = frozenset(model.frame_names)

    def command(self, t: float, q: Vector, v: Vector) -> Vector:
        """The controller's forces."""
        assert self._controller is not None
        try:
            given = self._controller(t, q, v)
        except Exception as error:
            raise _CannotGoOn(
                f"the controller {self._name} raised {type(error).__name__}: {error}") from error
        tau: Vector = np.empty(0)
        try:
            tau = real_numbers(given)
            found = f"numbers of shape {tau.shape}"
        except ValueError as error:
            found = "nothing" if given is None else f"{reprlib.repr(given)} ({error})"
        if tau.shape != (self._model.nv,) or found == "nothing":
            raise _CannotGoOn(
                f"the controller {self._name} returned {found}; it must return nv = "
                f"{self._model.nv} numbers, the force along each independent velocity "
                "(model.v_names)")
        if not np.isfinite(tau).all():
            wrong = int(np.flatnonzero(~np.isfinite(tau))[0])
            raise _CannotGoOn(f'the controller {self._name} returned {tau[wrong]} for '
                              f'"{self._model.v_names[wrong]}"; forces must be finite')
        return tau

    def forces(self, t: float, q: Vector, v: Vector) -> dict[str | int, Vector]:
        """External forces."""
        given: object = self._external
        if callable(self._external):
            try:
                given = self._external(t, q, v)
            except Exception as error:
                raise _CannotGoOn(
                    f"external: the function raised {type(error).__name__}: {error}") from error
        if not isinstance(given, Mapping):
            raise _CannotGoOn(
                "external: expected a dict {frame: [force; moment]}"
                f"{', or a function that returns one' if given is self._external else ''}, got "
                f"{reprlib.repr(given)}")
        return {self._frame(frame): self._force(frame, force) for frame, force in given.items()}

    def _frame(self, frame: str | int) -> str | int:
        known = (frame in self._frames if isinstance(frame, str)
                 else isinstance(frame, (int, np.integer)) and not isinstance(frame, bool)
                 and 0 <= frame < len(self._model.frame_names))
        if not known:
            raise _CannotGoOn(f'external: "{frame}" is not a frame of {self._model.name} '
                              "(model.frame_names)")
        return frame

    @staticmethod
    def _force(frame: str | int, given: object) -> Vector:
        try:
            force = real_numbers(given)
        except ValueError as error:
            raise _CannotGoOn(f'external: of "{frame}": {error}') from error.__cause__
        if force.shape != (6,) or not np.isfinite(force).all():
            raise _CannotGoOn(f'external: "{frame}" needs 6 finite numbers, [force; moment], got '
                              + ("shape " + str(force.shape) if force.shape != (6,)
                                 else str(force.tolist())))
        return force


class _Recorder:
    """Samples of a run that is under way."""

    def __init__(self, simulator: _kempe.Simulator, duration: float, dt: float,
                 progress: Callable[[float], object] | None) -> None:
        """`simulator` must be in a run, so that no other thread changes its time."""
        self._simulator, self._model = simulator, simulator.model
        self._start, self._duration, self._dt = simulator.time, duration, dt
        self._steps_before = self._steps()
        self.last = _step_count(duration, dt)
        self._fields = simulator.sample_fields  # names and sizes, in the order of a sample
        width = sum(size for _, size in self._fields)
        _require_memory(self.last + 1, width + 1)
        # Not touched before samples are written: memory is used as it is needed, and Ctrl-C does
        # not wait for arrays to be filled.
        self._times = np.empty(self.last + 1)
        self._samples = np.empty((self.last + 1, width))
        self._wrenches: Vector | None = None  # on bodies, from the first sample that has them
        self._choices: list[list[str]] = []  # of independent coordinates, in order of their use
        self._choice = np.empty(self.last + 1, np.int32)
        self._next_look = time.monotonic() + LOOK_EVERY
        self._progress = progress
        self.short_steps = ""  # the warning of that, once it was given
        self.count = 0

    def time_of(self, index: int) -> float:
        """0, dt, 2 dt, … and the duration; the last step is shorter if dt does not divide it."""
        return self._start + (self._duration if index == self.last else self._dt * index)

    def warn_of_short_steps(self, stacklevel: int) -> None:
        """A run that may take hours says why, while it is under way."""
        if self.short_steps:
            return
        self.short_steps = self._simulator.short_steps_warning
        if self.short_steps:
            warnings.warn(f"{self._model.name}: {self.short_steps}", SimulationWarning,
                          stacklevel=stacklevel)

    def look(self) -> None:
        """Called while steps are computed, also within a long one."""
        now = time.monotonic()
        if now < self._next_look:
            return
        self._next_look = now + LOOK_EVERY
        try:
            self.warn_of_short_steps(6)
            done = (self._simulator.time - self._start) / self._duration
            goes_on = self._progress is None or self._progress(done) is not False
        except Exception as error:
            if str(error).startswith(COMPUTING):  # it evaluates the simulator, as it may at samples
                return
            raise _Ended(error) from error
        if not goes_on:
            raise _Ended

    def report(self, index: int) -> bool:
        """After a sample; whether the run goes on."""
        now = time.monotonic()
        if now >= self._next_look:
            self._next_look = now + LOOK_EVERY
            self.warn_of_short_steps(6)
        return index == 0 or self._progress is None or (
            self._progress(index / self.last) is not False)

    def add(self) -> None:
        self._times[self.count] = self.time_of(self.count)
        sample, width = self._simulator.sample(), self._samples.shape[1]
        self._samples[self.count] = sample[:width]
        if len(sample) > width and self._wrenches is None:
            self._wrenches = np.zeros((len(self._times), (len(sample) - width) // 6, 6))
        if len(sample) > width and self._wrenches is not None:
            self._wrenches[self.count] = sample[width:].reshape(-1, 6)
        coordinates = self._simulator.coordinates
        if coordinates not in self._choices:
            self._choices.append(coordinates)
        self._choice[self.count] = self._choices.index(coordinates)
        self.count += 1

    def _steps(self) -> dict[str, int]:
        return {name: effort["steps"] for name, effort in self._simulator.statistics.items()}

    def run(self) -> Run:
        model, n = self._model, self.count
        used = [name for name, steps in self._steps().items()
                if steps > self._steps_before.get(name, 0)]
        ends = np.cumsum([size for _, size in self._fields])
        parts = np.split(self._samples[:n], ends[:-1], axis=1)
        numbers = {name: np.ascontiguousarray(part[:, 0] if name in SCALARS else part)
                   for (name, _), part in zip(self._fields, parts, strict=True)}
        return Run(
            robot=model.name, dt=self._dt, integrator=self._simulator.integrator,
            q_names=list(model.q_names), v_names=list(model.v_names), t=self._times[:n], **numbers,
            warnings=self._simulator.warnings, integrators_used=used,
            energy_exchanged=self._simulator.energy_exchanged,
            body_forces=None if self._wrenches is None else self._wrenches[:n],
            choices=self._choices, choice=self._choice[:n],
            spanning_names=list(model.spanning_velocity_names),
            fingerprint=self._simulator.snapshot().fingerprint, model=model)


def _step_count(duration: float, dt: float) -> int:
    if not duration / dt < MOST_STEPS:
        raise ValueError(f"dt: {duration / dt:.3g} steps are too many. Use a longer dt or a "
                         "shorter duration.")
    return max(1, math.ceil(duration / dt * (1 - 1e-12) - 1e-9))


def _require_memory(samples: int, width: int) -> None:
    """Refuses runs that do not fit into memory, before they have taken hours."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # not known on this system
        return
    needed = 8 * samples * width
    if needed > memory:
        raise ValueError(f"dt: {samples} samples take {needed / 2**30:.3g} GiB, more than the "
                         f"{memory / 2**30:.3g} GiB of memory. Use a longer dt or a shorter "
                         "duration.")


def _recorded(simulator: _kempe.Simulator, duration: float, dt: float,
              progress: Callable[[float], object] | None) -> Run:
    if progress is not None and not callable(progress):
        raise TypeError(f"progress: expected a function, got {reprlib.repr(progress)}")
    duration = _positive("duration", duration)
    dt = min(_positive("dt", dt), duration)
    simulator.begin_run()
    try:
        recorder = _Recorder(simulator, duration, dt, progress)
        simulator.set_interrupt_check(recorder.look)
        try:
            _record(simulator, recorder)
        except KeyboardInterrupt as error:
            if recorder.count == 0:
                raise
            raise SimulationInterrupted(
                recorder.run(), recorder.time_of(recorder.count - 1)) from error
        run = recorder.run()
        short_steps = simulator.short_steps_warning
    finally:
        simulator.set_interrupt_check(None)
        simulator.end_run()
    for text in run.warnings:
        if recorder.short_steps and text == short_steps:  # warned of during the run
            continue
        warnings.warn(f"{run.robot}: {text}", SimulationWarning, stacklevel=3)
    return run


def _record(simulator: _kempe.Simulator, recorder: _Recorder) -> None:
    for index in range(recorder.last + 1):
        try:
            if index > 0:
                simulator.step_to(recorder.time_of(index))
            recorder.add()
        except MemoryError:
            raise
        except _Ended as end:
            if end.error is not None:
                raise end.error from None
            break
        except Exception as error:
            cause = error.__cause__ if isinstance(error, _CannotGoOn) else error
            if recorder.count == 0:  # nothing has moved: an argument is wrong
                if isinstance(error, _CannotGoOn):
                    raise ValueError(str(error)) from cause
                raise
            # The simulator's own errors need no type name; others come from user functions.
            known = type(error) in (
                AssemblyError, SingularityError, _CannotGoOn, ValueError, RuntimeError)
            text = str(error) if known else f"{type(error).__name__}: {error}"
            stopped = recorder.time_of(recorder.count - 1)
            raise SimulationError(
                f"{simulator.model.name}: the motion stopped at t = {stopped:.6g} s: {text}",
                recorder.run(), stopped) from cause
        if not recorder.report(index):
            break


class Simulator(_kempe.Simulator):
    """Simulates a robot step by step.

    Loops stay closed to rounding: each step uses local coordinates around its start. Near a dead
    point of the model's independent coordinates, the simulator switches to others without a jump;
    `v` and forces are always expressed in the model's own. For a simple run use simulate().
    """

    def run(self, duration: float, dt: float = 1e-3,
            progress: Callable[[float], object] | None = None) -> Run:
        """Simulates and records a sample every dt seconds; the last interval is shorter if dt does
        not divide the duration.

        `progress` is called with the fraction done, after every sample and every half second
        between them; the run ends early, at the last sample, if it returns False. Raises
        SimulationError, which contains the run up to that point. Warns (SimulationWarning) with
        the texts of run.warnings.
        """
        return _recorded(self, duration, dt, progress)


def _check_kinds(model: object, controller: object, progress: object) -> None:
    if not isinstance(model, Model):
        raise TypeError(f"model: expected a kempe.Model, got {reprlib.repr(model)}. Use "
                        "kempe.load for a file, kempe.robots.load for a bundled robot.")
    if controller is not None and not callable(controller):
        raise TypeError("controller: expected a function f(t, q, v) that returns forces, got "
                        f"{reprlib.repr(controller)}")
    if progress is not None and not callable(progress):
        raise TypeError(f"progress: expected a function, got {reprlib.repr(progress)}")


def _require_moderate(velocities: Vector) -> None:
    if (np.abs(velocities) >= BEYOND).any():
        raise ValueError("v: the initial velocities must be below 1e100, but the largest is "
                         f"{np.abs(velocities).max():.3g}")


def _start(model: Model, q: object, v: object) -> tuple[Any, Any]:
    """The checked initial state, as Simulator.set_state takes it."""
    start_q, start_v = q, v
    if not isinstance(v, Mapping):
        start_v = numbers = np.zeros(model.nv) if v is None else _real_argument("v", v)
        if numbers.shape != (model.nv,):
            raise ValueError(f"v: nv = {model.nv} numbers are needed, got shape {numbers.shape}")
        if not np.isfinite(numbers).all():
            wrong = int(np.flatnonzero(~np.isfinite(numbers))[0])
            raise ValueError(f'v: the velocity of "{model.v_names[wrong]}" is {numbers[wrong]}; '
                             "finite numbers are needed")
        _require_moderate(numbers)
    else:
        for joint, values in v.items():
            _require_moderate(_real_argument(f"v[{joint!r}]", values))
    if not isinstance(q, Mapping):
        start_q = numbers = model.neutral() if q is None else _real_argument("q", q)
        if numbers.shape != (model.nq,):
            raise ValueError(f"q: nq = {model.nq} numbers are needed, got shape {numbers.shape}")
    elif v is None:
        start_v = {}  # at rest in dead points too
    return start_q, start_v


def simulate(
    model: Model,
    q: ArrayLike | Named | None = None,
    v: ArrayLike | Named | None = None,
    *,
    duration: float,
    dt: float = 1e-3,
    integrator: str = DEFAULT_INTEGRATOR,
    controller: Controller | None = None,
    external: External | Callable[[float, Vector, Vector], External] | None = None,
    progress: Callable[[float], object] | None = None,
    limits: bool = False,
    relative_tolerance: float = 1e-8,
    absolute_tolerance: float = 1e-10,
    max_step: float = math.inf,
    time: float = 0.0,
) -> Run:
    """Simulates the motion of a robot from an initial state.

    The motion continues through dead points of the model's coordinates. Damping and friction of the
    joints are included; joints with friction stick. kempe.Simulator has springs, elastic end stops
    and motors too. There is no contact.

    Args:
        q: initial configuration, (nq,), by default neutral; open loops are closed first. Or a dict
            of positions by joint, as Model.configuration takes it.
        v: initial velocities, (nv,), by default zero. Or a dict of velocities by joint, as
            Model.velocity takes it.
        duration: seconds.
        dt: seconds between samples; the last interval is shorter if dt does not divide the
            duration. With "rk4", "semi_implicit_euler" and "implicit_midpoint" it is also the
            length of a step.
        integrator: "auto": whichever of "adaptive" and "radau" is cheaper along the motion;
            run.integrators_used tells. "adaptive": of order five, explicit, with as many steps
            between samples as its tolerances require. "radau": of order five, implicit, likewise:
            for stiff motions. "rk4": the classical Runge-Kutta method, of order four for spatial
            rotations too, with four evaluations of the dynamics per step. "semi_implicit_euler": of
            order one, one evaluation per step. "implicit_midpoint": of order two, symmetric, so
            that the energy of swinging robots stays bounded for long. All close the loops to
            rounding.
        controller: f(t, q, v) -> tau, nv numbers. Called at every evaluation of the dynamics, also
            within a step. By default no forces.
        external: forces on bodies, {frame: [force; moment]} at the frame's origin, axes of the
            world; or a function of (t, q, v) that returns such a dict.
        progress: called with the fraction done, after every sample and every half second between
            them; the run ends early, at the last sample, if it returns False.
        limits: whether rigid end stops act at the joint limits of the model; impacts on them are
            without rebound, and their losses count in run.losses.
        relative_tolerance, absolute_tolerance: error tolerances per step of "adaptive", "radau" and
            "auto", of positions relative to one radian or metre, of velocities relative to their
            size, but at least one. Motions of micrometres need smaller ones.
        max_step: longest step in seconds. Forces that last for a shorter time than a step, such as
            pulses of a controller, can be missed; half their length is short enough.
        time: at the start, in seconds.

    Raises:
        TypeError: `model` is not a Model, or `controller` or `progress` is not a function.
        ValueError: an argument is invalid.
        SingularityError, AssemblyError: the initial state is impossible.
        SimulationError: the simulation had to stop: the loops cannot be closed any further, a
            velocity diverged, or a function (controller, external forces, constraint) failed. It
            contains the run up to that point.
        SimulationInterrupted: Ctrl-C, a KeyboardInterrupt that contains the run up to that point.

    Warns:
        SimulationWarning: the motion may be wrong: the energy balance is off by more than 1 % of
            the energy exchanged, or events could not be followed. run.warnings has the texts.
    """
    _check_kinds(model, controller, progress)
    duration = _positive("duration", duration)
    dt = min(_positive("dt", dt), duration)
    if not isinstance(integrator, str) or integrator not in INTEGRATORS:
        raise ValueError(f'integrator: "{integrator}" is not known. Choose one of '
                         f"{', '.join(INTEGRATORS)}.")
    start_q, start_v = _start(model, q, v)
    simulator = Simulator(model, integrator, relative_tolerance=relative_tolerance,
                          absolute_tolerance=absolute_tolerance, max_step=max_step)
    if limits and simulator.add_limits() == 0:
        warnings.warn(f"{model.name}: limits: no joint has limits in the model, so that none is "
                      "stopped. Give joints limits, or use Simulator.add_limit.",
                      SimulationWarning, stacklevel=2)
    actions = _Actions(model, controller, external)
    if controller is not None:
        simulator.set_controller(actions.command)
    if external is not None:
        simulator.set_external_forces(actions.forces)
    simulator.set_state(start_q, start_v, time)
    return simulator.run(duration, dt, progress)
