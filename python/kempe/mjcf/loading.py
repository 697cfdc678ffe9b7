"""Loading of MJCF files as models."""

from __future__ import annotations

import os
from collections.abc import Mapping

from numpy.typing import ArrayLike

from kempe.errors import ModelError
from kempe.mjcf.frames import shifted, xyzw_of
from kempe.mjcf.model import MjcfMechanism, MjcfModel
from kempe.mjcf.reader import read_mjcf
from kempe.mjcf.tree import WORLD


def load(path: str | os.PathLike[str], *, floating_base: bool = False, fold_rotors: bool = True,
         start: Mapping[str, float | ArrayLike] | None = None,
         friction_slip_speed: float | None = None) -> MjcfModel:
    """Reads and compiles a MJCF file of any name. Arguments as in kempe.load(), which calls this.
    Raises ModelError."""
    mechanism = read_mjcf(path)
    if floating_base:
        free_base(mechanism)
    if start is not None:
        mechanism.start_pose = {**mechanism.start_pose, **start}
    if friction_slip_speed is not None:
        mechanism.friction_slip_speed = friction_slip_speed
    return MjcfModel(mechanism, fold_rotors=fold_rotors)


def free_base(mechanism: MjcfMechanism) -> None:
    """Gives the body that a file fixes to the world a free joint."""
    if any(joint.type == "free" and joint.parent == WORLD for joint in mechanism.joints):
        mechanism.warnings = [*mechanism.warnings, f"{mechanism.source}: the base is already free; "
                              "no floating base was added."]
        return
    above = {joint.child: joint.parent for joint in mechanism.joints}
    masses = {body.name: body.mass for body in mechanism.bodies}
    moving, heavy = set[str](), set[str]()  # bodies on the world that carry joints, and masses
    for joint in mechanism.joints:
        body = joint.child
        while above[body] != WORLD:
            body = above[body]
        if joint.type != "fixed":
            moving.add(body)
        if masses[joint.child]:
            heavy.add(body)
    bases = [joint for joint in mechanism.joints
             if joint.parent == WORLD and joint.child in (moving or heavy)]
    if len(bases) != 1 or bases[0].type != "fixed":
        raise ModelError(
            f"{mechanism.source}: a floating base needs one body that is fixed to the world and "
            "carries all that moves, and this file has no such body. Add a <freejoint/> to the "
            "base in the file.")
    (base,) = bases
    R, p = base.origin
    base.type = "free"
    mechanism.start_pose = {**mechanism.start_pose, base.name: [*p, *xyzw_of(R)]}
    base.origin = shifted((0, 0, 0))
