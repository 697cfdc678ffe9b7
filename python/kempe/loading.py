"""Loading of robots from files: URDF and YAML by the library, MJCF with the package mujoco."""

from __future__ import annotations

import os
from collections.abc import Mapping

from numpy.typing import ArrayLike

from kempe import _kempe
from kempe.errors import ModelError
from kempe.mjcf import MjcfMechanism, MjcfModel, read_mjcf
from kempe.mjcf.frames import shifted, xyzw_of
from kempe.mjcf.source import is_mjcf
from kempe.mjcf.tree import WORLD

__all__ = ["load", "read_mechanism"]


def read_mechanism(path: str | os.PathLike[str]) -> _kempe.Mechanism:
    """Reads a robot without compiling it, to inspect or change it.

    A .urdf file, a .yaml file of loop closures next to one, or an .xml file in MuJoCo's format
    MJCF, which needs the package mujoco: pip install "kempe[mjcf]". The mechanism of a MJCF file
    is a kempe.mjcf.MjcfMechanism, with the file's actuators and keyframes. Raises ModelError.
    """
    return read_mjcf(path) if is_mjcf(path) else _kempe.read_mechanism(path)


def load(path: str | os.PathLike[str], *, floating_base: bool = False, fold_rotors: bool = True,
         merge_gimbals: bool = True,
         start: Mapping[str, float | ArrayLike] | None = None) -> _kempe.Model:
    """Reads and compiles a robot. Raises ModelError.

    A .urdf file, a .yaml file of loop closures next to one, or an .xml file in MuJoCo's format
    MJCF, which needs the package mujoco: pip install "kempe[mjcf]". The model of a MJCF file is a
    kempe.mjcf.MjcfModel, with the file's actuators and keyframes; `merge_gimbals` does not apply
    to it, because MJCF has ball joints. `start` is the start of the assembly, {joint: position, or
    a list if it has several}, in addition to the file's start pose.
    """
    if not is_mjcf(path):
        return _kempe.load(path, floating_base=floating_base, fold_rotors=fold_rotors,
                           merge_gimbals=merge_gimbals, start=start)
    mechanism = read_mjcf(path)
    if floating_base:
        free_base(mechanism)
    if start is not None:
        mechanism.start_pose = {**mechanism.start_pose, **start}
    return MjcfModel(mechanism, fold_rotors=fold_rotors)


def free_base(mechanism: MjcfMechanism) -> None:
    """Gives the body that a file fixes to the world a free joint."""
    if any(joint.type == "free" and joint.parent == WORLD for joint in mechanism.joints):
        mechanism.warnings = [*mechanism.warnings, f"{mechanism.source}: the base is already free; "
                              "no floating base was added."]
        return
    above = {joint.child: joint.parent for joint in mechanism.joints}
    carries: dict[str, bool] = {}  # by body on the world: whether anything moves on it
    for joint in mechanism.joints:
        body = joint.child
        while above[body] != WORLD:
            body = above[body]
        carries[body] = carries.get(body, False) or joint.type != "fixed"
    bases = [joint for joint in mechanism.joints if joint.parent == WORLD and carries[joint.child]]
    if len(bases) != 1 or bases[0].type != "fixed":
        raise ModelError(
            f"{mechanism.source}: a floating base needs one body that is fixed to the world and "
            f"carries the others; {len(bases)} move or carry others. Add a <freejoint/> to the "
            "base in the file.")
    (base,) = bases
    R, p = base.origin
    base.type = "free"
    mechanism.start_pose = {**mechanism.start_pose, base.name: [*p, *xyzw_of(R)]}
    base.origin = shifted((0, 0, 0))
