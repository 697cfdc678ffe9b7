"""`kempe convert`."""

import json
from pathlib import Path

import numpy as np
import pytest
from program import ROOT, kempe_program

import kempe


@pytest.mark.parametrize("robot", ["four_bar", "tello"])
def test_bundled_robots(robot: str, tmp_path: Path) -> None:
    file = tmp_path / "robot.urdf"
    result = kempe_program("convert", robot, file)
    assert result.returncode == 0, result.stderr
    assert f"written to {file}" in result.stdout
    model, same = kempe.robots.load(robot), kempe.load(file, merge_gimbals=False)
    q = model.random_configuration(1)
    np.testing.assert_allclose(same.mass_matrix(q), model.mass_matrix(q), atol=1e-9)


def test_json(tmp_path: Path) -> None:
    result = kempe_program("convert", ROOT / "examples" / "geared_four_bar_leg.urdf",
                           tmp_path / "out.urdf", "--json")
    report = json.loads(result.stdout)
    assert report["file"] == str(tmp_path / "out.urdf") and report["not_held"] == {}
    assert report["loops"] > 0


def test_options_of_the_robot(tmp_path: Path) -> None:
    file = tmp_path / "out.urdf"

    def converted(*arguments: str | Path) -> kempe.Model:
        result = kempe_program("convert", *arguments, file)
        assert result.returncode == 0, result.stderr
        return kempe.load(file)

    assert len(converted("belt_chain", "-n", "3").mechanism.joints) == len(
        kempe.robots.mechanism("belt_chain", 3).joints)
    leg = ROOT / "examples" / "geared_four_bar_leg.urdf"
    bare = kempe.load(leg).nv
    assert converted(leg, "--floating-base").nv == bare + 6
    assert converted("mini_cheetah", "--fixed-base").nv == 12
    joint = kempe.robots.load("four_bar").v_names[0]
    posed = converted("four_bar", "--start-pose", f"{joint}=0.4")
    assert posed.mechanism.start_pose[joint] == (0.4,)


MESHES = """<robot name="r"><link name="g"/><joint name="j" type="continuous">
  <parent link="g"/><child link="a"/></joint><link name="a"><inertial><mass value="1"/>
  <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
  <visual><geometry><mesh filename="{0}"/></geometry>
  <material name="m"><texture filename="{1}"/></material></visual></link></robot>"""


@pytest.mark.parametrize(("name", "moved"), [
    ("parts/a.stl", "../in/parts/a.stl"), ("../a.stl", "../a.stl"),
    ("file://parts/a.stl", "file://../in/parts/a.stl"), ("package://p/a.stl", "package://p/a.stl"),
    ("/abs/a.stl", "/abs/a.stl"), ("file:///abs/a.stl", "file:///abs/a.stl"),
    ("https://host/a.stl", "https://host/a.stl")])
def test_names_of_files_count_from_the_new_file(tmp_path: Path, name: str, moved: str) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    source = tmp_path / "in" / "r.urdf"
    source.write_text(MESHES.format(name, name.replace("stl", "png")))

    def names(file: Path) -> tuple[str, str]:
        body = kempe.read_mechanism(file).find_body("a")
        assert body is not None
        shape = body.visuals[0]
        return shape.mesh, shape.texture.replace("png", "stl")

    result = kempe_program("convert", "in/r.urdf", "out/r.urdf", folder=tmp_path)
    assert result.returncode == 0, result.stderr
    assert names(tmp_path / "out" / "r.urdf") == (moved, moved)
    mechanism = kempe.read_mechanism(source)
    for file, expected in [(tmp_path / "in" / "same.urdf", name),
                           (tmp_path / "out" / "other.urdf", moved)]:
        kempe.write_urdf(mechanism, file)
        assert names(file) == (expected, expected)
    text = kempe.write_urdf_text(mechanism)
    assert f'"{name}"' in text


def test_errors(tmp_path: Path) -> None:
    def error(*arguments: str | Path) -> str:
        result = kempe_program("convert", *arguments)
        assert result.returncode == 2 and "Traceback" not in result.stderr
        return result.stderr

    assert "neither a file nor a bundled robot" in error("no_robot", tmp_path / "out.urdf")
    assert "must end in .urdf" in error("four_bar", tmp_path / "out.xml")
    assert "there is no folder" in error("four_bar", tmp_path / "none" / "out.urdf")
    file = tmp_path / "same.urdf"
    kempe.write_urdf(kempe.robots.mechanism("four_bar"), file)
    assert "that is the file to read" in error(file, file)
    assert kempe.load(file).nv == 1
    broken = tmp_path / "broken.urdf"
    broken.write_text("<robot>")
    assert "broken.urdf" in error(broken, tmp_path / "out.urdf")
