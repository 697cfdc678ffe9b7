"""Findings of `kempe check`: whether laws hold (laws.py), and suspicious values of a model."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import kempe
from kempe.cli import laws
from kempe.cli.common import counted
from kempe.cli.coordinates import robot_size
from kempe.cli.dead_points import Clock, ClusterLoops, OutOfTime, Sweeper
from kempe.cli.laws import Array, Measured, Sampler, States

HEAVY = 1000.0  # kg, of one body of a robot
MASS_RATIO = 1e6  # of the heaviest body to the lightest

SHOWN = 4  # warnings that are printed


@dataclasses.dataclass(frozen=True)
class Finding:
    """One line of the report, and its numbers for --json."""

    what: str
    text: str
    passed: bool | None  # None: a note, not a test
    figures: dict[str, Any]
    details: list[str] = dataclasses.field(default_factory=list)


def small(value: float) -> str:
    return f"{value:.1e}" if value != 0 else "0"


def largest(values: Array) -> float:
    """The largest value, ignoring NaN."""
    return float(np.nanmax(values, initial=0.0))


# --- measuring -----------------------------------------------------------------------------------

class Measurements:
    """Errors of all laws in all states, and the errors that are allowed there."""

    def __init__(self, sampler: Sampler, done: Callable[[float], None]) -> None:
        self.model, self.seed, self.samples = sampler.model, sampler.seed, sampler.samples
        self.size, self.clusters = sampler.size, sampler.clusters
        self.impossible: dict[str, dict[str, str]] = {}
        self._parts: dict[str, list[Array]] = {}
        for first in range(0, sampler.samples, laws.CHUNK):
            count = min(laws.CHUNK, sampler.samples - first)
            self._add(sampler.draw(first, count), first)
            done((first + count) / sampler.samples)
        self._whole = {name: np.concatenate(parts) for name, parts in self._parts.items()}

    def __getitem__(self, name: str) -> Array:
        return self._whole[name]

    def __contains__(self, name: str) -> bool:
        return name in self._whole

    def of(self, group: str) -> Measured:
        """By method."""
        return {name.removeprefix(f"{group}/"): values for name, values in self._whole.items()
                if name.startswith(f"{group}/")}

    def _take(self, group: str, measured: Measured) -> None:
        for name, values in measured.items():
            self._parts.setdefault(f"{group}/{name}", []).append(np.asarray(values))

    def _take_methods(self, group: str, first: int, count: int,
                      result: tuple[Measured, dict[str, str]]) -> None:
        """Handles methods that are impossible in all states of one chunk, but not of another."""
        measured, impossible = result
        self.impossible.setdefault(group, {}).update(impossible)
        known = {name.removeprefix(f"{group}/") for name in self._parts
                 if name.startswith(f"{group}/")}
        for method in known - set(measured):
            measured[method] = np.full(count, np.nan)
        for method in set(measured) - known:
            if first:
                self._parts[f"{group}/{method}"] = [np.full(first, np.nan)]
        self._take(group, measured)

    def _add(self, states: States, first: int) -> None:
        model, count = self.model, len(states.q)
        gaps = laws.loop_gaps(model, states, self.size)
        self._take("loops", gaps)
        openness = (largest(np.where(gaps["standing"] > gaps["allowed"], gaps["standing"], 0.0))
                    / self.size if gaps else 0.0)
        for group, law in (("forces", laws.forces), ("accelerations", laws.accelerations)):
            self._take_methods(group, first, count, law(model, states))
            self._take(f"allowed {group}", {
                method: laws.allowed(states, method, laws.LEAST[group], openness)
                for method in laws.EXACT})
        self._take_methods("shortcuts", first, count, laws.shortcut_errors(model, states))
        self._take("energy", laws.power(model, states))
        mass = states.mass
        self._take("mass", {
            "asymmetry": mass.asymmetry, "smallest": mass.smallest, "condition": mass.condition})
        self._take("limits", {"outside": np.array(
            [len(violations) for violations in laws.beyond_limits(model, states.q)])})
        self._take("clusters", {
            str(i): cluster.conditions(states.q) for i, cluster in enumerate(self.clusters)})


# --- laws ----------------------------------------------------------------------------------------

def warnings(model: kempe.Model) -> Finding:
    count = len(model.warnings)
    text = "valid, no warnings" if count == 0 else f"valid, {counted(count, 'warning')}"
    shown = list(model.warnings)[:SHOWN]
    if count > SHOWN:
        shown.append(f"… and {count - SHOWN} more; `kempe info` prints all")
    return Finding("file", text, True if count == 0 else None, {"warnings": list(model.warnings)},
                   shown)


def loops(m: Measurements) -> Finding:
    model = m.model
    if model.n_loop_rows == 0:
        return Finding("loops", "the robot has no loops", True, {"largest": 0.0})
    standing, stepped = m["loops/standing"], m["loops/stepped"]
    gaps, allowed = np.maximum(standing, stepped), m["loops/allowed"]
    worst = int((gaps / allowed).argmax())
    gap = float(gaps[worst])
    loop = model.loop_row_names[int(m["loops/row"][worst])]
    blocked = int(m["loops/blocked"].sum())
    text = (f"closed to {small(largest(standing))} in {m.samples} random configurations, to "
            f"{small(largest(stepped))} after a step")
    details = []
    if gap > 0:
        text += f'; widest "{loop}", seed {m.seed + worst}'
    passed: bool | None = bool(gap <= allowed[worst])
    redundant = any(cluster.redundant_rows for cluster in model.clusters if loop in cluster.loops)
    if not passed and redundant and gap <= laws.REDUNDANT * max(1.0, m.size):
        passed = None
        details.append("redundant constraint rows stay open: the file's numbers are rounded")
    if blocked:
        details.append(f"{blocked} of {m.samples} steps were not possible: the loops cannot be "
                       "closed there")
    return Finding("loops", text, passed,
                   {"standing": largest(standing), "after_a_step": largest(stepped),
                    "widest": loop, "seed": m.seed + worst, "allowed": float(allowed[worst]),
                    "blocked_steps": blocked}, details)


@dataclasses.dataclass(frozen=True)
class Judgement:
    """Verdict on a method for one kind of result."""

    method: str
    error: float  # the largest, over states that can be judged
    allowed: float  # in the same state
    seed: int
    off: bool  # the error exceeds the allowed one in some state
    undecided: int  # states in which rounding may dominate

    @property
    def text(self) -> str:
        return f"{small(self.error)} where {small(self.allowed)} is allowed (seed {self.seed})"


def judged(m: Measurements, group: str, method: str) -> Judgement:
    errors, allowed = m.of(group)[method], m.of(f"allowed {group}")[method]
    # Results that agree are accepted, however bad the condition numbers are.
    allowed = np.where(errors <= laws.LEAST[group], laws.LEAST[group], allowed)
    decided = np.isfinite(errors) & (allowed < laws.UNDECIDED)
    excess = np.where(decided, errors / allowed, -1.0)
    worst = int(excess.argmax())
    error = float(errors[worst]) if decided[worst] else 0.0
    return Judgement(method, error, float(allowed[worst]), m.seed + worst,
                     bool(excess[worst] > 1), int((~decided).sum()))


def methods(m: Measurements) -> Finding:
    """All exact methods give the same forces and the same accelerations."""
    judgements = {group: [judged(m, group, method) for method in m.of(group)]
                  for group in ("forces", "accelerations")}
    off: dict[str, list[str]] = {}
    details = []
    for group, all_of_them in judgements.items():
        wrong = [one for one in all_of_them if one.off]
        # If no other method agrees with the reference, the reference is wrong.
        others = [one for one in all_of_them if one.method != laws.REFERENCE]
        if others and all(one.off for one in others):
            culprit = (laws.REFERENCE if len(others) > 1
                       else f"{laws.REFERENCE} or {others[0].method}")
            wrong = [dataclasses.replace(wrong[0], method=culprit)]
        for one in wrong:
            off.setdefault(one.method, []).append(f"{group} by {one.text}")
        for one in all_of_them:
            if one.undecided:
                details.append(
                    f"{one.method}: {group} in {one.undecided} of {m.samples} states cannot be "
                    "judged: they are too badly conditioned, so rounding may dominate")
    for group, reasons in m.impossible.items():
        if group in judgements:
            details += [f"{method} is not possible: {reason}" for method, reason in reasons.items()
                        if method != laws.REFERENCE and group == "forces"
                        or method not in m.impossible.get("forces", {})]
    agreeing = [method for method in m.of("forces") if method not in off]
    figures = {group: {one.method: one.error for one in all_of_them
                       if one.method != laws.REFERENCE}
               for group, all_of_them in judgements.items()}
    worst = {group: max(one.values(), default=0.0) for group, one in figures.items()}
    if off:
        text = "; ".join(f"{method} is off: {', '.join(texts)}" for method, texts in off.items())
    else:
        text = (f"{', '.join(agreeing)} agree: forces to {small(worst['forces'])}, accelerations "
                f"to {small(worst['accelerations'])}")
    return Finding("methods", text, not off,
                   {**figures, "off": sorted(off),
                    "allowed": {group: {one.method: one.allowed for one in all_of_them}
                                for group, all_of_them in judgements.items()},
                    "undecided": {group: {one.method: one.undecided for one in all_of_them}
                                  for group, all_of_them in judgements.items()}}, details)


def inverse(m: Measurements) -> Finding:
    if laws.REFERENCE not in m.of("accelerations"):
        reason = m.impossible["accelerations"][laws.REFERENCE]
        return Finding("round trip", f"forward dynamics is not possible: {reason}", False,
                       {"largest": None})
    one = judged(m, "accelerations", laws.REFERENCE)
    text = f"forward dynamics inverts inverse dynamics to {small(one.error)}"
    if one.off:
        text += f", where {small(one.allowed)} is allowed (seed {one.seed})"
    return Finding("round trip", text, not one.off,
                   {"largest": one.error, "allowed": one.allowed, "undecided": one.undecided})


def mass_matrix(m: Measurements) -> Finding:
    asymmetry, smallest = largest(m["mass/asymmetry"]), float(m["mass/smallest"].min())
    conditions = m["mass/condition"]
    worst = int(conditions.argmax())
    one = judged(m, "forces", laws.REFERENCE)
    rounding = 10 * laws.EPSILON * max(1, m.model.nv)
    definite = ("positive definite" if smallest > rounding
                else "NOT POSITIVE DEFINITE" if smallest < -rounding
                else "singular: some motion moves no inertia")
    text = (f"symmetric to {small(asymmetry)}, {definite}; H a + h = tau to {small(one.error)}; "
            f"condition number {np.median(conditions):.3g}, worst {conditions[worst]:.3g}")
    return Finding("mass matrix", text,
                   smallest > rounding and asymmetry <= laws.LEAST["forces"] and not one.off,
                   {"asymmetry": asymmetry, "smallest_eigenvalue": smallest,
                    "bias_difference": one.error,
                    "condition_median": float(np.median(conditions)),
                    "condition_worst": float(conditions[worst]),
                    "condition_worst_seed": m.seed + worst})


def power_balance(m: Measurements) -> Finding:
    off, allowed = m["energy/off"], m["energy/allowed"]
    decided = np.isfinite(off)
    excess = np.where(decided, off / allowed, -1.0)
    worst = int(excess.argmax())
    text = f"power equals the rate of change of energy to {small(largest(off))}"
    details = []
    if excess[worst] > 1:
        text += f", where {small(allowed[worst])} is allowed (seed {m.seed + worst})"
    if not decided.all():
        details.append(f"{(~decided).sum()} of {m.samples} states cannot be judged: the loops "
                       "block the motion, or the power is below rounding")
    return Finding("energy", text, bool(excess[worst] <= 1),
                   {"largest": largest(off), "allowed": float(allowed[worst]),
                    "undecided": int((~decided).sum())}, details)


# --- notes ---------------------------------------------------------------------------------------

def outside_limits(model: kempe.Model, seed: int, outside: Array) -> dict[str, Any]:
    """Limits that neutral and random configurations violate, with details of the worst random one.
    `outside` counts the violations of each configuration, from `seed` on."""
    first = int(outside.argmax()) if outside.any() else None
    return {"neutral": laws.beyond_limits(model, model.neutral()[None])[0],
            "random_outside": int((outside > 0).sum()),
            "random_seed": None if first is None else seed + first,
            "random": [] if first is None else laws.beyond_limits(
                model, model.random_configuration(seed + first, 1))[0]}


def limits(m: Measurements) -> Finding | None:
    """Limits that Kempe's own configurations violate."""
    found = outside_limits(m.model, m.seed, m["limits/outside"])
    lines = []
    if found["neutral"]:
        lines.append("neutral: " + listed(found["neutral"]))
    if found["random_outside"]:
        lines.append(f"{found['random_outside']} of {m.samples} random configurations, for "
                     f"instance seed {found['random_seed']}: {listed(found['random'])}")
    if not lines:
        return None
    return Finding("limits", "violated: no closed configuration within them was found", None,
                   found, lines)


