"""Mesh files of a robot."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from kempe.viewer.meshes import Mesh


class MeshProblem(Exception):
    """A mesh that cannot be drawn, and why."""


def find(name: str, source: str) -> Path | None:
    """The file that `name` in the robot's file `source` refers to; None if it does not exist.

    `package://some_package/rest` is looked for as `some_package/rest` in the folders of the
    variable ROS_PACKAGE_PATH, and in the folder of `source` and all above it, as
    `some_package/rest` and as `rest`. Other names count from the folder of `source`.
    """
    folder = Path(source).resolve().parent
    if not name.startswith("package://"):
        path = folder / name.removeprefix("file://")
        return path if path.is_file() else None
    whole = name.removeprefix("package://").lstrip("/")
    inside = whole.partition("/")[2]
    packages = os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep)
    candidates = [Path(package) / whole for package in packages if package]
    for above in (folder, *folder.parents):
        candidates.append(above / whole)
        if inside:
            candidates.append(above / inside)
    return next((path for path in candidates if path.is_file()), None)


def load(name: str, source: str) -> Mesh:
    """The triangles of a mesh file. Raises MeshProblem."""
    path = find(name, source)
    if path is None:
        raise MeshProblem(f'mesh "{name}" was not found')
    try:
        import trimesh
    except ImportError:
        raise MeshProblem(
            f'mesh "{name}" needs trimesh to be read: pip install trimesh') from None
    try:
        mesh = trimesh.load_mesh(path)
    except Exception as error:  # readers of many formats, each with exceptions of its own
        raise MeshProblem(f'mesh "{path}" cannot be read: {error}') from error
    if not len(mesh.faces):
        raise MeshProblem(f'mesh "{path}" has no triangles')
    return Mesh(np.asarray(mesh.vertices, float), np.asarray(mesh.faces, int))
