"""Motions of the bundled robots from random starts. There are no equations by hand for these: two
integrators with tiny tolerances check each other, and the energy balance."""

from __future__ import annotations

import dataclasses
import functools
import time

import numpy as np
from simulation_cases import STATED, Outcome, energy_gap, sampling

import kempe

DURATION, SPEED = 2.0, 2.0  # s; rad/s or m/s, the largest at the start
TIGHT = 1e-12  # tolerance of the reference, and ten times that of its check


@dataclasses.dataclass(frozen=True)
class Reference:
    """The end of a motion, as Kempe finds it with small tolerances."""

    q: np.ndarray
    velocities: np.ndarray
    reached: float  # the largest difference between two integrators
    amplification: float  # of errors at any time until the end


def start_of(model: kempe.Model, seed: int) -> tuple[np.ndarray, np.ndarray]:
    v = SPEED * np.random.default_rng(seed).uniform(-1, 1, model.nv)
    return np.asarray(model.random_configuration(seed)), v


def moved(model: kempe.Model, integrator: str, tolerance: float, q: np.ndarray, v: np.ndarray,
          duration: float) -> kempe.Simulator:
    simulator = kempe.Simulator(model, integrator, relative_tolerance=tolerance,
                                absolute_tolerance=1e-2 * tolerance)
    simulator.set_state(q, v)
    simulator.step_to(duration)
    return simulator


@functools.cache
def reference_of(robot: str, seed: int) -> Reference:
    model = kempe.robots.load(robot)
    q, v = start_of(model, seed)
    simulator = kempe.Simulator(model, "adaptive", relative_tolerance=TIGHT,
                                absolute_tolerance=1e-2 * TIGHT)
    simulator.set_state(q, v)
    states = []
    for t in np.linspace(0, DURATION, 21):
        if t > 0:
            simulator.step_to(float(t))
        states.append((float(t), simulator.q, simulator.v))
    end, velocities = simulator.q, simulator.spanning_velocities
    other = moved(model, "radau", 10 * TIGHT, q, v, DURATION)
    reached = float(np.abs(model.difference(end, other.q)).max())
    amplification = 1.0
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], (len(states), model.nv))
    for sign, (t, position, rate) in zip(signs, states[:-1], strict=False):
        near = moved(model, "adaptive", 1e-10, position, rate + 1e-7 * sign, DURATION - t)
        change = np.abs(model.difference(end, near.q)).max() / 1e-7
        amplification = max(amplification, float(change))
    return Reference(end, velocities, reached, amplification)


def allowed_error(robot: str, seed: int, integrator: str) -> float:
    reference = reference_of(robot, seed)
    return STATED[integrator] * reference.amplification + reference.reached


def simulated_robot(robot: str, seed: int, integrator: str) -> Outcome:
    reference = reference_of(robot, seed)
    model = kempe.robots.load(robot)
    outcome = Outcome()
    try:
        simulator = kempe.Simulator(model, integrator)
        simulator.set_state(*start_of(model, seed))
        begin = time.perf_counter()
        run = simulator.run(DURATION, sampling(integrator))
    except kempe.SimulationError as error:
        outcome.reports.append(str(error))
        outcome.stopped = True
        return outcome
    outcome.seconds = time.perf_counter() - begin
    outcome.reports += run.warnings
    outcome.error = float(np.abs(model.difference(reference.q, simulator.q)).max())
    # Velocities carry no further information, and are large in light parts.
    outcome.velocity_error = 0.0
    outcome.energy = energy_gap(simulator, run)
    return outcome
