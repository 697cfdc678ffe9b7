"""Loading of robots from files: URDF and YAML by the library, MJCF with the package mujoco."""

from __future__ import annotations

import os
from collections.abc import Mapping

from numpy.typing import ArrayLike

from kempe import _kempe, mjcf
from kempe.mjcf.source import is_mjcf

__all__ = ["load", "read_mechanism"]


def read_mechanism(path: str | os.PathLike[str]) -> _kempe.Mechanism:
    """Reads a robot without compiling it, to inspect or change it.

    A .urdf file, a .yaml file of loop closures next to one, or an .xml file in MuJoCo's format
    MJCF, which needs the package mujoco: pip install "kempe[mjcf]". The mechanism of a MJCF file
    is a kempe.mjcf.MjcfMechanism, with the file's actuators and keyframes. Raises ModelError.
    """
    return mjcf.read_mjcf(path) if is_mjcf(path) else _kempe.read_mechanism(path)


def load(path: str | os.PathLike[str], *, floating_base: bool = False, fold_rotors: bool = True,
         merge_gimbals: bool = True,
         start: Mapping[str, float | ArrayLike] | None = None,
         friction_slip_speed: float | None = None) -> _kempe.Model:
    """Reads and compiles a robot. Raises ModelError.

    A .urdf file, a .yaml file of loop closures next to one, or an .xml file in MuJoCo's format
    MJCF, which needs the package mujoco: pip install "kempe[mjcf]". The model of a MJCF file is a
    kempe.mjcf.MjcfModel, with the file's actuators and keyframes; `merge_gimbals` does not apply
    to it, because MJCF has ball joints. `start` is the start of the assembly, {joint: position, or
    a list if it has several}, in addition to the file's start pose. `friction_slip_speed`, in rad/s
    or m/s, makes the dry friction of joints smooth (Mechanism.friction_slip_speed); None: as in
    the file.
    """
    if is_mjcf(path):
        return mjcf.load(path, floating_base=floating_base, fold_rotors=fold_rotors, start=start,
                         friction_slip_speed=friction_slip_speed)
    return _kempe.load(path, floating_base=floating_base, fold_rotors=fold_rotors,
                       merge_gimbals=merge_gimbals, start=start,
                       friction_slip_speed=friction_slip_speed)
