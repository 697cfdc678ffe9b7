"""What `kempe check` measures: laws that every right model obeys, and what is odd about one."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kempe
from kempe.cli.common import counted, free_velocities
from kempe.cli.dead_points import FREEDOMS, ClusterLoops, Sweeper

Array = NDArray[np.floating[Any]]

EXACT = ("cluster", "projection", "lagrange", "cut_joint")
SHORTCUTS = ("approximate", "unconstrained")

# What may be left open, or differ, relatively.
CLOSED = 1e-12
FORCES = 1e-9
ACCELERATIONS = 1e-6  # inverses of mass matrices lose digits
ENERGY = 1e-6

HEAVY = 1000.0  # kg, of one body of a robot
MASS_RATIO = 1e6  # of the heaviest body to the lightest

SHOWN = 4  # warnings that are printed
STEP = 0.01  # seconds that the robot moves, at up to one unit of each velocity
DIFFERENCE = 1e-3  # seconds between the samples of an energy whose rate is wanted


@dataclasses.dataclass(frozen=True)
class Finding:
    """One line of the report, and its figures for machines."""

    what: str
    text: str
    passed: bool | None  # None: to know, not to pass
    figures: dict[str, Any]
    details: list[str] = dataclasses.field(default_factory=list)


class States:
    """Random states, the same for the same seed."""

    def __init__(self, model: kempe.Model, samples: int, seed: int) -> None:
        self.seed = seed
        self.q = model.random_configuration(seed, samples)
        random = np.random.default_rng(seed)
        self.v, self.a = random.uniform(-1, 1, (2, samples, model.nv))
        if model.cut_loops:  # motions that keep them closed
            self.v = model.project_velocities(self.q, self.v, kempe.Constraints(model))[0]
            self.a = model.forward_dynamics(self.q, self.v, self.a)

    def __len__(self) -> int:
        return len(self.q)


def difference(x: Array, y: Array) -> float:
    """The largest relative difference of a state: of |x − y| to |y|, each the largest of a row."""
    size = np.abs(y).max(axis=-1)
    return float((np.abs(x - y).max(axis=-1) / np.where(size > 0, size, 1.0)).max())


def small(value: float) -> str:
    return f"{value:.1e}" if value != 0 else "0"


# --- laws ----------------------------------------------------------------------------------------

def warnings(model: kempe.Model) -> Finding:
    count = len(model.warnings)
    text = "valid, no warnings" if count == 0 else f"valid, {counted(count, 'warning')}"
    shown = list(model.warnings)[:SHOWN]
    if count > SHOWN:
        shown.append(f"… and {count - SHOWN} more; `kempe info` prints all")
    return Finding("file", text, True if count == 0 else None, {"warnings": list(model.warnings)},
                   shown)


def loops(model: kempe.Model, states: States) -> Finding:
    if model.n_loop_rows == 0:
        return Finding("loops", "there are none to close", True, {"largest": 0.0})

    def widest(q: Array) -> tuple[float, str, int]:
        residuals = np.abs(model.loop_residual(q))
        sample, row = np.unravel_index(residuals.argmax(), residuals.shape)
        return float(residuals.max()), model.loop_row_names[row], states.seed + int(sample)

    moved, blocked = [], 0
    for q, v in zip(states.q, states.v, strict=True):
        try:
            after = model.integrate(q, v, STEP)
            moved.append(model.project(after) if model.cut_loops else after)
        except (kempe.AssemblyError, kempe.SingularityError):
            blocked += 1
    standing = widest(states.q)
    stepped = widest(np.array(moved)) if moved else standing
    gap, loop, seed = max(standing, stepped)
    text = (f"closed to {small(standing[0])} in {len(states)} random configurations, to "
            f"{small(stepped[0])} after a step")
    if gap > 0:
        text += f'; widest "{loop}", seed {seed}'
    details = ([f"{blocked} of {len(states)} steps would leave what the loops allow"]
               if blocked else [])
    return Finding("loops", text, gap <= CLOSED,
                   {"standing": standing[0], "after_a_step": stepped[0], "widest": loop,
                    "seed": seed, "blocked_steps": blocked}, details)


def methods(model: kempe.Model, states: States) -> Finding:
    """All exact methods give the same forces and the same accelerations."""
    q, v, a = states.q, states.v, states.a
    tau = model.inverse_dynamics(q, v, a)
    forward = model.forward_dynamics(q, v, tau)
    forces: dict[str, float] = {}
    accelerations: dict[str, float] = {}
    impossible = []
    for method in EXACT[1:]:
        try:
            forces[method] = difference(model.inverse_dynamics(q, v, a, method=method), tau)
            accelerations[method] = difference(
                model.forward_dynamics(q, v, tau, method=method), forward)
        except (ValueError, kempe.SingularityError) as error:
            impossible.append(f"{method} is not possible: {error}")
    worst_force = max(forces.values(), default=0.0)
    worst = max(accelerations.values(), default=0.0)
    text = (f"{', '.join([EXACT[0], *accelerations])} agree: forces to {small(worst_force)}, "
            f"accelerations to {small(worst)}")
    return Finding("methods", text, worst_force <= FORCES and worst <= ACCELERATIONS,
                   {"forces": forces, "accelerations": accelerations}, impossible)


def inverse(model: kempe.Model, states: States) -> Finding:
    tau = model.inverse_dynamics(states.q, states.v, states.a)
    gap = difference(model.forward_dynamics(states.q, states.v, tau), states.a)
    return Finding("round trip", f"forward dynamics undoes inverse dynamics to {small(gap)}",
                   gap <= ACCELERATIONS, {"largest": gap})


def mass_matrix(model: kempe.Model, states: States) -> Finding:
    H = model.mass_matrix(states.q)
    asymmetry = float(np.abs(H - H.transpose(0, 2, 1)).max() / np.abs(H).max())
    eigenvalues = np.linalg.eigvalsh(H)
    smallest = float(eigenvalues[:, 0].min())
    conditions = (eigenvalues[:, -1] / eigenvalues[:, 0] if smallest > 0
                  else np.full(len(H), np.inf))
    worst = int(conditions.argmax())
    v = states.v
    with_bias = np.einsum("nij,nj->ni", H, states.a) + model.bias_forces(states.q, v)
    gap = difference(with_bias, model.inverse_dynamics(states.q, v, states.a))
    definite = "positive definite" if smallest > 0 else "NOT POSITIVE DEFINITE"
    text = (f"symmetric to {small(asymmetry)}, {definite}; H a + h is tau to {small(gap)}; "
            f"condition number {np.median(conditions):.3g}, worst {conditions[worst]:.3g}")
    return Finding("mass matrix", text, smallest > 0 and asymmetry <= FORCES and gap <= FORCES,
                   {"asymmetry": asymmetry, "smallest_eigenvalue": smallest,
                    "bias_difference": gap, "condition_median": float(np.median(conditions)),
                    "condition_worst": float(conditions[worst]),
                    "condition_worst_seed": states.seed + worst})


def dissipated(model: kempe.Model, states: States) -> Array:
    """Power that damping and friction take."""
    rates = model.spanning(states.q, states.v)[1]
    power = np.zeros(len(states))
    for joint in model.mechanism.joints:
        if joint.type != "fixed" and (joint.damping or joint.friction):
            first = model.joint_velocity_index(joint.name)
            rate = rates[:, first:first + FREEDOMS.get(joint.type, 1)]
            power += (joint.damping * rate**2 + joint.friction * np.abs(rate)).sum(axis=1)
    return power


def power_balance(model: kempe.Model, states: States) -> Finding:
    """tau·v is the rate of the energy, and what joints take."""
    q, v, a = states.q, states.v, states.a

    def energy(t: float) -> Array:
        kinetic, potential = model.energy(model.integrate(q, v, t), v + t * a)
        return np.asarray(kinetic + potential)

    def rate(h: float) -> Array:
        return (8 * (energy(h) - energy(-h)) - (energy(2 * h) - energy(-2 * h))) / (12 * h)

    taken = dissipated(model, states)
    tau = model.inverse_dynamics(q, v, a)
    given = (tau * v).sum(axis=1) - taken
    size = np.abs(tau * v).sum(axis=1) + taken
    # Near a dead point short differences are the better ones, elsewhere the long ones.
    longest = DIFFERENCE / max(1.0, float(np.abs(model.spanning(q, v)[1]).max()))
    off = np.min([np.abs(given - rate(longest / part)) for part in (1, 8, 64)], axis=0)
    gap = float((off / np.where(size > 0, size, 1.0)).max())
    return Finding("energy", f"power is the rate of energy to {small(gap)}", gap <= ENERGY,
                   {"largest": gap})


# --- to know -------------------------------------------------------------------------------------

def shortcuts(model: kempe.Model, states: States) -> Finding | None:
    """How wrong it would be to leave out loops and rotors, in the forces of motors."""
    motors = [index for index in range(model.nv) if index not in free_velocities(model)]
    if not motors:
        return None
    tau = model.inverse_dynamics(states.q, states.v, states.a)[:, motors]
    size = np.linalg.norm(tau, axis=1)
    figures: dict[str, Any] = {}
    texts = []
    for method in SHORTCUTS:
        try:
            other = model.inverse_dynamics(states.q, states.v, states.a, method=method)
        except ValueError as error:
            figures[method] = str(error)
            continue
        off = np.linalg.norm(other[:, motors] - tau, axis=1) / np.where(size > 0, size, 1.0)
        figures[method] = {"median": float(np.median(off)), "worst": float(off.max())}
        texts.append(f"{method} method: motor forces off by {100 * np.median(off):.3g} % in the "
                     f"median, {100 * off.max():.3g} % at worst")
    if not texts:
        texts.append(f"the {' and '.join(SHORTCUTS)} methods have no model of this robot")
    return Finding("shortcuts", texts[0], None, figures, texts[1:])


def conditioning(model: kempe.Model, states: States) -> Finding | None:
    """Condition numbers of the loops in random configurations."""
    parts: list[dict[str, Any]] = []
    for cluster in model.clusters:
        if cluster.implicit:
            conditions = 1 / ClusterLoops(model, cluster).ratios(states.q)
            worst = int(conditions.argmax())
            parts.append({"loops": list(cluster.loops), "median": float(np.median(conditions)),
                          "worst": float(conditions[worst]), "seed": states.seed + worst})
    if not parts:
        return None
    parts.sort(key=lambda part: -part["worst"])
    lines = [f"{', '.join(part['loops'])}: condition {part['median']:.3g}, worst "
             f"{part['worst']:.3g}" for part in parts]
    return Finding("conditioning", lines[0], None, {"clusters": parts}, lines[1:])


def dead_points(model: kempe.Model, done: Callable[[float], None]) -> Finding | None:
    """Positions that the independent coordinates cannot pass, one by one from neutral."""
    jobs = [(cluster, name) for cluster in model.clusters if cluster.implicit
            for name in cluster.independent if name in model.q_names]
    if not jobs:
        return None
    lines, sweeps = [], []
    for index, (cluster, name) in enumerate(jobs):
        sweeper = Sweeper(model, ClusterLoops(model, cluster), name)
        both = [sweeper.sweep(-1), sweeper.sweep(+1)]
        sweeps += [dataclasses.asdict(sweep) for sweep in both]
        found = [f"{round(sweep.end, 6) + 0.0:g}" for sweep in both if sweep.dead_point]
        if found:
            lines.append(f"{name} at {' and '.join(found)} (loops {', '.join(cluster.loops)})")
        done((index + 1) / len(jobs))
    text = "none" if not lines else f"of {len(lines)} of {len(jobs)} coordinates"
    return Finding("dead points", f"{text}, each moved alone from neutral through its range", None,
                   {"sweeps": sweeps}, lines)


def remarks(model: kempe.Model) -> list[Finding]:
    """What is allowed, but may be a slip in the file."""
    findings = []
    mechanism = model.mechanism
    joints = {joint.name: joint for joint in mechanism.joints}
    open_ended = [name for name in model.v_names if name in joints
                  and joints[name].type != "continuous"
                  and math.isinf(joints[name].lower) and math.isinf(joints[name].upper)]
    if open_ended:
        findings.append(Finding("limits", f"independent joints without: {shortened(open_ended)}",
                                None, {"joints": open_ended}))
    moving = set(model.body_names)
    massless = [body.name for body in mechanism.bodies
                if body.name in moving and body.mass == 0 and not np.any(body.inertia)]
    if massless:
        findings.append(Finding("massless", f"moving bodies: {shortened(massless)}", None,
                                {"bodies": massless}))
    odd = odd_masses(model)
    if odd:
        each = [f"{name} {mass:.6g} kg" for name, mass in odd.items()]
        findings.append(Finding("masses", f"{shortened(each)}: is that kilograms?", None,
                                {"bodies": odd}))
    large = list(oversized(model))
    if large:
        findings.append(Finding(
            "inertias", "larger than the robot's size allows; check units: "
            + "; ".join(f"{name}, radius of gyration {radius:.3g} m" for name, radius in large),
            None, {"bodies": [name for name, _ in large]}))
    return findings


def odd_masses(model: kempe.Model) -> dict[str, float]:
    """Bodies heavier than those of robots are; or the heaviest and the lightest, where they are
    too far apart."""
    masses = {body.name: body.mass for body in model.mechanism.bodies if body.mass > 0}
    heavy = {name: mass for name, mass in masses.items() if mass > HEAVY}
    if heavy or not masses:
        return heavy
    ends = [max(masses, key=masses.__getitem__), min(masses, key=masses.__getitem__)]
    if masses[ends[0]] <= MASS_RATIO * masses[ends[1]]:
        return {}
    return {name: masses[name] for name in ends}


def oversized(model: kempe.Model) -> Iterator[tuple[str, float]]:
    """Bodies whose inertia would need mass further away than the robot is large."""
    rotations, origins = model.forward_kinematics(model.neutral())
    points = [*origins]
    for body in model.mechanism.bodies:
        frame = model.frame_index(body.name)
        points.append(origins[frame] + rotations[frame] @ body.center_of_mass)
    size = float(np.linalg.norm(np.ptp(np.array(points), axis=0)))
    for body in model.mechanism.bodies:
        if body.mass > 0 and size > 0:
            radius = math.sqrt(float(np.linalg.eigvalsh(body.inertia)[-1]) / body.mass)
            if radius > size:
                yield body.name, radius


def shortened(names: list[str], most: int = 6) -> str:
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def all_findings(model: kempe.Model, samples: int, seed: int,
                 done: Callable[[float], None]) -> list[Finding]:
    """Everything, in the order in which it is read; `done` hears of the progress."""
    states = States(model, samples, seed)
    done(0.1)
    laws = [warnings(model)]
    for index, law in enumerate((loops, methods, inverse, mass_matrix, power_balance)):
        laws.append(law(model, states))
        done(0.1 * (index + 2))
    to_know = [shortcuts(model, states), conditioning(model, states),
               dead_points(model, lambda part: done(0.6 + 0.4 * part)), *remarks(model)]
    return [finding for finding in [*laws, *to_know] if finding is not None]
