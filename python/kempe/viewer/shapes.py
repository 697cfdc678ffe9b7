"""Shapes of each body: visuals of the robot's file, or solids derived from its parameters.

Bodies without visuals get solids that tell where they reach and where their mass is:

  links    a capsule from the body's joint to each joint, loop or rod attached to it
  hubs     with more than two of those, the box of the same inertia, and struts
  leaves   the box of the same inertia and a strut to its joint, or, where the inertia is not one of
           a real body of this size, a bar from the joint with the same centre of mass
  rotors   the cylinder of the same inertia, about its axis

Flexible bodies are drawn from their nodes (flexible_scene.py); the parts here are those at rest.
"""

from __future__ import annotations

import collections
import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from kempe.viewer import flexible_scene, mesh_files, meshes
from kempe.viewer.flexible import ElasticBodies
from kempe.viewer.meshes import Mesh
from kempe.viewer.rotations import Array, turning_z_to

if TYPE_CHECKING:
    from kempe import Body, Joint, Mechanism, Model, Shape

DENSITY = 1500.0  # kg/m³, for bodies with a mass but no volume: between plastic and aluminium
THIN, THICK = 0.03, 0.14  # bounds of the radius of capsules over their length
TURNING = {"revolute", "continuous"}


@dataclasses.dataclass(frozen=True)
class Part:
    """A piece of a body, in the body's frame."""

    mesh: Mesh
    colour: tuple[float, float, float, float] | None = None  # of the robot's file, 0 to 1
    flat: bool = False  # flat shading, for meshes without normals


@dataclasses.dataclass
class Drawing:
    """All bodies of a robot."""

    parts: dict[str, list[Part]]
    thickness: dict[str, float]  # radius of each body's struts
    size: float  # of the robot
    notices: list[str]
    elastic_bodies: ElasticBodies

    def corners(self, R: Array, p: Array) -> Array:
        """Corners of the boxes around all parts, shape (…, n, 3), for placements of the bodies R,
        shape (…, bodies, 3, 3), and p."""
        found = [
            part.mesh.corners() @ np.swapaxes(R[..., i, :, :], -1, -2) + p[..., i, None, :]
            for i, parts in enumerate(self.parts.values()) for part in parts]
        return np.concatenate(found, axis=-2) if found else p[..., :1, :]


@dataclasses.dataclass
class Surroundings:
    """The parameters that the solids of a body are derived from."""

    points: list[Array]  # where joints, loops and rods are attached
    joint: Joint | None  # the one above
    coupled: bool = False  # whether a gear or belt couples that joint
    layer: int = 0  # number of preceding bodies with the same origin
    size: float = 1.0  # of the robot
    link: float = 0.0  # a typical length of its links


def draw(model: Model) -> Drawing:
    """The drawing of each body of the mechanism, including folded rotors and fixed bodies."""
    mechanism = model.mechanism
    surroundings = survey(mechanism)
    R, p = model.forward_kinematics(model.neutral(), frames=[b.name for b in mechanism.bodies])
    size = extent(mechanism, surroundings, R, p) or 1.0
    points = [point for around in surroundings.values() for point in around.points]
    lengths = [float(np.linalg.norm(point)) for point in points if np.any(point)]
    link = float(np.median(lengths)) if lengths else 0.0
    elastic_bodies = ElasticBodies(model)
    elastic = {elastic.name: elastic for elastic in elastic_bodies.bodies}
    drawing = Drawing({}, {}, size, [], elastic_bodies)
    has_visuals = any(body.visuals for body in mechanism.bodies)
    places: collections.Counter[tuple[float, ...]] = collections.Counter()
    for body, origin in zip(mechanism.bodies, p, strict=True):
        place = tuple(np.round(origin / size, 4) + 0.0)
        around = dataclasses.replace(
            surroundings[body.name], size=size, link=link, layer=places[place])
        places[place] += 1
        radius = strut_radius(body, around)
        drawing.thickness[body.name] = radius
        if body.name in elastic or body.name in elastic_bodies.parts:
            drawing.parts[body.name] = (
                [Part(flexible_scene.undeformed(elastic[body.name], size))]
                if body.name in elastic else [])
            continue
        parts, problems = visual_parts(body, mechanism.source)
        drawing.notices += problems
        # If other bodies have visuals, a body without mass and visuals is just a frame.
        if problems or not (parts or (has_visuals and body.mass == 0)):
            solids = solids_of(body, around, radius)
            parts += [Part(meshes.joined(solids))] if solids else []
        drawing.parts[body.name] = parts
    drawing.notices = list(dict.fromkeys(drawing.notices))
    return drawing


