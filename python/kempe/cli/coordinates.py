"""Units and reference lengths of a robot's coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import kempe

Array = NDArray[np.floating[Any]]

# Degrees of freedom of joints that have several, and the indices of those that are lengths.
FREEDOMS = {"cylindrical": 2, "universal": 2, "planar": 3, "spherical": 3, "free": 6}
SLIDES = {"prismatic": (0,), "cylindrical": (1,), "planar": (0, 1), "free": (0, 1, 2)}


def robot_size(model: kempe.Model) -> float:
    """The diagonal of the box around all frames and centres of mass in the neutral position."""
    rotations, origins = model.forward_kinematics(model.neutral())
    points = [*origins]
    for body in model.mechanism.bodies:
        frame = model.frame_index(body.name)
        points.append(origins[frame] + rotations[frame] @ body.center_of_mass)
    return float(np.linalg.norm(np.ptp(np.array(points), axis=0)))


def velocity_units(model: kempe.Model, size: float) -> Array:
    """The unit of each velocity: one radian, or the size of the robot for lengths."""
    units = np.ones(model.nv)
    for joint in model.mechanism.joints:
        if joint.name not in model.joint_names:
            continue
        first = model.joint_velocity_index(joint.name)
        for component in SLIDES.get(joint.type, ()):
            name = model.spanning_velocity_names[first + component]
            if name in model.v_names:
                units[model.v_names.index(name)] = size
    return units
