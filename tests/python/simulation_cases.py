"""Motions with known end states: robots and starts of simulation_references.json, which
tools/simulation_references.py computes without Kempe, and simulations of them."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import kempe

REFERENCES: dict[str, dict[str, Any]] = json.loads(
    Path(__file__).with_name("simulation_references.json").read_text(encoding="utf-8"))

Parameters = dict[str, float]


# --- robots --------------------------------------------------------------------------------------

def planar(name: str) -> kempe.Mechanism:
    mechanism = kempe.Mechanism(name)
    mechanism.gravity = (0, -9.81, 0)
    mechanism.add_body("ground")
    return mechanism


def add_bar(mechanism: kempe.Mechanism, name: str, length: float, mass: float) -> None:
    """A slender bar along x."""
    inertia = mass * length**2 / 12
    mechanism.add_body(name, mass=mass, center_of_mass=(length / 2, 0, 0),
                       inertia=(0, inertia, inertia))


def pendulum(p: Parameters, friction: float = 0.0) -> kempe.Model:
    mechanism = planar("pendulum")
    add_bar(mechanism, "bar", p["length"], p["mass"])
    mechanism.add_revolute("hinge", parent="ground", child="bar", friction=friction,
                           lower=p.get("lower", -np.inf))
    return kempe.Model(mechanism)


def double_pendulum(p: Parameters) -> kempe.Model:
    mechanism = planar("double_pendulum")
    add_bar(mechanism, "upper", p["length_1"], p["mass_1"])
    add_bar(mechanism, "lower", p["length_2"], p["mass_2"])
    mechanism.add_revolute("shoulder", parent="ground", child="upper",
                           friction=p.get("friction_1", 0.0))
    mechanism.add_revolute("elbow", parent="upper", child="lower", xyz=(p["length_1"], 0, 0),
                           friction=p.get("friction_2", 0.0))
    return kempe.Model(mechanism)


def four_bar(p: Parameters) -> kempe.Model:
    mechanism = planar("four_bar")
    add_bar(mechanism, "crank_link", p["crank"], p["crank_mass"])
    add_bar(mechanism, "coupler", p["coupler"], p["coupler_mass"])
    add_bar(mechanism, "rocker", p["rocker"], p["rocker_mass"])
    mechanism.add_revolute("crank", parent="ground", child="crank_link", independent=True,
                           friction=p.get("friction_1", 0.0))
    mechanism.add_revolute("knee", parent="crank_link", child="coupler", xyz=(p["crank"], 0, 0),
                           independent=False, friction=p.get("friction_2", 0.0))
    mechanism.add_revolute("pivot", parent="ground", child="rocker", xyz=(p["ground"], 0, 0),
                           independent=False, friction=p.get("friction_3", 0.0))
    mechanism.add_loop("closure", "revolute", predecessor="coupler",
                       predecessor_xyz=(p["coupler"], 0, 0), successor="rocker",
                       successor_xyz=(p["rocker"], 0, 0))
    return kempe.Model(mechanism)


def ladder(p: Parameters, cut: bool = False) -> kempe.Model:
    mechanism = planar("ladder")
    for i in range(int(p["loops"]) + 1):
        add_bar(mechanism, f"rocker_link_{i}", 1.0, 1.0)
        mechanism.add_revolute(f"rocker_{i}", parent="ground", child=f"rocker_link_{i}",
                               xyz=(i, 0, 0), independent=i == 0 or cut)
        if i > 0:
            add_bar(mechanism, f"bar_link_{i}", 1.0, 1.0)
            mechanism.add_revolute(f"bar_{i}", parent=f"rocker_link_{i - 1}",
                                   child=f"bar_link_{i}", xyz=(1, 0, 0), independent=cut)
            mechanism.add_loop(f"loop_{i}", "revolute", predecessor=f"bar_link_{i}",
                               predecessor_xyz=(1, 0, 0), successor=f"rocker_link_{i}",
                               successor_xyz=(1, 0, 0), cut=cut)
    return kempe.Model(mechanism)


def delta_robot(p: Parameters) -> kempe.Model:
    mechanism = kempe.Mechanism("delta_robot")
    mechanism.add_body("base")
    mechanism.add_body("plate", mass=p["mass"], inertia=(1e-3, 1e-3, 1e-3))
    mechanism.add_joint("platform", "free", parent="base", child="plate", independent=False)
    for i in range(3):
        turn = 2 * np.pi * i / 3
        outwards = np.array([np.cos(turn), np.sin(turn), 0])
        aside = np.array([-np.sin(turn), np.cos(turn), 0])
        add_bar(mechanism, f"arm_link_{i}", p["arm"], p["arm_mass"])
        mechanism.add_revolute(f"arm_{i}", parent="base", child=f"arm_link_{i}",
                               xyz=p["base"] * outwards, rpy=(0, 0, turn), axis=(0, 1, 0),
                               stiffness=p["stiffness"], spring_reference=p["rest"],
                               independent=True)
        for side in (-1, 1):
            mechanism.add_rod(f"rod_{i}_{'left' if side < 0 else 'right'}",
                              predecessor=f"arm_link_{i}",
                              predecessor_point=(p["arm"], 0.04 * side, 0), successor="plate",
                              successor_point=p["platform"] * outwards + 0.04 * side * aside,
                              length=p["rod"])
    return kempe.Model(mechanism)


# --- cases ---------------------------------------------------------------------------------------

@dataclasses.dataclass(frozen=True)
class Case:
    """A robot, and the elements that a simulation of it has besides."""

    name: str
    reference: dict[str, Any]
    build: Callable[[Parameters], kempe.Model]
    equip: Callable[[kempe.Simulator, Parameters], object] = lambda simulator, p: None


def _cases() -> dict[str, Case]:
    build: dict[str, Any] = {
        "pendulum": pendulum, "double pendulum": double_pendulum, "crank-rocker": four_bar,
        "parallelogram": four_bar, "ladder of four-bars": ladder,
        "friction, holds": lambda p: pendulum(p, p["friction"]),
        "friction, two joints": double_pendulum, "friction, four-bar": four_bar,
        "delta robot": delta_robot}
    build |= {name: four_bar for name in REFERENCES if name.startswith("near-parallelogram")}
    cases = {name: Case(name, REFERENCES[name], make) for name, make in build.items()}

    def add(name: str, make: Callable[[Parameters], kempe.Model],
            equip: Callable[[kempe.Simulator, Parameters], object], of: str | None = None) -> None:
        cases[name] = Case(name, REFERENCES[of or name], make, equip)

    for stop in ("spring stop, 1e4 N·m/rad", "spring stop, 1e6 N·m/rad"):
        add(stop, pendulum,
            lambda s, p: s.add_limit("hinge", p["stiffness"], damping=p["damping"]))
    add("rigid stop", pendulum,
        lambda s, p: s.add_limit("hinge", restitution=p["restitution"]))
    add("friction, pendulum", pendulum, lambda s, p: s.add_friction("hinge", p["friction"]))
    add("stiff spring", double_pendulum,
        lambda s, p: s.add_spring("elbow", p["stiffness"], damping=p["damping"]))
    add("ladder, loops cut", lambda p: ladder(p, cut=True), lambda s, p: None,
        of="ladder of four-bars")
    order = [*REFERENCES]
    order.insert(order.index("ladder of four-bars") + 1, "ladder, loops cut")
    return {name: cases[name] for name in order if name in cases}


CASES = _cases()


# --- accuracy ------------------------------------------------------------------------------------

# What docs/simulation.md states, with the default settings, for a motion that does not amplify
# errors: steps of fixed length warn where their errors add up to more; integrators that control
# their error keep to 30 times their tolerance of 1e-8: these motions take some tens of steps.
FIXED = ("rk4", "semi_implicit_euler", "implicit_midpoint")
STATED = {name: 1e-2 for name in FIXED} | {name: 3e-7 for name in ("adaptive", "radau", "auto")}
# Seconds between the samples of a run: a step, or many that an integrator chooses itself.
STEP, SPARSE = 1e-3, 0.05


def sampling(integrator: str) -> float:
    return STEP if integrator in FIXED else SPARSE


# Loops that miss a change point by less than this turn at once (docs/simulation.md, Dead points),
# where they need an angle of the square root of the miss: allowed twice, for two turns.
TURNS_AT_ONCE = 3e-10


def allowed_error(reference: dict[str, Any], integrator: str) -> float:
    miss = reference["parameters"].get("miss", 1.0)
    turns = 2 * miss**0.5 if miss < TURNS_AT_ONCE else 0.0
    return (STATED[integrator] + turns) * float(reference["amplification"])


# --- runs ----------------------------------------------------------------------------------------

@dataclasses.dataclass
class Outcome:
    """A simulation compared with its reference."""

    error: float = np.inf  # largest error of a position, rad or m
    velocity_error: float = np.inf  # relative to the largest velocity
    energy: float = np.inf  # largest gap of the energy balance relative to the energy that moves
    seconds: float = np.nan
    reports: list[str] = dataclasses.field(default_factory=list)  # warnings, or why it stopped
    stopped: bool = False

    def is_wrong(self, allowed: float) -> bool:
        """Whether it is wrong without saying so."""
        return not self.reports and not max(self.error, self.velocity_error) <= allowed


def whole_turns(names: list[str], gaps: np.ndarray) -> np.ndarray:
    """References give angles within one turn."""
    turns = 2 * np.pi * np.round(gaps / (2 * np.pi))
    return np.where(["." in name for name in names], 0.0, turns)


def rate_name(position: str) -> str:
    """The name of the velocity along a position: translations of a free joint are called v."""
    joint, dot, axis = position.partition(".")
    return f"{joint}.v{axis}" if dot else position


def start(simulator: kempe.Simulator, reference: dict[str, Any]) -> None:
    model = simulator.model
    q = np.array(model.neutral())
    velocities = np.zeros(model.nv_spanning)
    for name, values in reference["positions"].items():
        q[model.q_names.index(name)] = values[0]
        velocities[model.spanning_velocity_names.index(rate_name(name))] = (
            reference["velocities"][name][0])
    simulator.set_spanning_state(model.project(q), velocities)


def energy_gap(simulator: kempe.Simulator, run: kempe.Run) -> float:
    """Energy at the end that is neither work nor loss, relative to the energy that moves."""
    work = dict(simulator.work)
    gained = sum(work.pop(name) for name in ("controller", "external", "motors"))
    gap = abs(sum(simulator.energy) - run.energy[0] - gained + sum(work.values()))
    moves = max(run.kinetic.max(), np.ptp(run.potential), 1e-6 * abs(run.energy[0]), 1e-9)
    return float(gap / moves)


def simulated(case: Case, integrator: str, dt: float | None = None) -> Outcome:
    """Simulates a case with one integrator, in one run."""
    dt = sampling(integrator) if dt is None else dt
    reference = case.reference
    outcome = Outcome()
    names = list(reference["positions"])
    expected = np.array([reference["positions"][name] for name in names]).T
    rates = np.array([reference["velocities"][name] for name in names]).T
    simulator = kempe.Simulator(case.build(reference["parameters"]), integrator)
    case.equip(simulator, reference["parameters"])
    start(simulator, reference)
    begin = time.perf_counter()
    try:
        run = simulator.run(reference["times"][-1], dt)
    except kempe.SimulationError as error:
        outcome.reports.append(str(error))
        outcome.stopped = True
        return outcome
    outcome.seconds = time.perf_counter() - begin
    outcome.reports += run.warnings
    outcome.energy = energy_gap(simulator, run)
    columns = [simulator.model.q_names.index(name) for name in names]
    outcome.error = 0.0
    for t, known in zip(reference["times"], expected, strict=True):
        sample = int(np.abs(run.t - t).argmin())
        if abs(run.t[sample] - t) < 1e-12:
            gaps = run.q[sample, columns] - known
            outcome.error = max(outcome.error,
                                float(np.abs(gaps - whole_turns(names, gaps)).max()))
    found = [simulator.spanning_velocities[simulator.model.spanning_velocity_names.index(
        rate_name(name))] for name in names]
    outcome.velocity_error = float(np.abs(found - rates[-1]).max() / max(1.0, np.abs(rates).max()))
    return outcome