def extent(mechanism: Mechanism, surroundings: dict[str, Surroundings], R: Array,
           p: Array) -> float:
    """The diagonal of the box around joints, ends of loops and centres of mass."""
    points = []
    for body, Ri, pi in zip(mechanism.bodies, R, p, strict=True):
        own = surroundings[body.name].points + [body.center_of_mass] * (body.mass > 0)
        points += [Ri @ point + pi for point in own]
    return float(np.linalg.norm(np.ptp(points, axis=0))) if points else 0.0


def survey(mechanism: Mechanism) -> dict[str, Surroundings]:
    coupled = {joint for coupling in mechanism.couplings
               for (joint, _), _ in coupling.terms}
    coupled |= {joint for function in mechanism.functions for joint, _ in function.coordinates}
    above = {joint.child: joint for joint in mechanism.joints}
    around = {
        body.name: Surroundings([], above.get(body.name))
        for body in mechanism.bodies}
    for body in around.values():
        body.coupled = body.joint is not None and body.joint.name in coupled
    for flexible in mechanism.flexible_bodies:
        for node in flexible.nodes:
            around[f"{flexible.name}/{node}"].points.append(np.zeros(3))
    for joint in mechanism.joints:
        if joint.type != "free":
            around[joint.parent].points.append(joint.origin[1])
    for loop in mechanism.loops:
        around[loop.predecessor].points.append(loop.predecessor_frame[1])
        around[loop.successor].points.append(loop.successor_frame[1])
    for rod in mechanism.rods:
        around[rod.predecessor].points.append(rod.predecessor_point)
        around[rod.successor].points.append(rod.successor_point)
    return around


def visual_parts(body: Body, source: str) -> tuple[list[Part], list[str]]:
    """The visuals of the robot's file, and messages about those that cannot be drawn."""
    parts, problems = [], []
    for shape in body.visuals:
        try:
            R, p = shape.origin
            parts.append(Part(visual_mesh(shape, source).placed(R, p), shape_colour(shape),
                              flat=shape.kind == "mesh"))
        except mesh_files.MeshProblem as problem:
            problems.append(f"{problem}; a substitute shape is shown")
    return parts, problems


def shape_colour(shape: Shape) -> tuple[float, float, float, float] | None:
    if shape.color is None:
        return None
    red, green, blue, alpha = (float(value) for value in shape.color)
    return red, green, blue, alpha


def visual_mesh(shape: Shape, source: str) -> Mesh:
    match shape.kind:
        case "box":
            return meshes.box(shape.size)
        case "cylinder":
            return meshes.cylinder(shape.radius, shape.length)
        case "capsule":
            return meshes.capsule(shape.radius, shape.length)
        case "sphere":
            return meshes.sphere(shape.radius)
        case _:
            return mesh_files.load(shape.mesh, source).scaled(shape.size)


# --- solids from parameters --------------------------------------------------------------------


def strut_radius(body: Body, around: Surroundings) -> float:
    """Thickness for which the struts would have the body's mass, within plausible bounds."""
    ends = around.points or [body.center_of_mass]
    lengths = [float(np.linalg.norm(end)) for end in ends]
    longest = max(lengths)
    if longest == 0:
        return 0.01 * around.size
    radius = np.sqrt(body.mass / (DENSITY * np.pi * sum(lengths)))
    radius = np.clip(radius, THIN * longest, THICK * longest)
    return float(np.clip(radius, 0.004 * around.size, 0.035 * around.size))


def solids_of(body: Body, around: Surroundings, radius: float) -> list[Mesh]:
    if is_rotor(body, around):
        return [rotor(body, around)]
    origin = np.zeros(3)
    near = radius / 2
    ends: list[Array] = []
    for point in around.points:
        if all(np.linalg.norm(point - end) > near for end in [origin, *ends]):
            ends.append(point)
    if not ends:
        return leaf(body, around, radius)
    struts = [meshes.between(origin, end, radius) for end in ends]
    if len(ends) > 2 and body.mass > 0:
        return [hub(body, around), *struts]
    if body.mass > 0 and distance_to_struts(body.center_of_mass, ends) > 3 * radius:
        return [*struts, *leaf(body, around, radius)]
    return struts


