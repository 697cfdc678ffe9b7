"""Rotations as matrices, quaternions and angles, one or many at once."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def quaternions(R: Array) -> Array:
    """Unit quaternions (w, x, y, z), shape (…, 4), of matrices, shape (…, 3, 3)."""
    R = np.asarray(R, dtype=float)
    r = {(i, j): R[..., i, j] for i in range(3) for j in range(3)}
    # The rows of 4 q qᵀ; the one with the largest diagonal entry is the most accurate.
    rows = [
        [1 + r[0, 0] + r[1, 1] + r[2, 2], r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]],
        [r[2, 1] - r[1, 2], 1 + r[0, 0] - r[1, 1] - r[2, 2], r[0, 1] + r[1, 0], r[0, 2] + r[2, 0]],
        [r[0, 2] - r[2, 0], r[0, 1] + r[1, 0], 1 - r[0, 0] + r[1, 1] - r[2, 2], r[1, 2] + r[2, 1]],
        [r[1, 0] - r[0, 1], r[0, 2] + r[2, 0], r[1, 2] + r[2, 1], 1 - r[0, 0] - r[1, 1] + r[2, 2]],
    ]
    products = np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
    largest = np.argmax(np.diagonal(products, axis1=-2, axis2=-1), axis=-1)
    chosen = np.take_along_axis(products, largest[..., None, None], axis=-2)[..., 0, :]
    return np.asarray(chosen / np.linalg.norm(chosen, axis=-1, keepdims=True))


def matrix_of_angles(roll: float, pitch: float, yaw: float) -> Array:
    """Rotation about the fixed axes x, y and z, in this order, as in URDF."""
    (cr, cp, cy), (sr, sp, sy) = np.cos([roll, pitch, yaw]), np.sin([roll, pitch, yaw])
    return np.array([
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ])


def angles_of_quaternion(w: float, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Roll, pitch and yaw of a unit quaternion."""
    roll = np.arctan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    pitch = np.arcsin(np.clip(2 * (w * y - z * x), -1, 1))
    yaw = np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
    return float(roll), float(pitch), float(yaw)


def turning_z_to(direction: Array) -> Array:
    """A rotation that takes z to a unit vector; many vectors, shape (…, 3), give (…, 3, 3)."""
    z = np.asarray(direction, dtype=float)
    helper = np.where(np.abs(z[..., :1]) < 0.8, [1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
    x = np.cross(helper, z)
    x /= np.linalg.norm(x, axis=-1, keepdims=True)
    return np.stack([x, np.cross(z, x), z], axis=-1)