def listed(violations: list[dict[str, Any]]) -> str:
    return shortened([laws.described(violation) for violation in violations], 4)


def shortcuts(m: Measurements) -> Finding | None:
    """Errors of motor forces if loops and rotors are left out."""
    errors = m.of("shortcuts")
    impossible = m.impossible.get("shortcuts", {})
    if not errors and not impossible:
        return None
    texts = [f"{method} method: motor forces off by {100 * np.nanmedian(off):.3g} % in the "
             f"median, {100 * largest(off):.3g} % at worst" for method, off in errors.items()]
    if not texts:
        texts.append(f"the {' and '.join(laws.SHORTCUTS)} methods do not apply to this robot")
    figures = {method: {"median": float(np.nanmedian(off)), "worst": largest(off)}
               for method, off in errors.items()}
    return Finding("shortcuts", texts[0], None, {**impossible, **figures}, texts[1:])


def conditioning(m: Measurements) -> Finding | None:
    """Condition numbers of the loops in random configurations."""
    parts: list[dict[str, Any]] = []
    for index, cluster in enumerate(m.clusters):
        conditions = m[f"clusters/{index}"]
        worst = int(conditions.argmax())
        parts.append({"loops": list(cluster.cluster.loops), "median": float(np.median(conditions)),
                      "worst": float(conditions[worst]), "seed": m.seed + worst})
    if not parts:
        return None
    parts.sort(key=lambda part: -part["worst"])
    lines = [f"{', '.join(part['loops'])}: condition {part['median']:.3g}, worst "
             f"{part['worst']:.3g}" for part in parts]
    return Finding("conditioning", lines[0], None, {"clusters": parts}, lines[1:])


