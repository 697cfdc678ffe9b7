"""Flexible bodies in the scene of a viewer, deformed and in colours of their strain energy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kempe.viewer import colours
from kempe.viewer.flexible import ElasticBody
from kempe.viewer.meshes import Mesh
from kempe.viewer.rotations import Array
from kempe.viewer.sections import Sweep, neighbours

if TYPE_CHECKING:
    import viser

THINNEST = 0.004  # of sections and lines, over the size of the robot
GRAIN = 2.0**-20  # metres: resolution of positions, which limits the size of recorded pages


def coarse(points: Array) -> Array:
    return np.asarray(np.round(points / GRAIN) * GRAIN)


def sweep_of(elastic: ElasticBody, size: float) -> Sweep | None:
    """The swept surface of a beam; None for other bodies."""
    axes = elastic.body.beam_axes
    if axes is None:
        return None
    length = float(np.linalg.norm(elastic.positions[-1]))
    return Sweep(axes, length, len(elastic.nodes) - 1, elastic.body.sections, THINNEST * size)


def at_rest(sweep: Sweep, elastic: ElasticBody) -> list[Array]:
    """Vertices of the elements of a beam that is not deformed."""
    upright = np.broadcast_to(np.eye(3), (len(elastic.nodes), 3, 3))
    return sweep.vertices(upright, elastic.positions)


def undeformed(elastic: ElasticBody, size: float) -> Mesh:
    """The points of the body at rest, in its frame."""
    sweep = sweep_of(elastic, size)
    points = elastic.positions if sweep is None else np.concatenate(at_rest(sweep, elastic))
    return Mesh(points, np.zeros((0, 3), int))


class DrawnElasticBody:
    """Nodes of a flexible body in the scene: a mesh for each element of a beam; balls and lines
    between neighbours for nodes of other bodies."""

    def __init__(self, scene: viser.SceneApi, node: str, elastic: ElasticBody, size: float,
                 colour: colours.Colour) -> None:
        """`node` names the scene's node that moves with the frame of the body; `colour` is that of
        its cluster."""
        self.elastic = elastic
        self._cluster = colour
        self._drawn: Array | None = None  # placements of the nodes
        self._densities = np.zeros(len(elastic.element_masses))
        self._top = 0.0
        self._by_energy = True
        self._colours: list[colours.Colour] = []
        self._sweep = sweep_of(elastic, size)
        self.meshes: list[viser.MeshHandle] = []
        self._lines: viser.LineSegmentsHandle | None = None
        if self._sweep is not None:
            parts = zip(at_rest(self._sweep, elastic), self._sweep.faces, strict=True)
            self.meshes = [
                scene.add_mesh_simple(f"{node}/element{i}", coarse(vertices), faces, color=colour)
                for i, (vertices, faces) in enumerate(parts)]
        else:
            positions = elastic.positions
            self._pairs = neighbours(positions)
            self._points = scene.add_point_cloud(
                f"{node}/nodes", positions, colour, point_size=2 * THINNEST * size,
                point_shape="circle", precision="float32")
            if len(self._pairs):
                self._lines = scene.add_line_segments(
                    f"{node}/edges", positions[self._pairs], colour, thickness=THINNEST * size)

    def place(self, R: Array, p: Array) -> None:
        """Moves the nodes to placements in the body's frame."""
        placed = coarse(np.concatenate([R.reshape(-1, 9), p], axis=1))
        if self._drawn is not None and np.array_equal(self._drawn, placed):
            return
        self._drawn = placed
        if self._sweep is None:
            points = coarse(p).astype(np.float32)
            self._points.points = points
            if self._lines is not None:
                self._lines.points = points[self._pairs]
            return
        for mesh, vertices in zip(self.meshes, self._sweep.vertices(R, p), strict=True):
            mesh.vertices = coarse(vertices).astype(np.float32)

    def colour(self, densities: Array, top: float) -> None:
        """Colours of the elements, on a scale from zero to `top`."""
        self._densities, self._top = densities, top
        self._paint()

    def colour_by_energy(self, wanted: bool) -> None:
        self._by_energy = wanted
        self._paint()

    def see_through(self, opacity: float | None) -> None:
        for mesh in self.meshes:
            mesh.opacity = opacity

    def _paint(self) -> None:
        chosen = [self._cluster] * len(self._densities)
        if self._by_energy:
            chosen = [colours.of_fraction(density / self._top if self._top > 0 else 0.0)
                      for density in self._densities]
        if chosen == self._colours:
            return
        if self._sweep is None:
            self._points.colors = np.array(chosen[0], dtype=np.uint8)
            if self._lines is not None:
                self._lines.colors = np.array(chosen[0], dtype=np.uint8)
        else:
            for i, mesh in enumerate(self.meshes):
                if not self._colours or chosen[i] != self._colours[i]:
                    mesh.color = chosen[i]
        self._colours = chosen
