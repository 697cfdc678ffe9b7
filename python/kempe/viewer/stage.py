"""Surroundings of the robot: ground, light and the initial camera."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from kempe.errors import AssemblyError
from kempe.viewer import shapes
from kempe.viewer.rotations import Array, quaternions, turning_z_to
from kempe.viewer.scene import WORLD

if TYPE_CHECKING:
    import viser

    from kempe import Model, Run

FIELD_OF_VIEW = np.radians(40)  # from top to bottom
NARROWEST = 1.1  # smallest aspect ratio of a window that shows the whole robot
MARGIN = 1.25
SAMPLES = 24  # configurations that the initial view includes
OBLIQUE = np.array([0.75, -0.55, 0.35])  # from the front, the right and above
ACROSS = np.array([1.0, 0.3, 0.3])  # along the axes of a planar mechanism, a little from the side
ABOVE = np.array([0.0, -0.5, 1.2])  # for a planar mechanism in the horizontal plane


@dataclasses.dataclass(frozen=True)
class Plan:
    """Configurations that will be shown, the initial one first, and whether the camera follows the
    robot."""

    poses: Array  # (N, nq)
    follow: bool


def plan(model: Model, run: Run | None, size: float) -> Plan:
    """Plans a view of a whole run, or of all positions of a robot that is fixed to the ground."""
    if run is not None:
        chosen = np.unique(np.linspace(0, len(run.t) - 1, SAMPLES).round().astype(int))
        recorded = np.ascontiguousarray(run.q[chosen])
        way = np.linalg.norm(np.ptp(model.center_of_mass(recorded), axis=0))
        return Plan(recorded, follow=floats(model) and bool(way > size))
    poses = [model.neutral()]
    if not floats(model):
        with contextlib.suppress(AssemblyError):
            poses += [model.random_configuration(seed) for seed in range(SAMPLES)]
    return Plan(np.array(poses), follow=False)


def floats(model: Model) -> bool:
    return any(joint.type == "free" for joint in model.mechanism.joints)


def set_up(server: viser.ViserServer, model: Model, drawing: shapes.Drawing, plan: Plan) -> None:
    """Ground, light and camera."""
    bodies = [body.name for body in model.mechanism.bodies]
    R, p = model.forward_kinematics(plan.poses, frames=bodies)
    if plan.follow:
        centres = model.center_of_mass(plan.poses)
        p = p - (centres - centres[0])[:, None, :]
    corners = drawing.corners(R, p)
    up = up_direction(model)
    server.scene.set_up_direction(tuple(up))
    standing = corners[:1] if floats(model) else corners
    add_ground(server.scene, standing.reshape(-1, 3), up, drawing.size)

    points = corners.reshape(-1, 3)
    centre = (points.min(axis=0) + points.max(axis=0)) / 2
    direction = view_direction(model, plan.poses[0], up)
    distance = max(camera_distance(points - centre, direction, up), 0.1 * drawing.size)
    camera = server.initial_camera
    camera.position = centre + distance * direction
    camera.look_at = centre
    camera.up = up
    camera.fov = float(FIELD_OF_VIEW)
    camera.near = distance / 100
    camera.far = distance * 100


def camera_distance(points: Array, direction: Array, up: Array) -> float:
    """Distance from zero at which a camera that looks back sees all points."""
    right = np.cross(up, direction)
    right /= np.linalg.norm(right)
    upward = np.cross(direction, right)
    sides = np.maximum(np.abs(points @ upward), np.abs(points @ right) / NARROWEST)
    return float((points @ direction + MARGIN * sides / np.tan(FIELD_OF_VIEW / 2)).max())


def up_direction(model: Model) -> Array:
    """The direction against gravity; z without gravity."""
    gravity = np.asarray(model.gravity, float)
    strength = np.linalg.norm(gravity)
    return -gravity / strength if strength > 0 else np.array([0.0, 0.0, 1.0])


def add_ground(scene: viser.SceneApi, points: Array, up: Array, size: float) -> None:
    """A grid just below the robot, with cells of a round number of metres."""
    cell = 10.0 ** np.floor(np.log10(size / 2))
    height = float((points @ up).min()) - 0.005 * size
    scene.add_grid(
        f"{WORLD}/ground", infinite_grid=True, cell_size=cell, section_size=10 * cell,
        fade_distance=12 * size, shadow_opacity=0.25,
        wxyz=quaternions(turning_z_to(up)), position=height * up)


def view_direction(model: Model, q: Array, up: Array) -> Array:
    """Direction from the robot to the camera: normal to the plane of planar mechanisms, otherwise
    oblique."""
    turn = turning_z_to(up) if up[2] < 0.99 else np.eye(3)
    direction = turn @ OBLIQUE
    normal = plane_normal(model, q)
    if normal is not None and abs(normal @ up) > 0.7:
        direction = turn @ ABOVE
    elif normal is not None:
        normal = normal if normal @ direction > 0 else -normal
        direction = np.stack([normal, np.cross(up, normal), up], axis=1) @ ACROSS
    return np.asarray(direction / np.linalg.norm(direction))


def plane_normal(model: Model, q: Array) -> Array | None:
    """The common direction of all rotation axes, if there is one."""
    joints = [joint for joint in model.mechanism.joints if joint.type in shapes.TURNING]
    if not joints or floats(model):
        return None
    R, _ = model.forward_kinematics(q, frames=[joint.child for joint in joints])
    axes = np.array([Ri @ (joint.axis / np.linalg.norm(joint.axis))
                     for Ri, joint in zip(R, joints, strict=True)])
    return axes[0] if np.all(np.abs(axes @ axes[0]) > 0.99) else None