def dead_points(model: kempe.Model, clusters: list[ClusterLoops], seconds: float,
                done: Callable[[float], None]) -> Finding | None:
    """Positions that the independent coordinates cannot pass, one by one from neutral. Modes bend
    by so little that they meet none."""
    modes = {joint.name for joint in model.mechanism.joints if joint.type == "mode"}
    jobs = [(loops, name) for loops in clusters for name in loops.cluster.independent
            if name in model.q_names and name not in modes]
    if not jobs:
        return None
    lines, sweeps, missing = [], [], []
    clock = Clock(seconds)
    for index, (loops, name) in enumerate(jobs):
        try:
            sweeper = Sweeper(model, loops, name, clock)
            both = [sweeper.sweep(-1), sweeper.sweep(+1)]
        except OutOfTime:
            missing.append(name)
            continue
        finally:
            done((index + 1) / len(jobs))
        sweeps += [dataclasses.asdict(sweep) for sweep in both]
        found = [f"{round(sweep.end, 6) + 0.0:g}" for sweep in both if sweep.dead_point]
        if found:
            tied = ", ".join(loops.cluster.loops)
            lines.append(f"{name} at {' and '.join(found)} (loops {tied})")
    swept = len(jobs) - len(missing)
    text = "none" if not lines else f"of {len(lines)} of {counted(swept, 'coordinate')}"
    text += ", each moved alone from neutral through its range"
    if missing:
        lines.append(f"not swept within {seconds:g} s: {shortened(missing)}; see --time-limit")
    if not swept:
        text = "no coordinate was swept"
    return Finding("dead points", text, None, {"sweeps": sweeps, "not_swept": missing}, lines)


