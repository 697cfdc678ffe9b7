"""Meshes are closed surfaces of the right size, and rotations are rotations."""

import numpy as np
import pytest

from kempe.viewer import meshes, rotations


def volume(mesh: meshes.Mesh) -> float:
    """Volume that the surface encloses; positive only if triangles face outwards."""
    a, b, c = (mesh.vertices[mesh.faces[:, i]] for i in range(3))
    return float(np.einsum("ni,ni->n", a, np.cross(b, c)).sum() / 6)


R = rotations.matrix_of_angles(0.3, -1.1, 2.0)
OFFSET = np.array([0.4, -2.0, 1.0])


@pytest.mark.parametrize(("mesh", "expected"), [
    (meshes.box(np.array([1.0, 2.0, 3.0])), 6.0),
    (meshes.cylinder(0.5, 2.0), np.pi * 0.25 * 2),
    (meshes.sphere(0.5), np.pi / 6),
    (meshes.capsule(0.5, 2.0), np.pi * 0.25 * 2 + np.pi / 6),
    (meshes.between(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 5.0]), 0.5, round_ends=False),
     np.pi * 0.25 * 2),
    (meshes.box(np.array([1.0, 1.0, 1.0])).scaled(np.array([2.0, -1.0, 1.0])), 2.0),
    (meshes.joined([meshes.box(np.array([1.0, 1.0, 1.0])), meshes.box(np.array([2.0, 1.0, 1.0]))]),
     3.0),
])
def test_solids_enclose_their_volume(mesh: meshes.Mesh, expected: float) -> None:
    assert volume(mesh) == pytest.approx(expected, rel=0.05)
    assert volume(mesh.placed(R, OFFSET)) == pytest.approx(volume(mesh))


def test_capsules_reach_from_end_to_end() -> None:
    start, end = np.array([1.0, 2.0, 3.0]), np.array([-1.0, 0.0, 2.5])
    mesh = meshes.between(start, end, 0.1)
    along = (end - start) / np.linalg.norm(end - start)
    reach = (mesh.vertices - start) @ along
    assert [reach.min(), reach.max()] == pytest.approx([-0.1, 3.0 - 0.1312 + 0.1], abs=2e-2)
    across = np.linalg.norm((mesh.vertices - start) - reach[:, None] * along, axis=1)
    assert across.max() == pytest.approx(0.1, rel=1e-2)


def test_rotations_there_and_back() -> None:
    angles = np.random.default_rng(1).uniform(-1.5, 1.5, (50, 3))
    matrices = np.array([rotations.matrix_of_angles(*row) for row in angles])
    quaternions = rotations.quaternions(matrices)
    back = np.array([rotations.angles_of_quaternion(*quaternion) for quaternion in quaternions])
    assert back == pytest.approx(angles, abs=1e-12)


@pytest.mark.parametrize("angles", [(np.pi, 0, 0), (0, 0, np.pi), (np.pi, 0, np.pi), (0, 0, 0)])
def test_quaternions_of_half_turns(angles: tuple[float, float, float]) -> None:
    turned = rotations.matrix_of_angles(*angles)
    w, x, y, z = rotations.quaternions(turned)
    v = np.array([x, y, z])
    rodrigues = (w * w - v @ v) * np.eye(3) + 2 * np.outer(v, v) + 2 * w * np.array(
        [[0, -z, y], [z, 0, -x], [-y, x, 0]])
    assert rodrigues == pytest.approx(turned, abs=1e-12)


def test_turning_z_to_any_direction() -> None:
    directions = np.vstack([np.random.default_rng(2).normal(size=(20, 3)), np.eye(3), -np.eye(3)])
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    turns = rotations.turning_z_to(directions)
    assert turns[..., 2] == pytest.approx(directions)
    assert np.abs(turns @ np.swapaxes(turns, 1, 2) - np.eye(3)).max() < 1e-12
    assert np.linalg.det(turns) == pytest.approx(1)
