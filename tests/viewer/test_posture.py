"""Controls move configurations, and the loops stay closed."""

import numpy as np
import pytest

import kempe
from kempe.viewer.posture import Angle, Control, Coordinate, Posture, Turn


def posture_of(model: kempe.Model) -> Posture:
    return Posture(model, size=1.0)


def control(posture: Posture, label: str) -> Control:
    return next(c for c in posture.controls if c.label == label)


@pytest.mark.parametrize("name", kempe.robots.names())
def test_every_control_moves_its_robot_and_no_loop_opens(name: str) -> None:
    model = kempe.robots.load(name)
    posture = posture_of(model)
    assert len(posture.controls) == model.nv
    starts = {each: posture.value(each) for each in posture.controls}
    for each in posture.controls:
        posture.set(model.neutral())
        before = posture.value(each)
        assert each.lower <= before <= each.upper
        target = before + 0.2 if before + 0.2 < each.upper else before - 0.2
        assert posture.move(each, target) is None
        assert posture.value(each) == target
        assert posture.loop_error() < 1e-10
        for other, start in starts.items():
            if other != each:
                assert posture.value(other) == pytest.approx(start, abs=1e-9), other.label


@pytest.mark.parametrize("name", ["four_bar", "six_bar", "five_bar", "mini_cheetah"])
def test_loops_left_cut_follow_too(name: str) -> None:
    mechanism = kempe.robots.mechanism(name)
    for loop in (*mechanism.loops, *mechanism.couplings):
        loop.cut = True
    model = kempe.Model(mechanism)
    posture = posture_of(model)
    assert len(posture.controls) == model.nv
    for each in posture.controls:
        posture.set(model.random_configuration(seed=3))
        target = posture.value(each) + 0.05
        assert posture.move(each, target) is None
        assert posture.value(each) == target
        assert posture.loop_error() < 1e-10


def test_what_cannot_be_reached_is_approached_and_explained() -> None:
    mechanism = kempe.robots.mechanism("tello")
    for joint in mechanism.joints:
        if joint.type == "revolute":
            joint.lower, joint.upper = -np.inf, np.inf
    posture = posture_of(kempe.Model(mechanism))
    first, second = (control(posture, f"left-hip-clamp-to-hip-rotor-{i}") for i in (1, 2))
    posture.move(first, 10.0)
    obstacle = posture.move(second, -10.0)
    assert obstacle is not None and 'loop "left-hip-rod-1" cannot be closed' in obstacle
    assert -10 < posture.value(second) < -1
    assert posture.loop_error() < 1e-10
    assert posture.move(second, 0.0) is None, "there is a way back"


def test_free_bases_take_positions_and_angles() -> None:
    model = kempe.robots.load("mini_cheetah")
    posture = posture_of(model)
    base = [c for c in posture.controls if isinstance(c, Angle) or c.unit == "m"]
    assert [c.label.rpartition(".")[2] for c in base] == ["x", "y", "z", "roll", "pitch", "yaw"]
    wanted = [0.1, -0.2, 0.3, 0.4, np.pi / 2, -2.0]  # at this pitch, angles are not unique
    for each, value in zip(base, wanted, strict=True):
        assert posture.move(each, value) is None
    assert [posture.value(each) for each in base] == wanted
    assert np.linalg.norm(posture.q[3:7]) == pytest.approx(1)
    R, p = model.frame_placement(posture.q, model.body_names[0])
    assert p == pytest.approx(wanted[:3])
    assert R[2, 0] == pytest.approx(-1), "pitched up by a quarter of a turn"


