"""Triangle meshes of simple solids."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from kempe.viewer.rotations import Array, turning_z_to

SEGMENTS = 24  # of a full circle


@dataclasses.dataclass(frozen=True)
class Mesh:
    """Triangles, counter-clockwise seen from outside. Faces at sharp edges do not share
    vertices."""

    vertices: Array  # (V, 3)
    faces: Array  # (F, 3), indices of vertices

    def corners(self) -> Array:
        """Of the bounding box along the axes."""
        ends = np.stack([self.vertices.min(axis=0), self.vertices.max(axis=0)])
        return np.array([[ends[i, 0], ends[j, 1], ends[k, 2]]
                         for i in (0, 1) for j in (0, 1) for k in (0, 1)])

    def placed(self, R: Array, p: Array) -> Mesh:
        return Mesh(self.vertices @ np.asarray(R).T + p, self.faces)

    def scaled(self, factors: Array) -> Mesh:
        """Scales along each axis; a negative factor mirrors, so triangles are reversed."""
        faces = self.faces if np.prod(factors) > 0 else self.faces[:, ::-1]
        return Mesh(self.vertices * factors, faces)


def joined(meshes: Sequence[Mesh]) -> Mesh:
    starts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes[:-1])])
    return Mesh(
        np.concatenate([mesh.vertices for mesh in meshes]),
        np.concatenate([mesh.faces + start for mesh, start in zip(meshes, starts, strict=True)]))


def box(size: Array) -> Mesh:
    """A box with its centre at zero; six faces of four vertices each."""
    vertices: list[Array] = []
    faces: list[list[int]] = []
    for axis in range(3):
        u, v = np.eye(3)[(axis + 1) % 3], np.eye(3)[(axis + 2) % 3]
        for side in (-1.0, 1.0):
            centre = side * np.eye(3)[axis]
            first = len(vertices)
            vertices += [centre - u - v, centre + side * (u - v), centre + u + v,
                         centre - side * (u - v)]
            faces += [[first, first + 1, first + 2], [first, first + 2, first + 3]]
    return Mesh(np.array(vertices) * np.asarray(size) / 2, np.array(faces))


def revolved(profile: Sequence[tuple[float, float]]) -> Mesh:
    """Solid of revolution about z of a line (radius, height), from the lowest point up."""
    angles = np.linspace(0, 2 * np.pi, SEGMENTS, endpoint=False)
    circle = np.stack([np.cos(angles), np.sin(angles), np.zeros(SEGMENTS)], axis=1)
    vertices = np.concatenate([circle * r + np.array([0, 0, h]) for r, h in profile])
    here = np.arange(SEGMENTS)
    after = (here + 1) % SEGMENTS
    faces = []
    for ring in range(len(profile) - 1):
        low, high = ring * SEGMENTS, (ring + 1) * SEGMENTS
        faces.append(np.stack([here + low, after + low, after + high], axis=1))
        faces.append(np.stack([here + low, after + high, here + high], axis=1))
    return Mesh(vertices, np.concatenate(faces))


def cylinder(radius: float, length: float) -> Mesh:
    """A cylinder along z with its centre at zero."""
    h = length / 2
    return joined([revolved([(0, -h), (radius, -h)]), revolved([(radius, -h), (radius, h)]),
                   revolved([(radius, h), (0, h)])])


def capsule(radius: float, length: float) -> Mesh:
    """A cylinder along z with a half ball at either end; `length` is that of the cylinder."""
    angles = np.linspace(0, np.pi / 2, SEGMENTS // 4 + 1)
    upper = [(float(radius * np.cos(a)), float(radius * np.sin(a) + length / 2)) for a in angles]
    return revolved([*((r, -h) for r, h in reversed(upper)), *upper])


def sphere(radius: float) -> Mesh:
    return capsule(radius, 0.0)


def between(start: Array, end: Array, radius: float, *, round_ends: bool = True) -> Mesh:
    """A capsule, or a cylinder, from one point to another."""
    start, end = np.asarray(start, float), np.asarray(end, float)
    length = float(np.linalg.norm(end - start))
    mesh = capsule(radius, length) if round_ends else cylinder(radius, length)
    direction = (end - start) / length if length > 0 else np.array([0.0, 0.0, 1.0])
    return mesh.placed(turning_z_to(direction), (start + end) / 2)
