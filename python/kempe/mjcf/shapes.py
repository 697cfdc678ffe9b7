"""Geoms as shapes of bodies, for viewers and collision checkers."""

from __future__ import annotations

import os

import numpy as np

from kempe._kempe import Shape
from kempe.mjcf.frames import Pose, inverse, pose, product
from kempe.mjcf.tree import Reading

FIRST_HIDDEN_GROUP = 3  # MuJoCo's viewer shows the groups below


def add_shapes(reading: Reading) -> None:
    builder = Shapes(reading)
    for geom in range(reading.model.ngeom):
        builder.add(geom)
    builder.report()


class Shapes:
    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._model = reading.model
        kinds = reading.source.mujoco.mjtGeom
        self._kinds = {int(getattr(kinds, f"mjGEOM_{word.upper()}")): word for word in (
            "plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "sdf")}
        # Access by the list of all bodies takes time quadratic in their number.
        self._bodies = {body.name: body for body in reading.mechanism.bodies}
        self._collide = False

    def add(self, i: int) -> None:
        model = self._model
        word = self._kinds.get(int(model.geom_type[i]), "other")
        name = self._reading.source.named("geom", i)
        body = self._bodies[self._reading.bodies[model.geom_bodyid[i]]]
        collides = bool(model.geom_contype[i] or model.geom_conaffinity[i])
        self._collide = self._collide or collides
        shape = self._shape(i, word, name, body.name)
        if shape is None:
            return
        if not np.isfinite(np.concatenate([np.ravel(part) for part in shape.origin])).all():
            self._reading.notes.about("geom of body", body.name, "is left out, because its pose is "
                                      "not finite.")
            return
        if collides:
            body.collisions = [*body.collisions, shape]
        if not collides or model.geom_group[i] < FIRST_HIDDEN_GROUP:
            body.visuals = [*body.visuals, shape]

    def _shape(self, i: int, word: str, name: str, body: str) -> Shape | None:
        model, size = self._model, self._model.geom_size[i]
        place = pose(model.geom_pos[i], model.geom_quat[i])
        shown = ("geom", name) if name else ("geom of body", body)
        if word == "box":
            shape = Shape("box", size=2 * size)
        elif word == "sphere":
            shape = Shape("sphere", radius=float(size[0]))
        elif word in ("cylinder", "capsule"):
            shape = Shape(word, radius=float(size[0]), length=float(2 * size[1]))
        elif word == "mesh":
            moved = self._mesh(i)
            if moved is None:
                self._reading.notes.about(*shown, "is left out, because its mesh has no "
                                          "file.")
                return None
            shape, in_file = moved
            place = product(place, inverse(in_file))
        else:
            self._reading.notes.about(*shown, f"is left out: Kempe has no shape of type "
                                      f"{word}.")
            return None
        shape.name = name
        shape.origin = place
        material = int(model.geom_matid[i])
        shape.color = tuple(map(float, (
            model.mat_rgba[material] if material >= 0 else model.geom_rgba[i])))
        return shape

    def _mesh(self, i: int) -> tuple[Shape, Pose] | None:
        """A mesh, and the frame that MuJoCo gave it in that of its file: at its centre of mass."""
        model, mesh = self._model, int(self._model.geom_dataid[i])
        start = int(model.mesh_pathadr[mesh]) if mesh >= 0 else -1
        if start < 0:
            return None
        path = bytes(model.paths)[start:].split(b"\0", 1)[0].decode("utf-8", "replace")
        if not path:
            return None
        folder = os.path.dirname(os.path.abspath(self._reading.source.path))
        shape = Shape("mesh", mesh=os.path.normpath(os.path.join(folder, path)),
                      size=model.mesh_scale[mesh])
        return shape, pose(model.mesh_pos[mesh], model.mesh_quat[mesh])

    def report(self) -> None:
        notes, model = self._reading.notes, self._model
        if self._collide or model.npair:
            notes.file("contacts are not computed; geoms that collide are kept as collision "
                       "shapes, without their friction.")
        if model.nexclude:
            notes.file("contact exclusions (contact/exclude) have no effect.")