def test_joints_of_every_type_have_controls() -> None:
    components = {
        "revolute": [""], "continuous": [""], "prismatic": [""], "helical": [""],
        "cylindrical": [".angle", ".distance"], "universal": [".first", ".second"],
        "planar": [".x", ".y", ".angle"], "spherical": [".roll", ".pitch", ".yaw"],
        "free": [".x", ".y", ".z", ".roll", ".pitch", ".yaw"]}
    robot = kempe.Mechanism("all")
    robot.add_body("base")
    for joint_type in components:
        robot.add_body(f"{joint_type} body", mass=1.0, inertia=(1, 1, 1))
        robot.add_joint(joint_type, joint_type, parent="base", child=f"{joint_type} body",
                        pitch=0.1 if joint_type == "helical" else 0)
    posture = posture_of(kempe.Model(robot))
    labels = [each.label for each in posture.controls]
    assert sorted(labels) == sorted(
        joint_type + suffix for joint_type, suffixes in components.items() for suffix in suffixes)
    in_metres = {each.label for each in posture.controls if each.unit == "m"}
    assert in_metres == {"prismatic", "cylindrical.distance", "planar.x", "planar.y", "free.x",
                         "free.y", "free.z"}
    for each in posture.controls:
        assert posture.move(each, 0.3) is None
    assert [posture.value(each) for each in posture.controls] == [0.3] * len(labels)


def ball_loop() -> kempe.Model:
    """A bar on a ball joint whose tip slides on a pin: one component of the ball is left."""
    robot = kempe.Mechanism("ball_loop")
    robot.add_body("base")
    robot.add_body("bar", mass=1.0, center_of_mass=(0.5, 0, 0), inertia=(0.01, 0.1, 0.1))
    robot.add_joint("ball", "spherical", parent="base", child="bar")
    robot.add_loop("tip", "spherical", predecessor="bar", predecessor_xyz=(1, 0, 0),
                   successor="base", successor_xyz=(1, 0, 0))
    return kempe.Model(robot)


def test_a_component_of_a_ball_joint_is_turned() -> None:
    model = ball_loop()
    posture = posture_of(model)
    (turn,) = posture.controls
    assert isinstance(turn, Turn)
    assert posture.move(turn, 0.7) is None
    assert posture.value(turn) == 0.7
    assert posture.loop_error() < 1e-10
    R, _ = model.frame_placement(posture.q, "bar")
    assert np.arccos((np.trace(R) - 1) / 2) == pytest.approx(0.7)
    posture.set(model.neutral())
    assert posture.value(turn) == 0


def geared(**limits: float) -> kempe.Model:
    robot = kempe.Mechanism("geared")
    robot.add_body("base")
    robot.add_body("link", mass=1.0, center_of_mass=(0.1, 0, 0))
    robot.add_body("rotor", mass=0.1, inertia=(1e-4, 1e-4, 1e-4))
    robot.add_revolute("joint", parent="base", child="link", independent=False, **limits)
    robot.add_revolute("motor", parent="base", child="rotor", independent=True)
    robot.add_gear("gear", "motor", 10.0, "joint")
    return kempe.Model(robot)


def test_rotors_without_limits_can_be_turned_until_their_output_has_turned_once() -> None:
    (motor,) = posture_of(geared()).controls
    assert (motor.lower, motor.upper) == pytest.approx((-10 * np.pi, 10 * np.pi))


def test_limits_are_those_of_the_robot() -> None:
    robot = kempe.Mechanism("limited")
    robot.add_body("base")
    robot.add_body("slide", mass=1.0)
    robot.add_prismatic("rail", parent="base", child="slide", lower=-0.1, upper=0.2)
    posture = posture_of(kempe.Model(robot))
    (rail,) = posture.controls
    assert isinstance(rail, Coordinate)
    assert (rail.unit, rail.lower, rail.upper) == ("m", -0.1, 0.2)
    assert posture.move(rail, 0.2) is None
    posture.set(np.array([0.25]))
    assert posture.move(rail, 0.22) is None, "the way back is open"
    obstacle = posture.move(rail, 0.3)
    assert obstacle == 'joint "rail" is at its limit (-0.1 to 0.2).'


def test_joints_that_follow_keep_to_their_limits() -> None:
    model = geared(lower=-0.5, upper=0.4)
    posture = posture_of(model)
    (motor,) = posture.controls
    obstacle = posture.move(motor, 10.0)
    assert obstacle == 'joint "joint" is at its limit (-0.5 to 0.4).'
    assert posture.value(motor) == pytest.approx(4.0, abs=1e-3)
