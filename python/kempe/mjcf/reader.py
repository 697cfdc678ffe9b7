"""The reader: from a MJCF file to a mechanism."""

from __future__ import annotations

import os

import numpy as np

from kempe.errors import ModelError
from kempe.mjcf.actuators import read_actuators
from kempe.mjcf.frames import xyzw
from kempe.mjcf.loops import add_loops
from kempe.mjcf.model import MjcfMechanism
from kempe.mjcf.notes import Names, Notes
from kempe.mjcf.shapes import add_shapes
from kempe.mjcf.source import Source, compiled
from kempe.mjcf.tree import BALL, FREE, Reading, add_tree

CHECKED = (("body", "body_mass body_ipos body_iquat body_inertia body_pos body_quat"),
           ("joint", "jnt_pos jnt_axis jnt_range jnt_stiffness"), ("site", "site_pos site_quat"),
           ("equality", "eq_data"), ("tendon", "tendon_length0 tendon_range"),
           ("actuator", "actuator_gear actuator_gainprm actuator_biasprm"))


def read_mjcf(path: str | os.PathLike[str]) -> MjcfMechanism:
    """Reads a MJCF file without compiling the mechanism. Raises ModelError."""
    source = compiled(path)
    check_numbers(source)
    mechanism = MjcfMechanism(source.name or "robot")
    mechanism.source = source.path
    notes = Notes(source.path)
    for complaint in source.complaints:
        notes.file(f"MuJoCo: {complaint}")
    if not source.disabled("GRAVITY"):
        mechanism.gravity = source.model.opt.gravity
    else:
        mechanism.gravity = (0, 0, 0)
    reading = Reading(source, mechanism, notes)
    add_tree(reading)
    add_loops(reading)
    add_shapes(reading)
    mechanism.actuators = read_actuators(reading)
    mechanism.keyframes = {**keyframes_of(reading)}
    mechanism.warnings = notes.texts()
    return mechanism


def check_numbers(source: Source) -> None:
    """MuJoCo accepts numbers that are not finite."""
    model = source.model
    for kind, fields in CHECKED:
        for field in fields.split():
            values = np.asarray(getattr(model, field))
            bad = np.nonzero(~np.isfinite(values).all(axis=tuple(range(1, values.ndim))))[0]
            if len(bad):
                number = int(bad[0])
                line = source.line(kind, number)
                place = f"{source.path}:{line}" if line else source.path
                name = source.named(kind, number) or f"number {number}"
                what = field.partition("_")[2]
                raise ModelError(f'{place}: {kind} "{name}": {what} is not finite. Give finite '
                                 "numbers.")
    for joint in range(model.njnt):
        start = int(model.jnt_qposadr[joint])
        size = {FREE: 7, BALL: 4}.get(int(model.jnt_type[joint]), 1)
        if not np.isfinite(model.qpos0[start:start + size]).all():
            name = source.named("joint", joint) or f"number {joint}"
            raise ModelError(f'{source.path}: joint "{name}": its reference position is not '
                             "finite. Give finite numbers.")


def keyframes_of(reading: Reading) -> dict[str, dict[str, list[float]]]:
    model, names = reading.model, Names()
    keyframes: dict[str, dict[str, list[float]]] = {}
    for k in range(model.nkey):
        given = reading.source.named("key", k)
        name = names.take(given or f"key{k}")
        qpos = model.key_qpos[k]
        if not np.isfinite(qpos).all():
            reading.notes.about("keyframe", name, "is left out, because it is not finite.")
            continue
        if model.key_qvel[k].any():
            reading.notes.about("keyframe", name, "its velocities are not kept.")
        positions = keyframes[name] = {}
        for j in range(model.njnt):
            at, kind = int(model.jnt_qposadr[j]), int(model.jnt_type[j])
            if kind == FREE:
                numbers = [*map(float, qpos[at:at + 3]), *xyzw(qpos[at + 3:at + 7])]
            elif kind == BALL:
                numbers = xyzw(qpos[at:at + 4])
            else:
                numbers = [float(qpos[at])]
            positions[reading.joints[j]] = numbers
    return keyframes
