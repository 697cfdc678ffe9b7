"""Real files: closures, motors, start poses, balls of three hinges, and invalid files."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from program import kempe_program

import kempe

INERTIAL = """<inertial><origin xyz="0.1 0 -0.2"/><mass value="1"/>
  <inertia ixx="0.02" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.025"/></inertial>"""

GIMBAL = f"""<robot name="gimbal">
  <link name="ground"/>
  <link name="ring"/>
  <link name="cross"/>
  <link name="bob">{INERTIAL}</link>
  <joint name="roll" type="continuous"><parent link="ground"/><child link="ring"/>
    <origin xyz="0 0 1" rpy="0.1 0.2 0.3"/><axis xyz="1 0 0"/></joint>
  <joint name="pitch" type="continuous"><parent link="ring"/><child link="cross"/>
    <axis xyz="0 1 0"/></joint>
  <joint name="yaw" type="continuous"><parent link="cross"/><child link="bob"/>
    <axis xyz="0 0 1"/></joint>
</robot>
"""

ARMS = f"""<robot name="arms">
  <link name="base"/>
  <link name="left">{INERTIAL}</link>
  <link name="left_tip"/>
  <link name="right">{INERTIAL}</link>
  <link name="right_tip"/>
  <link name="middle">{INERTIAL}</link>
  <joint name="a" type="continuous"><parent link="base"/><child link="left"/>
    <axis xyz="0 1 0"/></joint>
  <joint name="b" type="continuous"><parent link="left"/><child link="middle"/>
    <origin xyz="0.3 0 0"/><axis xyz="0 1 0"/></joint>
  <joint name="c" type="continuous"><parent link="base"/><child link="right"/>
    <origin xyz="0.4 0 0"/><axis xyz="0 1 0"/></joint>
  <joint name="tip" type="fixed"><parent link="middle"/><child link="left_tip"/>
    <origin xyz="0.4 0 0"/></joint>
  <joint name="top" type="fixed"><parent link="right"/><child link="right_tip"/>
    <origin xyz="0.35 0 0"/></joint>
</robot>
"""

CLOSURES = """closed_loop: [['left_tip', 'right_tip']]
type: ['3D']
name_mot: ['c']
ideal: true
start_pose: {a: 0.4, b: -1.2, c: 0.6}
"""


@pytest.fixture
def arms(tmp_path: Path) -> Path:
    (tmp_path / "robot.urdf").write_text(ARMS)
    file = tmp_path / "robot.yaml"
    file.write_text(CLOSURES)
    return file


@pytest.fixture
def gimbal(tmp_path: Path) -> Path:
    file = tmp_path / "gimbal.urdf"
    file.write_text(GIMBAL)
    return file


# --- closures --------------------------------------------------------------------------------

def test_closures_of_a_collection(arms: Path) -> None:
    model = kempe.load(arms)
    assert [loop.name for loop in model.loops] == ["left_tip-right_tip"]
    assert model.nv == 1 and model.v_names == ["c"]
    assert model.actuated == ["c"]
    assert any(f'{arms}:4: the key "ideal" is not known' in text for text in model.warnings)
    (loop,) = model.mechanism.loops
    assert (loop.source, loop.line) == (str(arms), 1)
    assert dict(model.mechanism.start_pose) == {"a": (0.4,), "b": (-1.2,), "c": (0.6,)}


def test_a_robot_without_its_closures_says_so(arms: Path) -> None:
    warnings = kempe.load(arms.with_suffix(".urdf")).warnings
    assert any("has closures for this robot" in text and str(arms) in text for text in warnings)


def test_motors_that_cannot_be_independent_stay_the_motors(arms: Path) -> None:
    arms.write_text(CLOSURES.replace("['c']", "['a', 'c']"))
    model = kempe.load(arms)
    assert model.nv == 1
    assert model.actuated == ["a", "c"]
    assert any(text.startswith(f"{arms}:1: ") for text in model.warnings)


# --- start poses -----------------------------------------------------------------------------

def test_start_pose_of_a_mechanism() -> None:
    m = kempe.robots.mechanism("four_bar")
    assert dict(m.start_pose) == {}
    m.start_pose = {"joint1": 0.5, "joint2": np.array([0.25])}
    assert dict(m.start_pose) == {"joint1": (0.5,), "joint2": (0.25,)}
    with pytest.raises(TypeError):
        m.start_pose["joint1"] = 1.0  # type: ignore[index]
    again = pickle.loads(pickle.dumps(m))
    assert again.start_pose == m.start_pose
    assert kempe.read_urdf_text(kempe.write_urdf_text(m)).start_pose == m.start_pose


