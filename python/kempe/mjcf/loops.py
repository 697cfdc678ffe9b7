"""Equality constraints and tendons of constant length: the loops of a mechanism."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from kempe.mjcf.frames import Pose, pose, shifted
from kempe.mjcf.tree import Reading, numbers, placement

SAME_LENGTH = 1e-9  # relative difference of the limits of a tendon of constant length


@dataclasses.dataclass(frozen=True)
class Polynomial:
    """φ(q) = (a·q − a₀) − Σ cₖ (b·q − b₀)ᵏ, a constraint between two sums of joint positions."""

    a: tuple[float, ...]
    a0: float
    b: tuple[float, ...]
    b0: float
    c: tuple[float, ...]

    def __call__(self, q: Any) -> list[Any]:
        x = -self.b0
        y = -self.a0
        for k, position in enumerate(q):
            if self.b[k]:
                x = x + self.b[k] * position
            if self.a[k]:
                y = y + self.a[k] * position
        value: Any = 0.0
        for coefficient in reversed(self.c):
            value = value * x + coefficient
        return [y - value]


@dataclasses.dataclass(frozen=True)
class Sum:
    """A sum of joint positions, as a joint or a fixed tendon measures it."""

    terms: dict[str, float]
    at_start: float


def add_loops(reading: Reading) -> None:
    builder = Loops(reading)
    for i in range(reading.model.neq):
        builder.add_equality(i)
    for i in range(reading.model.ntendon):
        builder.add_tendon(i)
    builder.report()


def sum_of_tendon(reading: Reading, tendon: int) -> Sum | None:
    """The joint positions that a fixed tendon adds up; None for a spatial one."""
    model, terms = reading.model, dict[str, float]()
    first = model.tendon_adr[tendon]
    for w in range(first, first + model.tendon_num[tendon]):
        if model.wrap_type[w] != reading.source.mujoco.mjtWrap.mjWRAP_JOINT:
            return None
        name = reading.joints[model.wrap_objid[w]]
        terms[name] = terms.get(name, 0.0) + float(model.wrap_prm[w])
    return Sum(terms, float(model.tendon_length0[tendon]))


def sites_of_tendon(reading: Reading, tendon: int) -> list[int] | None:
    """The sites that a tendon connects; None if it runs over anything else."""
    model = reading.model
    first, count = model.tendon_adr[tendon], model.tendon_num[tendon]
    wraps = range(first, first + count)
    if any(model.wrap_type[w] != reading.source.mujoco.mjtWrap.mjWRAP_SITE for w in wraps):
        return None
    return [int(model.wrap_objid[w]) for w in wraps]


class Loops:
    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._source = reading.source
        self._model = reading.model
        self._mechanism = reading.mechanism
        self._notes = reading.notes
        self._held: set[int] = set()  # tendons whose length an equality holds
        self._dependent: set[str] = set()  # joints that follow others
        self._count = 0

    # --- equality constraints ---

    def add_equality(self, i: int) -> None:
        source, model = self._source, self._model
        types = source.mujoco.mjtEq
        type_, name = model.eq_type[i], source.named("equality", i)
        line = source.line("equality", i)
        word = next((word for word, value in (
            ("connect", types.mjEQ_CONNECT), ("weld", types.mjEQ_WELD),
            ("joint", types.mjEQ_JOINT), ("tendon", types.mjEQ_TENDON)) if type_ == value), "flex")
        name = self._reading.loops.take(name or f"{word}{i}")
        kind = f"equality {word}"
        if source.disabled("EQUALITY") or source.disabled("CONSTRAINT"):
            self._notes.about(kind, name, "is left out: the file disables all equality "
                              "constraints.", line)
        elif not model.eq_active0[i]:
            self._notes.about(kind, name, "is left out, because it is not active "
                              '(active="false").', line)
        elif word in ("connect", "weld"):
            self._connect(i, word, name, line)
        elif word == "flex":
            self._notes.about(kind, name, "is left out: constraints on a flex are not read.", line)
        else:
            self._couple(i, word, name, line)

    def _connect(self, i: int, word: str, name: str, line: int) -> None:
        model = self._model
        data, ids = model.eq_data[i], (int(model.eq_obj1id[i]), int(model.eq_obj2id[i]))
        by_sites = model.eq_objtype[i] == self._source.mujoco.mjtObj.mjOBJ_SITE
        frames: list[Pose]
        if by_sites:
            bodies = [int(model.site_bodyid[site]) for site in ids]
            frames = [placement(self._reading, site) for site in ids]
        elif word == "connect":
            bodies = list(ids)
            frames = [shifted(data[0:3]), shifted(data[3:6])]
        else:
            bodies = list(ids)
            frames = [pose(data[3:6], data[6:10]), shifted(data[0:3])]
        if not self._moves(*bodies):
            self._notes.about(f"equality {word}", name, "is left out: its bodies are fixed to each "
                              "other anyway.", line)
            return
        for body in bodies:
            if model.body_mocapid[body] >= 0:
                self._notes.about(
                    f"equality {word}", name, "holds a mocap body, which is fixed in Kempe: what "
                    "it is attached to is held at that place.", line)
        type_ = "fixed"
        if word == "connect":
            type_ = "spherical"
        elif data[10] == 0:
            type_ = "spherical"
            self._notes.about(f"equality {word}", name, "has torquescale 0 and holds the point "
                              "only.", line)
        loop = self._mechanism.add_loop(
            name, type_, predecessor=self._reading.bodies[bodies[0]],
            successor=self._reading.bodies[bodies[1]], predecessor_frame=frames[0],
            successor_frame=frames[1])
        loop.line = line
        self._count += 1

    def _moves(self, one: int, other: int) -> bool:
        """Whether two bodies can move against each other."""
        return bool(self._model.body_weldid[one] != self._model.body_weldid[other])

    def _couple(self, i: int, word: str, name: str, line: int) -> None:
        model = self._model
        ids = [int(model.eq_obj1id[i]), int(model.eq_obj2id[i])]
        sums = [self._sum(word, id_) for id_ in ids if id_ >= 0]
        polynomial = [float(c) for c in model.eq_data[i, :5]]
        left, right = sums[0], sums[1] if len(sums) > 1 else Sum({}, 0.0)
        if left is None or right is None:
            self._hold_length(i, ids, name, line)
            return
        if len(sums) == 1:
            polynomial[1:] = [0.0] * 4
        if word == "joint":
            self._dependent.add(next(iter(left.terms)))
        while len(polynomial) > 1 and not polynomial[-1]:
            polynomial.pop()
        if len(polynomial) <= 2:
            slope = polynomial[1] if len(polynomial) == 2 else 0.0
            terms = dict(left.terms)
            for joint, coefficient in right.terms.items():
                terms[joint] = terms.get(joint, 0.0) - slope * coefficient
            coupling = self._mechanism.add_coupling(
                name, {joint: x for joint, x in terms.items() if x},
                offset=left.at_start + polynomial[0] - slope * right.at_start)
            coupling.line = line
        else:
            joints = list(dict.fromkeys([*left.terms, *right.terms]))
            self._mechanism.add_function(name, joints, 1, Polynomial(
                tuple(left.terms.get(joint, 0.0) for joint in joints), left.at_start,
                tuple(right.terms.get(joint, 0.0) for joint in joints), right.at_start,
                tuple(polynomial)))
        self._count += 1

    def _sum(self, word: str, id_: int) -> Sum | None:
        if word == "joint":
            start = self._model.qpos0[self._model.jnt_qposadr[id_]]
            return Sum({self._reading.joints[id_]: 1.0}, float(start))
        return sum_of_tendon(self._reading, id_)

    def _hold_length(self, i: int, ids: Sequence[int], name: str, line: int) -> None:
        """An equality of spatial tendons: a rod, if it is one tendon between two sites."""
        tendon, model = ids[0], self._model
        sites = sites_of_tendon(self._reading, tendon)
        alone = ids[1] < 0
        if not alone or sites is None or len(sites) != 2:
            self._notes.about(
                "equality tendon", name, "is left out: of spatial tendons only a single one, "
                "straight between two sites, can have its length held.", line)
            return
        self._held.add(tendon)
        self._add_rod(name, sites, float(model.tendon_length0[tendon] + model.eq_data[i, 0]), line)

    def _add_rod(self, name: str, sites: Sequence[int], length: float, line: int) -> None:
        model, bodies = self._model, self._reading.bodies
        ends = [int(model.site_bodyid[site]) for site in sites]
        if not self._moves(*ends):
            self._notes.about("tendon", name, "its length is constant anyway: both ends are fixed "
                              "to each other.", line)
            return
        rod = self._mechanism.add_rod(
            name, predecessor=bodies[ends[0]], predecessor_point=model.site_pos[sites[0]],
            successor=bodies[ends[1]], successor_point=model.site_pos[sites[1]], length=length)
        rod.line = line
        self._count += 1

    # --- tendons ---

    def add_tendon(self, i: int) -> None:
        model, notes = self._model, self._notes
        name = self._source.named("tendon", i) or f"tendon{i}"
        line = self._source.line("tendon", i)
        if model.tendon_limited[i] and i not in self._held:
            self._limit(i, name, line)
        elif i not in self._held and model.tendon_range[i].any():
            notes.about("tendon", name, "its range has no effect, because MuJoCo does not count it "
                        "as limited. Hold its length by an equality constraint.", line)
        if (model.tendon_stiffness[i] or numbers(model, "tendon_stiffnesspoly", i).any()) and (
                not self._source.disabled("SPRING")):
            two = sites_of_tendon(self._reading, i)
            notes.about(
                "tendon", name, "its stiffness has no effect in the model. " + (
                    "kempe.Simulator.add_point_spring adds such a spring to a simulation."
                    if two is not None and len(two) == 2 else "Give the joints springs instead."),
                line)
        for field, words in (("tendon_damping", "damping"), ("tendon_dampingpoly", "damping"),
                             ("tendon_frictionloss", "friction loss"),
                             ("tendon_armature", "armature")):
            if numbers(model, field, i).any():
                notes.about("tendon", name, f"its {words} has no effect.", line)

    def _limit(self, i: int, name: str, line: int) -> None:
        """Limits of a tendon's length: constraints, if they are equal."""
        low, high = map(float, self._model.tendon_range[i])
        equal = high - low <= SAME_LENGTH * max(abs(low), abs(high))
        total, sites = sum_of_tendon(self._reading, i), sites_of_tendon(self._reading, i)
        if equal and sites is not None and len(sites) == 2:
            self._add_rod(self._reading.loops.take(name), sites, high, line)
        elif equal and total is not None:
            coupling = self._mechanism.add_coupling(
                self._reading.loops.take(name),
                {joint: x for joint, x in total.terms.items() if x}, offset=high)
            coupling.line = line
            self._count += 1
        elif total is not None:
            self._notes.about(
                "tendon", name, "the limits of its length are not kept. If they are to couple its "
                "joints, hold its length by an equality constraint.", line)
        else:
            self._notes.about("tendon", name, "the limits of its length are not kept.", line)

    def report(self) -> None:
        for joint in self._mechanism.joints:
            if joint.name in self._dependent:
                joint.independent = False
        if self._count:
            self._notes.file("constraints hold exactly: the softness that solref and solimp give "
                             "them in MuJoCo is not used.")
