"""The robot in the scene of a viewer: bodies, axes, centres of mass, loops and names."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

import numpy as np

from kempe.viewer import colours, meshes, shapes
from kempe.viewer.flexible_scene import DrawnElasticBody
from kempe.viewer.meshes import Mesh
from kempe.viewer.rotations import Array, quaternions, turning_z_to

if TYPE_CHECKING:
    import viser

    from kempe import Joint, Mechanism, Model

WORLD = "/world"  # the node above all others
SEE_THROUGH = 0.35


class DrawnPart(NamedTuple):
    mesh: viser.MeshHandle
    cluster: colours.Colour
    own: colours.Colour
    opacity: float | None


class RobotScene:
    """Nodes of a robot. `place` moves them; the other functions select what is shown."""

    def __init__(self, scene: viser.SceneApi, model: Model) -> None:
        self._scene = scene
        self._mechanism = model.mechanism
        self.drawing = shapes.draw(model)
        self.palette = colours.cluster_colours(model)
        self._bodies = [body.name for body in self._mechanism.bodies]
        self._rows = {name: i for i, name in enumerate(self._bodies)}
        self._places: list[tuple[Array, Array] | None] = [None] * len(self._bodies)

        self._parts: list[DrawnPart] = []
        self._axes: list[viser.SceneNodeHandle] = []
        self._centres: list[viser.SceneNodeHandle] = []
        self._loops: list[viser.SceneNodeHandle] = []
        self._names: list[viser.SceneNodeHandle] = []
        self._world = scene.add_frame(WORLD, show_axes=False)
        self._way = np.zeros(3)
        self.elastic_bodies = self.drawing.elastic_bodies
        # Of the nodes of flexible bodies only those with something attached have a frame.
        inner = self.elastic_bodies.parts - attached(self._mechanism)
        self._frames = [
            None if name in inner else scene.add_frame(node(name), show_axes=False)
            for name in self._bodies]
        self._elastic = [
            DrawnElasticBody(scene, node(elastic.name), elastic, self.drawing.size,
                             self.palette.bodies[elastic.name])
            for elastic in self.elastic_bodies.bodies]
        drawn = {elastic.name for elastic in self.elastic_bodies.bodies}
        for body in self._mechanism.bodies:
            if body.name in self.elastic_bodies.parts:
                continue
            if body.name not in drawn:
                self._add_parts(body.name)
            self._names.append(scene.add_label(
                f"{node(body.name)}/name", body.name, position=body.center_of_mass, visible=False,
                anchor="center-center"))
        self._add_axes()
        self._add_centres()
        self._add_loop_joints()
        self._add_rods()
        self._add_couplings()

    # --- showing -------------------------------------------------------------------------------

    def place(self, R: Array, p: Array, centre_of_mass: Array) -> None:
        """Moves everything to the given placements of the bodies, in the mechanism's order."""
        for i, (frame, turn) in enumerate(zip(self._frames, quaternions(R), strict=True)):
            if frame is None:
                continue
            last = self._places[i]
            if last is None or not np.array_equal(last[0], turn):
                frame.wxyz = turn
            if last is None or not np.array_equal(last[1], p[i]):
                frame.position = p[i]
            self._places[i] = turn, p[i]
        for drawn in self._elastic:
            body = self._rows[drawn.elastic.name]
            nodes = [self._rows[name] for name in drawn.elastic.nodes]
            drawn.place(R[body].T @ R[nodes], (p[nodes] - p[body]) @ R[body])
        self._total.position = centre_of_mass
        self._place_rods(R, p)
        if self._couplings is not None:
            ends = [[R[i] @ point + p[i] for i, point in pair] for pair in self._coupled]
            self._couplings.points = np.array(ends, dtype=np.float32)

    def follow(self, way: Array) -> None:
        """Moves the whole world back by the displacement of the robot, which keeps the robot in
        view, also in recordings, which cannot move the camera."""
        if not np.array_equal(self._way, way):
            self._world.position = -way
            self._way = way

    def show_energy(self, densities: list[Array], top: float) -> None:
        """Colours elements of flexible bodies by their strain energy, on a scale up to `top`."""
        for drawn, found in zip(self._elastic, densities, strict=True):
            drawn.colour(found, top)

    def colour_by_energy(self, wanted: bool) -> None:
        for drawn in self._elastic:
            drawn.colour_by_energy(wanted)

    def colour_by_cluster(self, wanted: bool) -> None:
        for part in self._parts:
            part.mesh.color = part.cluster if wanted else part.own

    def see_through(self, wanted: bool) -> None:
        for part in self._parts:
            part.mesh.opacity = SEE_THROUGH if wanted else part.opacity
        for drawn in self._elastic:
            drawn.see_through(SEE_THROUGH if wanted else None)

    def show_axes(self, wanted: bool) -> None:
        show(self._axes, wanted)

    def show_centres(self, wanted: bool) -> None:
        show(self._centres, wanted)

    def show_loops(self, wanted: bool) -> None:
        show(self._loops, wanted)

    def show_names(self, wanted: bool) -> None:
        show(self._names, wanted)

    # --- creating ------------------------------------------------------------------------------

    def _add_parts(self, body: str) -> None:
        cluster = self.palette.bodies[body]
        for number, part in enumerate(self.drawing.parts[body]):
            own, opacity = colours.ALONE, None
            if part.colour is not None:
                red, green, blue, alpha = (round(255 * value) for value in part.colour)
                own, opacity = (red, green, blue), part.colour[3] if alpha < 255 else None
            handle = self._scene.add_mesh_simple(
                f"{node(body)}/shape{number}", part.mesh.vertices, part.mesh.faces, color=cluster,
                opacity=opacity, flat_shading=part.flat)
            self._parts.append(DrawnPart(handle, cluster, own, opacity))

    def _add_axes(self) -> None:
        """An arrow for each axis, at the body that the axis is fixed in."""
        half = 0.1 * self.drawing.size
        for joint in self._mechanism.joints:
            R, p = joint.origin
            for number, (body, axis) in enumerate(axes_of(joint)):
                direction = axis / np.linalg.norm(axis)
                centre = p if body == joint.parent else np.zeros(3)
                direction = R @ direction if body == joint.parent else direction
                self._axes.append(self._scene.add_arrows(
                    f"{node(body)}/axis of {quote(joint.name, safe=' ')}{number or ''}",
                    np.array([[centre - half * direction, centre + half * direction]]),
                    colours.AXIS, shaft_radius=half / 25, head_radius=half / 9,
                    head_length=half / 4, visible=False))

    def _add_centres(self) -> None:
        """Balls whose volumes are proportional to the masses, and one for the whole robot."""
        heaviest = max((body.mass for body in self._mechanism.bodies), default=0.0)
        for body in self._mechanism.bodies:
            if body.mass > 0:
                radius = 0.02 * self.drawing.size * max(np.cbrt(body.mass / heaviest), 0.2)
                self._centres.append(self._scene.add_icosphere(
                    f"{node(body.name)}/centre of mass", radius, colours.CENTRE_OF_MASS,
                    position=body.center_of_mass, visible=False))
        self._total = self._scene.add_icosphere(
            f"{WORLD}/centre of mass", 0.03 * self.drawing.size, colours.LOOP, opacity=0.8,
            visible=False)
        self._centres.append(self._total)

    def _add_loop_joints(self) -> None:
        """A pin in one body and a collar around it in the other, which coincide if the loop is
        closed; balls for loop joints without an axis."""
        for loop in self._mechanism.loops:
            radius = max(self.drawing.thickness[loop.predecessor],
                         self.drawing.thickness[loop.successor], 0.028 * self.drawing.size)
            if loop.type in {"spherical", "fixed"}:
                pin, collar = meshes.sphere(1.15 * radius), meshes.sphere(1.4 * radius)
            else:
                turn = turning_z_to(loop.axis / np.linalg.norm(loop.axis))
                pin = meshes.cylinder(0.6 * radius, 4.2 * radius).placed(turn, np.zeros(3))
                collar = meshes.cylinder(1.25 * radius, 2.6 * radius).placed(turn, np.zeros(3))
            name = quote(loop.name, safe=" ")
            for body, (R, p), mesh, opacity in (
                    (loop.predecessor, loop.predecessor_frame, pin, None),
                    (loop.successor, loop.successor_frame, collar, 0.5)):
                self._loops.append(self._add_mesh(
                    f"{node(body)}/loop {name}", mesh.placed(R, p), colours.LOOP, opacity))

    def _add_rods(self) -> None:
        self._rods = []
        for rod in self._mechanism.rods:
            radius = 0.006 * self.drawing.size
            mesh = meshes.joined([
                meshes.cylinder(radius, rod.length),
                *(meshes.sphere(1.8 * radius).placed(np.eye(3), np.array([0, 0, end]))
                  for end in (-rod.length / 2, rod.length / 2))])
            handle = self._add_mesh(
                f"{WORLD}/rods/{quote(rod.name, safe=' ')}", mesh, colours.LOOP, None)
            self._rods.append(handle)
            self._loops.append(handle)

    def _place_rods(self, R: Array, p: Array) -> None:
        for rod, handle in zip(self._mechanism.rods, self._rods, strict=True):
            i, j = self._rows[rod.predecessor], self._rows[rod.successor]
            start = R[i] @ rod.predecessor_point + p[i]
            end = R[j] @ rod.successor_point + p[j]
            length = np.linalg.norm(end - start)
            if length > 0:
                handle.wxyz = quaternions(turning_z_to((end - start) / length))
            handle.position = (start + end) / 2

    def _add_couplings(self) -> None:
        """Lines between the bodies that gears, belts and functions couple, with a dot on each,
        because motors are often inside the joints that they drive."""
        child = {joint.name: joint.child for joint in self._mechanism.joints}
        coupled = {coupling.name: [joint for (joint, _), _ in coupling.terms]
                   for coupling in self._mechanism.couplings}
        coupled |= {function.name: [joint for joint, _ in function.coordinates]
                    for function in self._mechanism.functions}
        # Pairs of (row of a body, point in its frame).
        self._coupled: list[list[tuple[int, Array]]] = []
        for joints in coupled.values():
            ends = [(self._rows[child[joint]], np.zeros(3)) for joint in dict.fromkeys(joints)]
            self._coupled += [list(pair) for pair in zip(ends, ends[1:], strict=False)]
        self._couplings: viser.LineSegmentsHandle | None = None
        if not self._coupled:
            return
        dot = meshes.sphere(0.012 * self.drawing.size)
        for row in sorted({row for pair in self._coupled for row, _ in pair}):
            self._loops.append(self._add_mesh(
                f"{node(self._bodies[row])}/coupled", dot, colours.COUPLING, None))
        self._couplings = self._scene.add_line_segments(
            f"{WORLD}/couplings", np.zeros((len(self._coupled), 2, 3)), colours.COUPLING,
            thickness=0.006 * self.drawing.size)
        self._loops.append(self._couplings)

    def _add_mesh(self, name: str, mesh: Mesh, colour: colours.Colour,
                  opacity: float | None) -> viser.MeshHandle:
        return self._scene.add_mesh_simple(
            name, mesh.vertices, mesh.faces, color=colour, opacity=opacity)


def node(body: str) -> str:
    """The name of a body's node; slashes are quoted, because they would mean child nodes."""
    return f"{WORLD}/bodies/{quote(body, safe=' ')}"


def attached(mechanism: Mechanism) -> set[str]:
    """Bodies that something is drawn at: joints, loops, rods, or a mass."""
    ends = [end for loop in mechanism.loops for end in (loop.predecessor, loop.successor)]
    ends += [end for rod in mechanism.rods for end in (rod.predecessor, rod.successor)]
    return {*ends, *(joint.parent for joint in mechanism.joints),
            *(body.name for body in mechanism.bodies if body.mass > 0)}


def show(nodes: list[viser.SceneNodeHandle], wanted: bool) -> None:
    for handle in nodes:
        handle.visible = wanted


def axes_of(joint: Joint) -> list[tuple[str, Array]]:
    """The axes that a joint turns about or slides along, and the body each is fixed in."""
    match joint.type:
        case "fixed" | "free" | "spherical" | "mode" | "node":
            return []
        case "universal":
            return [(joint.parent, joint.axis), (joint.child, joint.axis2)]
        case _:
            return [(joint.parent, joint.axis)]