def test_start_pose_of_files_and_bundled_robots(gimbal: Path) -> None:
    model = kempe.load(gimbal, merge_gimbals=False, start={"roll": 0.25})
    assert dict(model.mechanism.start_pose) == {"roll": (0.25,)}
    model = kempe.robots.load("four_bar", start={"joint1": 0.5})
    assert dict(model.mechanism.start_pose) == {"joint1": (0.5,)}


@pytest.mark.parametrize(("start", "error", "message"), [
    ({"nobody": 1.0}, kempe.ModelError, 'start pose of joint "nobody": there is no such joint'),
    ({"roll": [1.0, 2.0]}, kempe.ModelError, 'start pose of joint "roll": it has 2 number'),
    ({"roll": float("nan")}, kempe.ModelError, "is not finite"),
    ({"roll": "fast"}, ValueError, r'start\["roll"\]: expected a number'),
    ([1.0], ValueError, "start: expected {joint: position"),
])
def test_wrong_start_poses(gimbal: Path, start: object, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        kempe.load(gimbal, start=start)  # type: ignore[arg-type]


def test_start_pose_on_the_command_line(gimbal: Path) -> None:
    good = kempe_program("info", gimbal, "--start-pose", "roll=0.5,pitch=-1e-1", "--start-pose",
                         "yaw=2")
    assert good.returncode == 0, good.stderr
    for given, message in (
            ("roll", '"roll" is invalid'), ("roll=x", '"roll=x" is invalid'),
            ("roll=1,roll=2", 'joint "roll" is given twice'),
            ("nobody=1", "there is no such joint"), ("roll=1:2", "it has 2 number(s)")):
        bad = kempe_program("info", gimbal, "--start-pose", given)
        assert bad.returncode == 2
        assert message in bad.stderr


def test_a_held_base_has_no_start_pose(tmp_path: Path) -> None:
    m = kempe.robots.mechanism("mini_cheetah")
    (base,) = [joint.name for joint in m.joints if joint.type == "free"]
    m.start_pose = {base: (0, 0, 1, 0, 0, 0, 1)}
    kempe.write_urdf(m, tmp_path / "robot.urdf")
    result = kempe_program("info", tmp_path / "robot.urdf", "--fixed-base")
    assert result.returncode == 0, result.stderr


# --- motors ----------------------------------------------------------------------------------

def test_actuated_joints_of_the_builder() -> None:
    m = kempe.robots.mechanism("four_bar")
    assert kempe.Model(m).actuated == ["joint1"]
    m.find_joint("joint3").actuated = True
    model = kempe.Model(m)
    assert model.actuated == ["joint3"] and model.v_names == ["joint1"]
    assert "actuated: joint3" in str(model)
    assert pickle.loads(pickle.dumps(model)).actuated == ["joint3"]
    body = m.add_body("wheel", mass=1, inertia=(1, 1, 1))
    joint = m.add_revolute("axle", parent="base_link", child=body.name, actuated=False)
    assert joint.actuated is False


def test_actuated_joints_in_json() -> None:
    report = json.loads(kempe_program("info", "mini_cheetah", "--json").stdout)
    assert report["actuated"] == kempe.robots.load("mini_cheetah").actuated
    assert len(report["actuated"]) == 12


# --- balls of three hinges -------------------------------------------------------------------

def test_gimbals_are_merged_unless_kept(gimbal: Path) -> None:
    model = kempe.load(gimbal)
    assert (model.nq, model.nv, model.joint_names) == (4, 3, ["yaw"])
    (warning,) = model.warnings
    assert '("roll", "pitch", "yaw")' in warning
    kept = kempe.load(gimbal, merge_gimbals=False)
    assert (kept.nq, kept.nv) == (3, 3) and not kept.warnings
    assert kept.merge_gimbals is False
    assert pickle.loads(pickle.dumps(kept)).nq == 3
    assert kempe.Model(kempe.read_mechanism(gimbal), merge_gimbals=False).nq == 3
    assert "nq 3, nv 3" in kempe_program("info", gimbal, "--keep-gimbals").stdout
    assert "nq 4, nv 3" in kempe_program("info", gimbal).stdout


def test_a_start_pose_of_the_hinges_becomes_one_of_the_ball(gimbal: Path) -> None:
    angles = {"roll": 0.3, "pitch": -0.7, "yaw": 1.1}
    kept = kempe.load(gimbal, merge_gimbals=False)
    R, p = kept.frame_placement(np.array([0.3, -0.7, 1.1]), "bob")
    ball = kempe.load(gimbal, start=angles)
    q = np.array(ball.mechanism.start_pose["yaw"])
    R_ball, p_ball = ball.frame_placement(q, "bob")
    np.testing.assert_allclose(R_ball, R, atol=1e-12)
    np.testing.assert_allclose(p_ball, p, atol=1e-12)


# --- warnings --------------------------------------------------------------------------------

def test_warnings_of_a_kind_are_one() -> None:
    mechanism = kempe.Mechanism("chain")
    mechanism.add_body("link0")
    for i in range(1, 26):  # moments of inertia that no body can have
        mechanism.add_body(f"link{i}", mass=1, inertia=(0.1, 0.1, 0.5))
        mechanism.add_revolute(f"joint{i}", parent=f"link{i - 1}", child=f"link{i}", lower=-1,
                               upper=1)
    (odd,) = [text for text in kempe.Model(mechanism).warnings if "triangle inequality" in text]
    assert "likewise" in odd and "and 20 more" in odd


# --- what cannot be read ---------------------------------------------------------------------

SURROGATE = "a\udc80b"


@pytest.mark.parametrize("call", [
    lambda: kempe.Mechanism(SURROGATE),
    lambda: kempe.Mechanism().add_body(SURROGATE),
    lambda: kempe.Mechanism().add_revolute(SURROGATE, parent="a", child="b"),
    lambda: kempe.Mechanism().add_revolute("j", parent=SURROGATE, child="b"),
    lambda: kempe.Mechanism().add_gear(SURROGATE, "a", 2, "b"),
    lambda: kempe.Mechanism().add_gear("g", SURROGATE, 2, "b"),
    lambda: kempe.Mechanism().add_rod(SURROGATE, predecessor="a", predecessor_point=(0, 0, 0),
                                      successor="b", successor_point=(0, 0, 0), length=1),
    lambda: kempe.Mechanism().find_body(SURROGATE),
    lambda: setattr(kempe.Mechanism(), "name", SURROGATE),
    lambda: setattr(kempe.Mechanism(), "start_pose", {SURROGATE: 1.0}),
    lambda: kempe.read_urdf_text(f'<robot name="{SURROGATE}"/>'),
    lambda: kempe.read_urdf_text("<robot/>", source=SURROGATE),
    lambda: kempe.add_closures_from_yaml_text(kempe.Mechanism(), SURROGATE),
    lambda: kempe.robots.load(SURROGATE),
    lambda: kempe.robots.load("four_bar").frame_index(SURROGATE),
    lambda: kempe.load("a\ud800.urdf"),
    lambda: kempe.load("a\0b.urdf"),
    lambda: kempe.write_urdf(kempe.Mechanism(), "a\0b.urdf"),
])
def test_text_that_is_none_is_shown(call: object) -> None:
    with pytest.raises(ValueError, match=r"\\u|\\x"):
        call()  # type: ignore[operator]


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    def message(path: object) -> str:
        with pytest.raises(kempe.ModelError) as caught:
            kempe.load(path)  # type: ignore[arg-type]
        return str(caught.value)

    assert "is a folder" in message(tmp_path)
    (tmp_path / "folder.urdf").mkdir()
    assert "is a folder" in message(tmp_path / "folder.urdf")
    (tmp_path / "bytes.urdf").write_bytes(b"<robot name='\xff'/>")
    assert "is not UTF-8 text" in message(tmp_path / "bytes.urdf")
    (tmp_path / "bytes.yaml").write_bytes(b"closed_loop: \xff")
    assert "is not UTF-8 text" in message(tmp_path / "bytes.yaml")
    (tmp_path / "loop.urdf").symlink_to(tmp_path / "loop.urdf")
    assert "cannot be read" in message(tmp_path / "loop.urdf")
    # A name that is not UTF-8, as file systems allow it.
    assert "?.urdf: cannot be read" in message(str(tmp_path) + "/\udcff.urdf")
    Path(str(tmp_path) + "/\udcff.urdf").write_text(GIMBAL)
    assert kempe.load(str(tmp_path) + "/\udcff.urdf").mechanism.source.endswith("/?.urdf")


def test_odd_names_on_the_command_line(tmp_path: Path) -> None:
    result = kempe_program("info", str(tmp_path) + "/\udcff.urdf")
    assert result.returncode == 2
    assert "neither a file nor a bundled robot" in result.stderr
    assert "Traceback" not in result.stderr
