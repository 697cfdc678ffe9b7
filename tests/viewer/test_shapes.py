"""Drawings of bodies."""

from pathlib import Path

import numpy as np
import pytest
import trimesh

import kempe
from kempe.viewer import colours, mesh_files, meshes, shapes


def parts_of(robot: kempe.Mechanism, body: str) -> list[shapes.Part]:
    return shapes.draw(kempe.Model(robot)).parts[body]


def everything_drawn(model: kempe.Model) -> shapes.Drawing:
    """The drawing, checked: it has all bodies with mass, and its numbers are valid."""
    drawing = shapes.draw(model)
    for body in model.mechanism.bodies:
        for part in drawing.parts[body.name]:
            assert np.isfinite(part.mesh.vertices).all()
            assert part.mesh.faces.min() >= 0
            assert part.mesh.faces.max() < len(part.mesh.vertices)
        assert drawing.parts[body.name] or body.mass == 0, f"{body.name} is not drawn"
    R, p = model.forward_kinematics(
        model.neutral(), frames=[body.name for body in model.mechanism.bodies])
    corners = drawing.corners(R, p)
    assert 0.5 * drawing.size < np.linalg.norm(np.ptp(corners, axis=0)) < 4 * drawing.size
    return drawing


@pytest.mark.parametrize("name", kempe.robots.names())
@pytest.mark.parametrize("fold_rotors", [True, False])
def test_every_bundled_robot_is_drawn(name: str, fold_rotors: bool) -> None:
    assert everything_drawn(kempe.robots.load(name, fold_rotors=fold_rotors)).notices == []


def test_robots_of_files_are_drawn_with_and_without_visuals(tmp_path: Path) -> None:
    for name in ("mini_cheetah", "jvrc1", "six_bar"):
        mechanism = kempe.robots.mechanism(name)
        for body in mechanism.bodies:
            if name == "jvrc1":
                body.visuals = []
        kempe.write_urdf(mechanism, tmp_path / f"{name}.urdf")
        everything_drawn(kempe.load(tmp_path / f"{name}.urdf"))


def pendulum() -> kempe.Mechanism:
    robot = kempe.Mechanism("pendulum")
    robot.add_body("base")
    robot.add_body("arm", mass=1.0, center_of_mass=(0, 0, -0.5), inertia=(0.1, 0.1, 0.01))
    robot.add_revolute("hinge", parent="base", child="arm", axis=(0, 1, 0))
    return robot


def test_leaves_are_boxes_with_their_inertia() -> None:
    robot = pendulum()
    arm = robot.find_body("arm")
    assert arm is not None
    edges, axes = shapes.inertia_box(arm)
    moments = arm.mass / 12 * (edges @ edges - edges**2)
    assert axes @ np.diag(moments) @ axes.T == pytest.approx(np.diag([0.1, 0.1, 0.01]))
    (part,) = parts_of(robot, "arm")
    assert part.mesh.vertices[:, 2].min() < -0.9 and part.mesh.vertices[:, 2].max() >= -1e-9


@pytest.mark.parametrize("inertia", [(0, 0, 1.0), (1.0, 1.0, 1.0)])
def test_leaves_with_incredible_inertia_are_bars(inertia: tuple[float, float, float]) -> None:
    robot = kempe.Mechanism("planar")
    robot.add_body("base")
    robot.add_body("bar", mass=1.0, center_of_mass=(0.5, 0, 0), inertia=inertia)
    robot.add_revolute("hinge", parent="base", child="bar")
    (part,) = parts_of(robot, "bar")
    spans = np.ptp(part.mesh.vertices, axis=0)
    assert spans[0] > 1.0 and max(spans[1:]) < 0.3


def test_links_reach_to_what_hangs_on_them() -> None:
    model = kempe.robots.load("planar_leg")
    drawing = shapes.draw(model)
    for joint in model.mechanism.joints:
        end = joint.origin[1]
        if np.linalg.norm(end) > 0:
            vertices = np.concatenate([part.mesh.vertices for part in drawing.parts[joint.parent]])
            nearest = np.linalg.norm(vertices - end, axis=1).min()
            assert nearest < 2 * drawing.thickness[joint.parent]


def test_rotors_are_cylinders_about_their_axes() -> None:
    robot = pendulum()
    robot.add_body("rotor", mass=0.5, inertia=(2e-4, 2e-4, 3.6e-4))
    robot.add_revolute("motor", parent="base", child="rotor", xyz=(0, 0.1, 0))
    robot.add_gear("gear", "motor", 6.0, "hinge")
    (part,) = parts_of(robot, "rotor")
    radii = np.linalg.norm(part.mesh.vertices[:, :2], axis=1)
    assert radii.max() == pytest.approx(np.sqrt(2 * 3.6e-4 / 0.5), rel=1e-6)