def remarks(model: kempe.Model) -> list[Finding]:
    """Values that are allowed, but may be mistakes in the file."""
    findings = []
    mechanism = model.mechanism
    joints = {joint.name: joint for joint in mechanism.joints}
    open_ended = [name for name in model.v_names if name in joints
                  and joints[name].type != "continuous"
                  and math.isinf(joints[name].lower) and math.isinf(joints[name].upper)]
    if open_ended:
        findings.append(Finding("no limits", f"independent joints: {shortened(open_ended)}",
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
    """Bodies that are implausibly heavy; or the heaviest and the lightest, if their ratio is
    implausible."""
    masses = {body.name: body.mass for body in model.mechanism.bodies if body.mass > 0}
    heavy = {name: mass for name, mass in masses.items() if mass > HEAVY}
    if heavy or not masses:
        return heavy
    ends = [max(masses, key=masses.__getitem__), min(masses, key=masses.__getitem__)]
    if masses[ends[0]] <= MASS_RATIO * masses[ends[1]]:
        return {}
    return {name: masses[name] for name in ends}


def oversized(model: kempe.Model) -> Iterator[tuple[str, float]]:
    """Bodies whose radius of gyration exceeds the size of the robot."""
    size = robot_size(model)
    for body in model.mechanism.bodies:
        if body.mass > 0 and size > 0:
            radius = math.sqrt(float(np.linalg.eigvalsh(body.inertia)[-1]) / body.mass)
            if radius > size:
                yield body.name, radius


def shortened(names: list[str], most: int = 6) -> str:
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def all_findings(model: kempe.Model, samples: int, seed: int, seconds: float,
                 done: Callable[[float], None]) -> list[Finding]:
    """All findings, in the order of the report. `done` is called with the fraction done; `seconds`
    limits the time of the sweeps for dead points."""
    measured = Measurements(Sampler(model, samples, seed), lambda part: done(0.6 * part))
    results = [law(measured) for law in (loops, methods, inverse, mass_matrix, power_balance)]
    to_know = [limits(measured), shortcuts(measured), conditioning(measured),
               dead_points(model, measured.clusters, seconds, lambda part: done(0.6 + 0.4 * part)),
               *remarks(model)]
    return [finding for finding in [warnings(model), *results, *to_know] if finding is not None]
