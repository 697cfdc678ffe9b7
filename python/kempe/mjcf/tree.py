"""Bodies, joints and sites: the tree of a mechanism."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from kempe._kempe import Mechanism
from kempe.mjcf.frames import Array, Pose, about, pose, product, rotation, shifted, xyzw
from kempe.mjcf.notes import Names, Notes
from kempe.mjcf.source import Source

FREE, BALL, SLIDE, HINGE = range(4)  # mjtJoint
WORLD = "world"


@dataclasses.dataclass
class Reading:
    """A mechanism under construction, and Kempe's names of MuJoCo's elements by their ids."""

    source: Source
    mechanism: Mechanism
    notes: Notes
    bodies: list[str] = dataclasses.field(default_factory=list)
    joints: list[str] = dataclasses.field(default_factory=list)
    sites: list[str] = dataclasses.field(default_factory=list)
    loops: Names = dataclasses.field(default_factory=Names)

    @property
    def model(self) -> Any:
        return self.source.model


def add_tree(reading: Reading) -> None:
    builder = Tree(reading)
    for body in range(1, reading.model.nbody):
        builder.add_body(body)
    for site in range(reading.model.nsite):
        builder.add_site(site)
    builder.finish()


class Tree:
    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._source = reading.source
        self._model = reading.model
        self._mechanism = reading.mechanism
        self._notes = reading.notes
        self._body_names, self._joint_names = Names(), Names()
        self._name_bodies()
        self._name_joints()
        self._extra_armature, self._extra_damping = reflected(self._source)
        self._start: dict[str, list[float]] = {}  # positions where these are not zero
        self._mechanism.add_body(WORLD)

    # --- names ---

    def _name_bodies(self) -> None:
        """Names of the file come first, so that made-up names avoid them."""
        model, source = self._model, self._source
        names = [source.named("body", i) for i in range(model.nbody)]
        names[0] = WORLD
        for name in names:
            if name:
                self._body_names.take(name)
        self._reading.bodies = [
            name or self._body_names.take(f"body{i}") for i, name in enumerate(names)]
        for i in range(model.nsite):
            name = source.named("site", i)
            own = self._body_names.take(name or f"site{i}")
            if name and own != name:
                self._notes.about(
                    "site", name, "its frame is called after it with a number, because a body has "
                    "the same name.", source.line("site", i))
            self._reading.sites.append(own)

    def _name_joints(self) -> None:
        model, source = self._model, self._source
        names = [source.named("joint", i) for i in range(model.njnt)]
        for name in names:
            if name:
                self._joint_names.take(name)
        self._reading.joints = [
            name or self._joint_names.take(
                f"{self._reading.bodies[model.jnt_bodyid[i]]}_{TYPES[model.jnt_type[i]]}")
            for i, name in enumerate(names)]

    # --- bodies ---

    def add_body(self, i: int) -> None:
        model, name = self._model, self._reading.bodies[i]
        line = self._source.line("body", i)
        turn = rotation(model.body_iquat[i])
        with np.errstate(all="ignore"):
            inertia = turn @ np.diag(model.body_inertia[i]) @ turn.T
        body = self._mechanism.add_body(
            name, mass=float(model.body_mass[i]), center_of_mass=model.body_ipos[i],
            inertia=(inertia + inertia.T) / 2)
        body.line = line
        if model.body_gravcomp[i]:
            self._notes.about("body", name, "its gravity compensation (gravcomp) has no effect.",
                              line)
        if model.body_mocapid[i] >= 0:
            self._notes.about("body", name, "is a mocap body; it is fixed where the file has it.",
                              line)
        parent = self._reading.bodies[model.body_parentid[i]]
        place = pose(model.body_pos[i], model.body_quat[i])
        first, count = model.body_jntadr[i], model.body_jntnum[i]
        if not count:
            self._fix(parent, name, place, line)
            return
        # The body's pose is place · Π (anchor · motion · −anchor), with one factor for each joint.
        for j in range(first, first + count):
            anchor = self._anchor(j)
            last = j == first + count - 1
            if not last or anchor.any():
                child = self._body_names.take(f"{name}/{self._reading.joints[j]}")
                self._mechanism.add_body(child).line = line
            else:
                child = name
            self._add_joint(j, parent, child, product(place, shifted(anchor)))
            parent, place = child, shifted(-anchor)
        if parent != name:
            self._fix(parent, name, place, line)

    def _anchor(self, j: int) -> Array:
        """Where a joint is in its body; irrelevant for sliding and free joints."""
        turns = self._model.jnt_type[j] in (BALL, HINGE)
        return np.array(self._model.jnt_pos[j] if turns else np.zeros(3), float)

    def _fix(self, parent: str, child: str, place: Pose, line: int) -> None:
        joint = self._mechanism.add_fixed(
            self._joint_names.take(f"{child}_fixed"), parent=parent, child=child, origin=place)
        joint.line = line

    # --- joints ---

    def _add_joint(self, j: int, parent: str, child: str, place: Pose) -> None:
        model, name = self._model, self._reading.joints[j]
        kind, dof, line = model.jnt_type[j], model.jnt_dofadr[j], self._source.line("joint", j)
        start = model.qpos0[model.jnt_qposadr[j]:]
        pose_at_start: list[float] = []
        own: dict[str, Any] = {}
        if kind == FREE:
            type_, place = "free", shifted(np.zeros(3))
            pose_at_start = [*map(float, start[:3]), *xyzw(start[3:7])]
        elif kind == BALL:
            type_ = "spherical"
        else:
            axis, reference = model.jnt_axis[j], float(start[0])
            own["axis"] = axis
            if kind == HINGE:
                type_ = "revolute" if model.jnt_limited[j] else "continuous"
                back: Pose = (about(axis, -reference), np.zeros(3))
            else:
                type_, back = "prismatic", shifted(-reference * axis)
            place = product(place, back)
            if reference:
                pose_at_start = [reference]
        joint = self._mechanism.add_joint(
            name, type_, parent=parent, child=child, origin=place, **own)
        joint.line = line
        if pose_at_start:
            self._start[name] = pose_at_start
        self._add_passive(j, dof, joint, line)
        self._add_limits(j, joint, line)

    def _add_passive(self, j: int, dof: int, joint: Any, line: int) -> None:
        model, name = self._model, self._reading.joints[j]
        kind, source, notes = model.jnt_type[j], self._source, self._notes
        scalar = kind in (SLIDE, HINGE)
        joint.armature = float(model.dof_armature[dof] + self._extra_armature.get(j, 0.0))
        if kind == FREE and joint.armature:
            notes.about("joint", name, "its armature acts along the axes of the body, not of the "
                        "world.", line)
        if not source.disabled("DAMPER"):
            joint.damping = float(model.dof_damping[dof] + self._extra_damping.get(j, 0.0))
            if numbers(model, "dof_dampingpoly", dof).any():
                notes.about("joint", name, "only the linear part of its damping is used.", line)
        if not source.disabled("FRICTIONLOSS"):
            joint.friction = float(model.dof_frictionloss[dof])
        stiffness = float(model.jnt_stiffness[j])
        poly = numbers(model, "jnt_stiffnesspoly", j).any()
        if (stiffness or poly) and not source.disabled("SPRING"):
            if not scalar:
                notes.about("joint", name, f"its stiffness has no effect, because it is a "
                            f"{TYPES[kind]} joint. Springs need a hinge or a slide.", line)
            else:
                joint.stiffness = stiffness
                joint.spring_reference = float(model.qpos_spring[model.jnt_qposadr[j]])
                if poly:
                    notes.about("joint", name, "only the linear part of its stiffness is used.",
                                line)
        if numbers(model, "jnt_plasticadr", j, -1).max() >= 0:
            notes.about("joint", name, "its plastic spring does not yield.", line)

    def _add_limits(self, j: int, joint: Any, line: int) -> None:
        model, name = self._model, self._reading.joints[j]
        if model.jnt_limited[j]:
            if model.jnt_type[j] in (SLIDE, HINGE):
                joint.lower, joint.upper = map(float, model.jnt_range[j])
            else:
                self._notes.about("joint", name, "the limit of its angle is not kept.", line)
        if model.jnt_actfrclimited[j]:
            low, high = map(float, model.jnt_actfrcrange[j])
            joint.max_effort = max(abs(low), abs(high))
            if low != -high:
                self._notes.about("joint", name, "of its actuatorfrcrange the larger number is "
                                  "kept as limit of effort, for both directions.", line)

    # --- sites ---

    def add_site(self, i: int) -> None:
        model, name, line = self._model, self._reading.sites[i], self._source.line("site", i)
        self._mechanism.add_body(name).line = line
        self._fix(self._reading.bodies[model.site_bodyid[i]], name,
                  pose(model.site_pos[i], model.site_quat[i]), line)

    def finish(self) -> None:
        """The start pose, and what there is to say about the whole tree."""
        self._mechanism.start_pose = {**self._start}
        option, notes = self._model.opt, self._notes
        if option.density or option.viscosity:
            notes.file("forces of the medium (density, viscosity, wind) are not computed.")
        if self._model.nflex:
            notes.file("flexible bodies (flex) are not part of the model.")
        if self._model.nplugin:
            notes.file("plugins are not used.")
        for flag, things in (("DAMPER", "damping"), ("SPRING", "springs"),
                             ("FRICTIONLOSS", "friction loss")):
            if self._source.disabled(flag):
                notes.file(f"{things} of joints: disabled in the file, and left out.")


TYPES = {FREE: "free", BALL: "ball", SLIDE: "slide", HINGE: "hinge"}


def numbers(model: Any, field: str, row: int, default: float = 0.0) -> Array:
    """A row of a field that older versions of MuJoCo do not have."""
    values = getattr(model, field, None)
    return np.full(1, default) if values is None else np.atleast_1d(values[row]).astype(float)


def reflected(source: Source) -> tuple[dict[int, float], dict[int, float]]:
    """Armature and damping of actuators at the joints that they drive: gear² times their own."""
    model, armature, damping = source.model, dict[int, float](), dict[int, float]()
    for i in range(number_of_actuators(model)):
        joint = model.actuator_trnid[i, 0]
        if model.actuator_trntype[i] not in (0, 1) or not drives_scalar_joint(model, joint):
            continue
        square = float(model.actuator_gear[i, 0]) ** 2
        for field, sums in (("actuator_armature", armature), ("actuator_damping", damping)):
            sums[joint] = sums.get(joint, 0.0) + square * float(numbers(model, field, i)[0])
    return armature, damping


def number_of_actuators(model: Any) -> int:
    return len(model.actuator_trntype)


def drives_scalar_joint(model: Any, joint: int) -> bool:
    return joint >= 0 and model.jnt_type[joint] in (SLIDE, HINGE)


def placement(reading: Reading, site: int) -> Pose:
    """A site in its body."""
    model = reading.model
    return pose(model.site_pos[site], model.site_quat[site])


__all__ = ["BALL", "FREE", "HINGE", "SLIDE", "TYPES", "WORLD", "Reading", "add_tree", "numbers",
           "number_of_actuators", "placement"]
