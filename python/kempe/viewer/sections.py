"""Meshes of beams that bend: cross-sections swept along a curve."""

from __future__ import annotations

import numpy as np

from kempe.viewer.rotations import Array

ROUND = 12  # corners of a round section
PIECES = 24  # of a whole beam, at least: lengths between the sections that are drawn
FULL = 0.97  # area over that of the rectangle with the same radii of gyration; a circle has 0.955


def outlines(sections: Array, thinnest: float) -> Array:
    """Outlines of cross-sections with given area, Iy and Iz, as points (y, z) counter-clockwise
    about x, shape (sections, points, 2); points at a sharp corner are double.

    A section is a rectangle where its area is that of the rectangle with its radii of gyration, and
    otherwise, if Iy = Iz, a tube of its area, full or hollow, of which the outside is drawn. Other
    sections are drawn as the rectangle with their radii of gyration. None is thinner than
    `thinnest`.
    """
    area, Iy, Iz = sections.T
    sides = np.sqrt(12 * np.stack([Iz, Iy], axis=1) / area[:, None])
    # π (R² − r²) = area and π/4 (R⁴ − r⁴) = I.
    outer, inner = 2 * Iy / area + area / (2 * np.pi), 2 * Iy / area - area / (2 * np.pi)
    is_rectangle = np.abs(area / sides.prod(axis=1) - 1) < 1 - FULL
    is_round = (np.abs(Iy - Iz) < 1e-3 * Iz) & (inner > -1e-3 * outer) & ~is_rectangle
    if np.all(is_round):
        angles = 2 * np.pi * np.arange(ROUND) / ROUND
        circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        return np.asarray(np.maximum(np.sqrt(outer), thinnest / 2)[:, None, None] * circle)
    corners = np.repeat([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]], 2, axis=0)
    return np.asarray(np.maximum(sides, thinnest)[:, None, :] / 2 * corners)


class Sweep:
    """The surface of a beam through nodes that are placed anywhere, a mesh for each element."""

    def __init__(self, axes: Array, length: float, elements: int, sections: Array,
                 thinnest: float) -> None:
        """`axes`: columns x, y and z of the undeformed beam; `sections` at equal distances."""
        self._axes = axes
        self._length = length / elements
        self.elements = elements
        pieces = -(-PIECES // elements)
        self._s = np.linspace(0, 1, pieces + 1)[None, :, None]  # along an element
        places = (np.arange(elements)[:, None] + self._s[0, :, 0]) / elements
        at = np.linspace(0, 1, len(sections))
        between = np.stack([np.interp(places, at, numbers) for numbers in sections.T], axis=-1)
        shape = outlines(between.reshape(-1, 3), thinnest)
        self._outlines = shape.reshape(elements, pieces + 1, -1, 2)
        self.faces = [self._faces(first=e == 0, last=e == elements - 1) for e in range(elements)]

    def vertices(self, R: Array, p: Array) -> list[Array]:
        """Of each element, for placements of the nodes: rotations R, (nodes, 3, 3), and p.

        The axis is the cubic curve with the direction of the sections at its nodes, which is how
        slender beams bend.
        """
        s, ss = self._s, self._s**2
        tangents = self._length * R @ self._axes[:, 0]
        start, end = p[:-1, None], p[1:, None]
        from_start, to_end = tangents[:-1, None], tangents[1:, None]
        centres = ((1 - 3 * ss + 2 * s * ss) * start + (3 * ss - 2 * s * ss) * end
                   + (s - 2 * ss + s * ss) * from_start + (s * ss - ss) * to_end)
        y, z = (self._between(R @ self._axes[:, i]) for i in (1, 2))
        y /= np.linalg.norm(y, axis=-1, keepdims=True)
        z -= (y * z).sum(axis=-1, keepdims=True) * y
        z /= np.linalg.norm(z, axis=-1, keepdims=True)
        rings = (centres[:, :, None, :] + self._outlines[..., :1] * y[:, :, None, :]
                 + self._outlines[..., 1:] * z[:, :, None, :])
        vertices = [ring.reshape(-1, 3) for ring in rings]
        # The ends have vertices of their own, because their edges are sharp.
        vertices[0] = np.concatenate([vertices[0], rings[0, 0]])
        vertices[-1] = np.concatenate([vertices[-1], rings[-1, -1]])
        return vertices

    def _between(self, vectors: Array) -> Array:
        return np.asarray((1 - self._s) * vectors[:-1, None] + self._s * vectors[1:, None])

    def _faces(self, *, first: bool, last: bool) -> Array:
        _, rings, n, _ = self._outlines.shape
        here = np.arange(n)
        after = (here + 1) % n
        faces = []
        for ring in range(rings - 1):
            low, high = ring * n, (ring + 1) * n
            faces.append(np.stack([here + low, after + low, after + high], axis=1))
            faces.append(np.stack([here + low, after + high, here + high], axis=1))
        ends = rings * n
        fan = np.stack([np.zeros(n - 2, int), here[1:-1], here[2:]], axis=1)
        if first:
            faces.append(fan[:, ::-1] + ends)
            ends += n
        if last:
            faces.append(fan + ends)
        return np.concatenate(faces)


def neighbours(points: Array, most: int = 8) -> Array:
    """Pairs of points without another one in or on the ball between them (Gabriel and Sokal 1969),
    among the `most` nearest of each, (pairs, 2): the edges of regular meshes."""
    pairs = set()
    for i, point in enumerate(points):
        squares = ((points - point) ** 2).sum(axis=1)
        squares[i] = np.inf
        for j in np.argsort(squares, kind="stable")[:most]:
            if not np.isfinite(squares[j]) or squares[j] == 0:
                continue
            inside = ((points - (point + points[j]) / 2) ** 2).sum(axis=1) < 0.2501 * squares[j]
            inside[[i, j]] = False  # they lie on it
            if not inside.any():
                pairs.add((min(i, int(j)), max(i, int(j))))
    return np.array(sorted(pairs), dtype=int).reshape(-1, 2)
