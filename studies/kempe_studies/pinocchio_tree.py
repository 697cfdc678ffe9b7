"""The open tree of a robot as a model of Pinocchio, for comparison of times.

All bodies and joints are in it, rotors too; loops are not, as Pinocchio's recursions know none.
"""

from __future__ import annotations

import dataclasses
import importlib
from typing import Any

import numpy as np

import kempe

pinocchio: Any = importlib.import_module("pinocchio")


def turned_to(axis: Any) -> Any:
    """The smallest rotation that takes z to a unit axis, as in Kempe's joints."""
    side = -1.0 if axis[2] < -0.5 else 1.0
    x, y, z = side * axis
    k = 1 / (1 + z)
    first, second = [1 - x * x * k, -x * y * k, -x], [-x * y * k, 1 - y * y * k, -y]
    return np.column_stack([first, side * np.array(second), axis])


def about(axis: Any, aligned: str, other: str) -> Any:
    """A joint about or along an axis; Pinocchio is faster if the axis is x, y or z."""
    for number, letter in enumerate("XYZ"):
        if np.array_equal(axis, np.eye(3)[number]):
            return getattr(pinocchio, aligned + letter)()
    return getattr(pinocchio, other)(axis)


def turn(axis: Any) -> Any:
    return about(axis, "JointModelR", "JointModelRevoluteUnaligned")


def slide(axis: Any) -> Any:
    return about(axis, "JointModelP", "JointModelPrismaticUnaligned")


def steps_of(joint: kempe.Joint) -> list[Any]:
    """The series of Pinocchio joints that is equivalent to one joint of Kempe."""
    axis = np.asarray(joint.axis) / np.linalg.norm(joint.axis)
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


@dataclasses.dataclass(frozen=True)
class OpenTree:
    """A pinocchio.Model, and the indices of its coordinates among Kempe's spanning coordinates."""

    model: Any
    positions: list[int]
    velocities: list[int]


def depth_first(model: kempe.Model) -> list[str]:
    """The moving bodies in depth-first order, as Pinocchio requires."""
    children: dict[str, list[kempe.Joint]] = {}
    for joint in model.mechanism.joints:
        children.setdefault(joint.parent, []).append(joint)
    carried = {joint.child for joint in model.mechanism.joints}
    waiting = [body.name for body in model.mechanism.bodies if body.name not in carried]
    order = []
    while waiting:
        body = waiting.pop()
        order.append(body)
        waiting += [joint.child for joint in reversed(children.get(body, []))]
    return order


def open_tree(model: kempe.Model) -> OpenTree:
    mechanism = model.mechanism
    tree = pinocchio.Model()
    tree.gravity.linear = np.asarray(model.gravity)
    positions: list[int] = []
    velocities: list[int] = []
    armatures: list[float] = []
    # For each body: the Pinocchio joint that carries it, and its placement there.
    places: dict[str, tuple[int, Any]] = {}
    for name in depth_first(model):
        body, joint = mechanism.find_body(name), mechanism.joint_above(name)
        assert body is not None
        carrier, placement = 0, pinocchio.SE3.Identity()
        if joint is not None:
            carrier, placement = places[joint.parent]
            placement = placement * pinocchio.SE3(*map(np.asarray, joint.origin))
        if joint is not None and joint.type != "fixed":
            for number, step in enumerate(steps_of(joint)):
                carrier = tree.addJoint(carrier, step, placement, f"{joint.name}.{number}")
                placement = pinocchio.SE3.Identity()
            position = model.joint_position_index(joint.name)
            velocity = model.joint_velocity_index(joint.name)
            positions += range(position, position + tree.nq - len(positions))
            velocities += range(velocity, velocity + tree.nv - len(velocities))
            armatures += [joint.armature] * (tree.nv - len(armatures))
        places[name] = (carrier, placement)
        if carrier > 0:
            inertia = pinocchio.Inertia(
                body.mass, np.asarray(body.center_of_mass), np.asarray(body.inertia))
            tree.appendBodyToJoint(carrier, inertia, placement)
    tree.armature = np.array(armatures)
    return OpenTree(tree, positions, velocities)
