"""The bundled robots as the studies use them."""

from __future__ import annotations

import numpy as np

import kempe
from kempe.runs import Vector

# Tello's motors drive its hips, knees and ankles through loops; these joints move the links.
LINK_JOINTS = {"tello": [f"{side}-{joint}" for side in ("left", "right") for joint in (
    "hip-clamp-to-gimbal", "gimbal-to-thigh", "thigh-to-shin", "shin-to-foot")]}


def in_link_coordinates(model: kempe.Model) -> kempe.Model:
    """The robot in link coordinates, if those of the model are rotor coordinates."""
    joints = LINK_JOINTS.get(model.name)
    return model if joints is None else model.with_independent(joints)


# Where the operational inertia is computed: one foot, as in the authors' program.
FEET = {"mini_cheetah": "front_right_foot", "mit_humanoid": "right_foot", "tello": "left_foot",
        "jvrc1": "left_foot"}


def foot_of(model: kempe.Model) -> str:
    """The body of a foot; for chains the last link."""
    if model.name not in FEET:
        return f"link-{model.nv - 1}"
    joint = model.mechanism.joint_above(FEET[model.name])
    assert joint is not None
    return joint.parent


def mechanism(name: str, links: int | None = None) -> kempe.Mechanism:
    """A robot as in the authors' program: the axes of the chains are along gravity."""
    return kempe.robots.mechanism(name, links, upright=False)


def load(name: str, links: int | None = None, *, fold_rotors: bool = True) -> kempe.Model:
    return kempe.Model(mechanism(name, links), fold_rotors=fold_rotors)


def approximate_tree(model: kempe.Model, *, keep_mass: bool = False) -> kempe.Model:
    """The approximation of a robot in libraries without loops: its links as an open tree, without
    rotors, whose reflected inertia becomes the armature of joints. The model must be in link
    coordinates. The results are those of method="approximate", computed directly. With `keep_mass`,
    rotors are not left out but fixed to the bodies that carry them."""
    q, still = model.neutral(), np.zeros(model.nv)
    inertias = {name: reflected_inertia(model, q, still, number)
                for number, name in enumerate(model.v_names)}
    whole = model.mechanism
    tree = kempe.Mechanism(whole.name)
    tree.gravity = model.gravity
    children = {joint.child for joint in whole.joints}
    kept = {body.name for body in whole.bodies if body.name not in children}
    for joint in whole.joints:  # parents come before children in the bundled robots
        moves = joint.type in ("fixed", "free") or joint.name in inertias
        if joint.parent in kept and (moves or keep_mass):
            kept.add(joint.child)
            tree.add_joint(
                joint.name, joint.type if moves else "fixed", parent=joint.parent,
                child=joint.child, origin=joint.origin, axis=joint.axis, lower=joint.lower,
                upper=joint.upper, damping=joint.damping, friction=joint.friction,
                armature=joint.armature + inertias.get(joint.name, 0.0),
                stiffness=joint.stiffness, spring_reference=joint.spring_reference)
    for body in whole.bodies:
        if body.name in kept:
            tree.add_body(body.name, mass=body.mass, center_of_mass=body.center_of_mass,
                          inertia=body.inertia)
    return kempe.Model(tree)


def reflected_inertia(model: kempe.Model, q: Vector, still: Vector, number: int) -> float:
    """Inertias that the approximation adds to the diagonal of the mass matrix."""
    a = still.copy()
    a[number] = 1.0
    approximate, plain = (model.inverse_dynamics(q, still, a, method=method)[number]
                          for method in ("approximate", "unconstrained"))
    return float(approximate - plain)
