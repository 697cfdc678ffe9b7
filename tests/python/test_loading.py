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


def test_unknown_robot() -> None:
    with pytest.raises(kempe.ModelError, match="no_such_robot"):
        kempe.robots.load("no_such_robot")


def test_rotors_fold_or_stay(given_robots: Path) -> None:
    folded = kempe.load(given_robots / "mini_cheetah.urdf", floating_base=True)
    kept = kempe.load(given_robots / "mini_cheetah.urdf", floating_base=True, fold_rotors=False)
    assert len(folded.folded_rotors) == 12
    assert kept.folded_rotors == []
    assert folded.nv == kept.nv == 18
    assert folded.total_mass == pytest.approx(kept.total_mass, rel=1e-14)


def test_closures_beside_a_urdf(given_robots: Path) -> None:
    file = next((given_robots / "five_bar").glob("*.yaml"))
    assert kempe.load(file).nv == 3


def test_what_is_odd_is_a_warning(pendulum: Path) -> None:
    # Two small moments and a large one: no mass distribution has them.
    pendulum.write_text(PENDULUM.replace('ixx="0.1"', 'ixx="0.5"'))
    (warning,) = kempe.load(pendulum).warnings
    assert "arm" in warning
    assert "triangle inequality" in warning