def distance_to_struts(point: Array, ends: list[Array]) -> float:
    """Distance from a point to the nearest of the lines from zero to `ends`."""
    fractions = [np.clip(point @ end / (end @ end), 0, 1) for end in ends]
    return float(min(np.linalg.norm(point - fraction * end)
                     for fraction, end in zip(fractions, ends, strict=True)))


def leaf(body: Body, around: Surroundings, radius: float) -> list[Mesh]:
    if body.mass == 0:
        return []
    centre = body.center_of_mass
    edges, _ = inertia_box(body)
    if np.linalg.norm(centre) <= radius:
        return [hub(body, around)]
    if edges.min() == 0 or edges.max() > largest_box(body, around):
        return [meshes.between(np.zeros(3), 2 * centre, radius)]
    return [hub(body, around), meshes.between(np.zeros(3), centre, radius)]


def hub(body: Body, around: Surroundings) -> Mesh:
    """The box with the same inertia, or a ball if there is none."""
    edges, axes = inertia_box(body)
    longest = edges.max()
    if longest < 1e-3 * around.size:
        radius = float(np.cbrt(3 * body.mass / (4 * np.pi * DENSITY)))
        return meshes.sphere(min(radius, 0.04 * around.size)).placed(
            np.eye(3), body.center_of_mass)
    edges = np.maximum(edges, 0.08 * longest) * min(1.0, largest_box(body, around) / longest)
    return meshes.box(edges).placed(axes, body.center_of_mass)


def largest_box(body: Body, around: Surroundings) -> float:
    """The longest plausible edge. Examples often have masses and inertias of one, whatever their
    size; such boxes would hide the rest of the robot."""
    reaches = [float(np.linalg.norm(point)) for point in [body.center_of_mass, *around.points]]
    return max(2 * around.link, 3.5 * max(reaches)) or around.size


def inertia_box(body: Body) -> tuple[Array, Array]:
    """Edges and axes of the box with the body's mass and inertia; no real box has edges of zero.

    Edge i of a box with principal moments I has the square 6 (I_j + I_k − I_i) / mass.
    """
    moments, axes = np.linalg.eigh(body.inertia)
    squares = 6 * (moments.sum() - 2 * moments) / body.mass
    if np.linalg.det(axes) < 0:
        axes[:, 0] *= -1
    return np.sqrt(np.maximum(squares, 0)), axes


def is_rotor(body: Body, around: Surroundings) -> bool:
    """A geared body that carries nothing and whose centre of mass is on its axis."""
    joint = around.joint
    if joint is None or joint.type not in TURNING or not around.coupled or around.points:
        return False
    axis = joint.axis / np.linalg.norm(joint.axis)
    off_axis = np.linalg.norm(np.cross(axis, body.center_of_mass))
    return bool(off_axis < 1e-3 * around.size)


def rotor(body: Body, around: Surroundings) -> Mesh:
    """The cylinder with the same inertia: with I about its axis and J across it,
    radius² = 2 I / mass and length² = 12 J / mass − 3 radius²."""
    assert around.joint is not None
    axis = around.joint.axis / np.linalg.norm(around.joint.axis)
    radius = length = 0.0  # of rotors that are given without mass
    if body.mass > 0:
        about = float(axis @ body.inertia @ axis)
        across = (float(np.trace(body.inertia)) - about) / 2
        radius = float(np.sqrt(max(2 * about / body.mass, 0)))
        length = float(np.sqrt(max(12 * across / body.mass - 3 * radius**2, 0)))
    radius = float(np.clip(radius, 0.015 * around.size, 0.1 * around.size))
    length = float(np.clip(length, 0.5 * radius, 2 * radius))
    # Keeps rotors inside each other from flickering.
    radius, length = radius * 0.97**around.layer, length * 0.97**around.layer
    return meshes.cylinder(radius, length).placed(turning_z_to(axis), body.center_of_mass)
