"""Models from files and from the bundled robots."""

from pathlib import Path

import numpy as np
import pytest

import kempe

PENDULUM = """<?xml version="1.0"?>
<robot name="pendulum">
  <link name="base"/>
  <link name="arm">
    <inertial>
      <origin xyz="0 0 -0.5"/>
      <mass value="2"/>
      <inertia ixx="0.1" iyy="0.1" izz="0.01" ixy="0" ixz="0" iyz="0"/>
    </inertial>
  </link>
  <joint name="hinge" type="continuous">
    <parent link="base"/>
    <child link="arm"/>
    <axis xyz="0 1 0"/>
  </joint>
</robot>
"""


@pytest.fixture
def pendulum(tmp_path: Path) -> Path:
    file = tmp_path / "pendulum.urdf"
    file.write_text(PENDULUM)
    return file


@pytest.mark.parametrize("kind", [str, Path])
def test_file_as_text_or_path(pendulum: Path, kind: type) -> None:
    model = kempe.load(kind(pendulum))
    assert model.name == "pendulum"
    assert (model.nq, model.nv) == (1, 1)
    assert model.joint_names == ["hinge"]
    assert model.body_names == ["arm"]
    assert {"base", "arm", "hinge"} <= set(model.frame_names)
    assert model.total_mass == pytest.approx(2.0)
    np.testing.assert_array_equal(model.gravity, [0, 0, -9.81])


def test_floating_base_adds_six_freedoms(pendulum: Path) -> None:
    text = PENDULUM.replace('<link name="base"/>', """<link name="base"><inertial><mass value="1"/>
      <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>""")
    pendulum.write_text(text)
    model = kempe.load(pendulum, floating_base=True)
    assert (model.nq, model.nv) == (8, 7)


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(kempe.ModelError, match="no_such_robot"):
        kempe.load(tmp_path / "no_such_robot.urdf")


def test_error_names_file_line_and_element(pendulum: Path) -> None:
    pendulum.write_text(PENDULUM.replace('<mass value="2"/>', '<mass value="two"/>'))
    with pytest.raises(kempe.ModelError, match=r"pendulum\.urdf:7: .*mass"):
        kempe.load(pendulum)


@pytest.mark.parametrize("name, freedoms", [
    ("mini_cheetah", 18), ("mit_humanoid", 24), ("mit_humanoid_leg", 5), ("tello", 24),
    ("jvrc1", 38), ("four_bar", 1), ("six_bar", 3), ("five_bar", 3), ("planar_leg", 2),
])
def test_freedoms_of_bundled_robots(name: str, freedoms: int) -> None:
    assert name in kempe.robots.names()
    assert kempe.robots.load(name).nv == freedoms


@pytest.mark.parametrize("name", ["geared_chain", "belt_chain"])
def test_chains_have_as_many_links_as_asked(name: str) -> None:
    assert name in kempe.robots.names()
    assert kempe.robots.load(name, n=4).nv == 4


def test_links_only_for_chains() -> None:
    with pytest.raises(kempe.ModelError, match="tello"):
        kempe.robots.load("tello", n=4)
    with pytest.raises(ValueError, match="n: "):
        kempe.robots.load("geared_chain", n=0)


@pytest.mark.parametrize("name", ["four_bar", "six_bar", "planar_leg", "geared_chain"])
def test_linkages_and_chains_stand_upright_unless_asked_not_to(name: str) -> None:
    upright, published = kempe.robots.load(name), kempe.robots.load(name, upright=False)
    assert kempe.robots.mechanism(name, upright=False).joints[0].origin[0] == pytest.approx(
        np.eye(3))
    q = upright.neutral()
    assert np.abs(upright.gravity_forces(q)).max() > 0.01
    assert np.abs(published.gravity_forces(q)).max() < 1e-12


def test_feet_and_hands_are_frames() -> None:
    for name in ("mit_humanoid", "tello", "jvrc1"):
        model = kempe.robots.load(name)
        for frame in ("left_foot", "right_foot", "left_hand", "right_hand"):
            assert model.frame_jacobian(model.neutral(), frame).shape == (6, model.nv)


def test_unknown_robot() -> None:
    with pytest.raises(kempe.ModelError, match="no_such_robot"):
        kempe.robots.load("no_such_robot")


def test_rotors_fold_or_stay(tmp_path: Path) -> None:
    file = tmp_path / "mini_cheetah.urdf"
    kempe.write_urdf(kempe.robots.mechanism("mini_cheetah"), file)
    folded = kempe.load(file, floating_base=True)
    kept = kempe.load(file, floating_base=True, fold_rotors=False)
    assert len(folded.folded_rotors) == 12
    assert kept.folded_rotors == []
    assert folded.nv == kept.nv == 18
    assert folded.total_mass == pytest.approx(kept.total_mass, rel=1e-14)


def test_closures_beside_a_urdf(tmp_path: Path) -> None:
    robot = kempe.robots.mechanism("five_bar")
    opened = kempe.Mechanism("opened")
    for body in robot.bodies:
        opened.add_body(body.name, mass=body.mass, center_of_mass=body.center_of_mass,
                        inertia=body.inertia)
    for joint in robot.joints:
        opened.add_joint(joint.name, joint.type, parent=joint.parent, child=joint.child,
                         origin=joint.origin, axis=joint.axis)
    kempe.write_urdf(opened, tmp_path / "robot.urdf")
    assert kempe.load(tmp_path / "robot.urdf").nv == 6
    file = tmp_path / "robot.yaml"
    file.write_text("closed_loop: [['closedloop1_A', 'closedloop1_B']]\ntype: ['6d']\n"
                    "name_mot: ['mot1', 'mot2']\n")
    assert kempe.load(file).nv == 3


def test_what_is_odd_is_a_warning(pendulum: Path) -> None:
    # Two small moments and a large one: no mass distribution has them.
    pendulum.write_text(PENDULUM.replace('ixx="0.1"', 'ixx="0.5"'))
    (warning,) = kempe.load(pendulum).warnings
    assert "arm" in warning
    assert "triangle inequality" in warning
