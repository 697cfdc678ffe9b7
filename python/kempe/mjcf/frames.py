"""Poses (R, p) of frames, as Kempe's builder takes them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.floating[Any]]
Pose = tuple[Array, Array]


def turns(quaternions: Array) -> Array:
    """Rotations of unit quaternions (x, y, z, w), (…, 3, 3)."""
    x, y, z, w = np.moveaxis(quaternions, -1, 0)
    rows = [[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def rotation(quaternion: ArrayLike) -> Array:
    """The rotation of a quaternion in MuJoCo's order, (w, x, y, z); it need not be normalised."""
    return turns(np.array(xyzw(quaternion)))


def normalized(quaternion: ArrayLike) -> Array:
    numbers = np.asarray(quaternion, float)
    length = np.linalg.norm(numbers)
    return numbers / length if length > 0 else np.array([1.0, 0, 0, 0])


def xyzw(quaternion: ArrayLike) -> list[float]:
    """MuJoCo's quaternion in Kempe's order."""
    w, x, y, z = normalized(quaternion)
    return [float(x), float(y), float(z), float(w)]


def about(axis: ArrayLike, angle: float) -> Array:
    """The rotation about an axis."""
    unit = np.asarray(axis, float)
    return rotation(np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * unit]))


def pose(position: ArrayLike, quaternion: ArrayLike) -> Pose:
    return rotation(quaternion), np.array(position, float)


def shifted(by: ArrayLike) -> Pose:
    return np.eye(3), np.array(by, float)


def product(*poses: Pose) -> Pose:
    """The pose of the last frame in the first one's parent."""
    R, p = poses[0]
    for R_next, p_next in poses[1:]:
        R, p = R @ R_next, p + R @ p_next
    return R, p


def inverse(of: Pose) -> Pose:
    R, p = of
    return R.T, -R.T @ p


def xyzw_of(R: Array) -> list[float]:
    """The quaternion of a rotation, in Kempe's order: of four ways, the most precise."""
    trace = R[0, 0] + R[1, 1] + R[2, 2]
    diagonal = [*np.diag(R), trace]
    largest = int(np.argmax(diagonal))
    quaternion = np.empty(4)
    if largest == 3:
        quaternion[:] = (R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1], 1 + trace)
    else:
        i, j, k = largest, (largest + 1) % 3, (largest + 2) % 3
        quaternion[i] = 1 - trace + 2 * R[i, i]
        quaternion[j] = R[j, i] + R[i, j]
        quaternion[k] = R[k, i] + R[i, k]
        quaternion[3] = R[k, j] - R[j, k]
    return [float(x) for x in quaternion / np.linalg.norm(quaternion)]