def test_visuals_of_a_file_are_drawn_as_they_are() -> None:
    robot = pendulum()
    visual = kempe.Shape("box", size=(0.1, 0.2, 0.3), xyz=(1, 0, 0), color=(1, 0, 0, 0.5))
    robot.add_body("hand", mass=0.1, visuals=[visual])
    robot.add_body("marker")
    robot.add_fixed("wrist", parent="arm", child="hand", xyz=(0, 0, -1))
    robot.add_fixed("sticker", parent="hand", child="marker", xyz=(0.1, 0, 0))
    (part,) = parts_of(robot, "hand")
    assert part.colour == (1, 0, 0, 0.5)
    assert part.mesh.vertices.min(axis=0) == pytest.approx([0.95, -0.1, -0.15])
    assert parts_of(robot, "arm"), "a body with mass and without visuals has a shape of its own"
    assert parts_of(robot, "marker") == [], "a mere frame has none"


URDF = """<robot name="r"><link name="base"/><link name="arm">
<inertial><mass value="1"/><origin xyz="0 0 0.2"/>
<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial>
<visual><origin xyz="0 0 1"/><geometry><mesh filename="{mesh}" scale="2 2 2"/></geometry></visual>
</link><joint name="hinge" type="continuous"><parent link="base"/><child link="arm"/>
<axis xyz="0 1 0"/></joint></robot>"""


@pytest.mark.parametrize(("mesh", "place"), [
    ("meshes/arm.stl", "robot/meshes/arm.stl"),
    ("package://arm_description/meshes/arm.stl", "arm_description/meshes/arm.stl"),
    ("package://robot/meshes/arm.stl", "robot/meshes/arm.stl"),
    ("package:///arm.stl", "robot/arm.stl"),
])
def test_meshes_are_found_beside_the_robot(tmp_path: Path, mesh: str, place: str) -> None:
    file = tmp_path / "robot" / "robot.urdf"
    file.parent.mkdir()
    file.write_text(URDF.format(mesh=mesh))
    (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
    trimesh.creation.box((0.1, 0.1, 0.4)).export(tmp_path / place)
    drawing = shapes.draw(kempe.load(file))
    assert drawing.notices == []
    (part,) = drawing.parts["arm"]
    assert part.mesh.vertices.min(axis=0) == pytest.approx([-0.1, -0.1, 0.6])
    assert part.mesh.vertices.max(axis=0) == pytest.approx([0.1, 0.1, 1.4])


def test_meshes_are_found_in_ros_packages(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "there" / "arm").mkdir(parents=True)
    (tmp_path / "there" / "arm" / "a.stl").touch()
    monkeypatch.setenv("ROS_PACKAGE_PATH", f"/nowhere:{tmp_path / 'there'}")
    found = mesh_files.find("package://arm/a.stl", str(tmp_path / "here" / "robot.urdf"))
    assert found == tmp_path / "there" / "arm" / "a.stl"


def test_missing_and_broken_meshes_are_named_and_replaced(tmp_path: Path) -> None:
    file = tmp_path / "robot.urdf"
    file.write_text(URDF.format(mesh="arm.stl"))
    drawing = shapes.draw(kempe.load(file))
    assert drawing.notices == ['mesh "arm.stl" was not found; a substitute shape is shown']
    assert drawing.parts["arm"]
    (tmp_path / "arm.stl").write_text("no triangles")
    (notice,) = shapes.draw(kempe.load(file)).notices
    assert str(tmp_path / "arm.stl") in notice


def test_clusters_have_colours_and_bodies_in_them_have_shades() -> None:
    model = kempe.robots.load("tello")
    palette = colours.cluster_colours(model)
    for cluster in model.clusters:
        used = [palette.bodies[body] for body in cluster.bodies]
        if len(cluster.bodies) == 1:
            assert used == [colours.ALONE]
        else:
            assert used[0] in colours.PALETTE
            assert used == [colours.shaded(used[0], colours.SHADES[i % len(colours.SHADES)])
                            for i in range(len(used))]
    assert set(palette.bodies) == {body.name for body in model.mechanism.bodies}
    assert len(palette.legend) == sum(len(c.bodies) > 1 for c in model.clusters) + 2


def test_what_is_fixed_to_a_body_has_its_colour() -> None:
    robot = pendulum()
    robot.add_body("hand", mass=0.1)
    robot.add_fixed("wrist", parent="arm", child="hand")
    robot.add_body("table")
    robot.add_fixed("floor", parent="base", child="table")
    palette = colours.cluster_colours(kempe.Model(robot))
    assert palette.bodies == {"base": colours.FIXED, "arm": colours.ALONE, "hand": colours.ALONE,
                              "table": colours.FIXED}


def test_a_robot_without_extent_is_drawn() -> None:
    robot = kempe.Mechanism("point")
    robot.add_body("base")
    robot.add_body("ball", mass=1.0, inertia=(1e-9, 1e-9, 1e-9))
    robot.add_revolute("spin", parent="base", child="ball")
    drawing = shapes.draw(kempe.Model(robot))
    assert drawing.size == 1.0
    assert isinstance(drawing.parts["ball"][0].mesh, meshes.Mesh)
