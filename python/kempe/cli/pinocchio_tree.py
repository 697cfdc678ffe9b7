"""The open tree of a robot as a model of Pinocchio, to compare times with.

All bodies and joints are in it, rotors too; loops are not, as Pinocchio's recursions know none. Its
coordinates are the spanning ones of Kempe, in the same order.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

import kempe

pinocchio: Any = importlib.import_module("pinocchio")


def turned_to(axis: Any) -> Any:
    """A rotation that takes z to the axis."""
    z = np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    x = np.cross([0.0, 1.0, 0.0] if abs(z[1]) < 0.9 else [1.0, 0.0, 0.0], z)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def steps_of(joint: kempe.Joint) -> list[Any]:
    """Pinocchio's joints, one after the other, that move as one of Kempe."""
    axis = np.asarray(joint.axis) / np.linalg.norm(joint.axis)
    turn = pinocchio.JointModelRevoluteUnaligned
    slide = pinocchio.JointModelPrismaticUnaligned
    match joint.type:
        case "revolute" | "continuous":
            return [turn(axis)]
        case "prismatic":
            return [slide(axis)]
        case "helical":
            return [pinocchio.JointModelHelicalUnaligned(axis, joint.pitch)]
        case "cylindrical":
            return [turn(axis), slide(axis)]
        case "universal":
            return [turn(axis), turn(np.asarray(joint.axis2) / np.linalg.norm(joint.axis2))]
        case "planar":
            frame = turned_to(axis)
            return [slide(frame[:, 0]), slide(frame[:, 1]), turn(axis)]
        case "spherical":
            return [pinocchio.JointModelSpherical()]
        case "free":
            return [pinocchio.JointModelFreeFlyer()]
    raise ValueError(f'joint "{joint.name}": a {joint.type} joint is not known here')


def open_tree(model: kempe.Model) -> Any:
    """A pinocchio.Model of all bodies and tree joints."""
    mechanism = model.mechanism
    above = {joint.child: joint for joint in mechanism.joints}
    tree = pinocchio.Model()
    tree.gravity.linear = np.asarray(model.gravity)
    # Where each body is: the joint that carries it, and its placement there.
    carried: dict[str, tuple[int, Any]] = {}
    armatures: list[float] = []

    def place(name: str) -> tuple[int, Any]:
        if name not in carried:
            joint = above.get(name)
            if joint is None:
                carried[name] = (0, pinocchio.SE3.Identity())
            else:
                parent, placement = place(joint.parent)
                if joint.type != "fixed":
                    raise ValueError(f'body "{name}" comes before the one that carries it')
                carried[name] = (parent, placement * pinocchio.SE3(*map(np.asarray, joint.origin)))
        return carried[name]

    for name, body in zip(model.joint_names, model.body_names, strict=True):
        joint = above[body]
        parent, placement = place(joint.parent)
        placement = placement * pinocchio.SE3(*map(np.asarray, joint.origin))
        for number, step in enumerate(steps_of(joint)):
            parent = tree.addJoint(parent, step, placement, f"{name}.{number}")
            placement = pinocchio.SE3.Identity()
        armatures += [joint.armature] * (tree.nv - len(armatures))
        carried[body] = (parent, pinocchio.SE3.Identity())
    for body_ in mechanism.bodies:
        parent, placement = place(body_.name)
        if parent > 0:
            inertia = pinocchio.Inertia(
                body_.mass, np.asarray(body_.center_of_mass), np.asarray(body_.inertia))
            tree.appendBodyToJoint(parent, inertia, placement)
    tree.armature = np.array(armatures)
    return tree
