"""Forces between bodies: names, shapes, options and errors. The laws are tested in C++."""

import copy
import pickle

import numpy as np
import pytest

import kempe
from algorithms import ROBOTS, close, random_states


def pendulum() -> kempe.Model:
    robot = kempe.Mechanism("pendulum")
    robot.add_body("ground")
    robot.add_body("bob", mass=2.0, center_of_mass=(0, 0, -0.5), inertia=(0.01, 0.02, 0.03))
    robot.add_revolute("pin", parent="ground", child="bob", axis=(0, 1, 0))
    return kempe.Model(robot)


def geared() -> kempe.Model:
    robot = kempe.Mechanism("geared")
    robot.add_body("ground")
    robot.add_body("link", mass=1.0, center_of_mass=(0.1, 0, 0), inertia=(0.1, 0.1, 0.2))
    robot.add_body("rotor", mass=0.1, inertia=(1e-4, 1e-4, 2e-4))
    robot.add_revolute("joint", parent="ground", child="link", axis=(0, 0, 1), independent=True)
    robot.add_revolute("motor", parent="ground", child="rotor", axis=(0, 0, 1))
    robot.add_gear("gear", "motor", 9.0, "joint")
    return kempe.Model(robot)


def test_pin_of_a_pendulum() -> None:
    model = pendulum()
    force = model.joint_forces([0.0], [3.0], [0.0])["pin"]
    close(force, np.array([0, 0, 2.0 * (9.81 + 9.0 * 0.5), 0, 0, 0]), 1e-12)
    # Hanging at rest, with the same acceleration given.
    close(model.joint_forces([0.0], [0.0], a=[0.0])["pin"], np.array([0, 0, 19.62, 0, 0, 0]))
    # In the child's frame, rotated by a quarter turn.
    local = model.joint_forces([np.pi / 2], [0.0], a=[0.0], reference="local")["pin"]
    close(local, np.array([-19.62, 0, 0, 0, 9.81, 0]))
    close(model.joint_forces([np.pi / 2], [0.0], a=[0.0], frame="bob")["pin"], local)


def test_teeth_of_a_gear() -> None:
    model = geared()
    loop = model.loops[0]
    assert (loop.name, loop.kind, loop.rows, loop.force_is_unique) == ("gear", "coupling", 1, True)
    assert sorted(loop.coordinates) == ["joint", "motor"] and loop.bodies == []
    motor, joint = loop.coordinates.index("motor"), loop.coordinates.index("joint")
    assert model.clusters[0].rotor_joints == ["motor"]
    acceleration = 1.0 / (0.21 + 81 * 2e-4)
    a, _, loops = model.forces([0.3], [0.0], [1.0], actuation="rotors")
    assert a[0] == pytest.approx(acceleration)
    assert loops["gear"][joint] == pytest.approx(0.21 * acceleration)
    assert loops["gear"][motor] == pytest.approx(-0.21 * acceleration / 9)
    spanning = np.zeros(model.nv_spanning)
    spanning[model.joint_velocity_index("motor")] = 1.0 / 9
    close(model.loop_forces([0.3], [0.0], [0.0], spanning=spanning)["gear"], loops["gear"], 1e-12)


@pytest.mark.parametrize("name", ROBOTS)
def test_all_from_one_evaluation(name: str) -> None:
    model = kempe.robots.load(name)
    s = random_states(model, 3)
    a, joints, loops = model.forces(s.q, s.v, s.tau)
    assert list(joints) == model.joint_names
    assert list(loops) == [loop.name for loop in model.loops]
    close(a, model.forward_dynamics(s.q, s.v, s.tau), 1e-12)
    for joint, force in model.joint_forces(s.q, s.v, s.tau).items():
        assert force.shape == (3, 6)
        np.testing.assert_array_equal(force, joints[joint])
    for loop, force in model.loop_forces(s.q, s.v, s.tau).items():
        np.testing.assert_array_equal(force, loops[loop])
    # Inverse dynamics of the motion that tau causes returns that tau and these forces.
    tau, again, _ = model.forces(s.q, s.v, a=a)
    scale = max(1.0, max(np.abs(force).max() for force in joints.values()))
    np.testing.assert_allclose(tau, s.tau, rtol=0, atol=1e-9 * scale)
    for joint, force in again.items():
        np.testing.assert_allclose(force, joints[joint], rtol=0, atol=1e-9 * scale)


def test_weight_of_a_robot_is_on_its_base() -> None:
    model = kempe.robots.load("mini_cheetah")
    q = model.random_configuration(1)
    wrench = model.joint_forces(q, np.zeros(model.nv), a=np.zeros(model.nv))[model.joint_names[0]]
    close(wrench[:3], -model.total_mass * model.gravity)


def test_redundant_loops_say_so() -> None:
    model = kempe.robots.load("four_bar")
    assert not model.loops[0].force_is_unique
    assert model.loops[0].kind == "joint" and len(model.loops[0].bodies) == 2


def test_loops_can_be_copied_and_pickled() -> None:
    for loop in kempe.robots.load("tello").loops:
        for other in (copy.copy(loop), copy.deepcopy(loop), pickle.loads(pickle.dumps(loop))):
            assert other.name == loop.name and other.kind == loop.kind
            assert other.coordinates == loop.coordinates and other.bodies == loop.bodies
    assert repr(geared().loops[0]) == '<kempe.Loop "gear": coupling>'
    cluster = pickle.loads(pickle.dumps(geared().clusters[0]))
    assert cluster.rotor_joints == ["motor"] and cluster.mobility == 1


def test_what_is_refused() -> None:
    model = geared()
    with pytest.raises(ValueError, match="tau: give tau, or the accelerations as a="):
        model.joint_forces([0.0], [0.0])
    with pytest.raises(ValueError, match="tau and a are both given"):
        model.joint_forces([0.0], [0.0], [1.0], a=[1.0])
    with pytest.raises(ValueError, match="reference and frame are both given"):
        model.joint_forces([0.0], [0.0], [1.0], reference="local", frame="link")
    with pytest.raises(ValueError, match='there is no "motors"; there are "independent"'):
        model.loop_forces([0.0], [0.0], [1.0], actuation="motors")
    with pytest.raises(ValueError, match="reference: expected a word or None, got 3"):
        model.loop_forces([0.0], [0.0], [1.0], reference=3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="spanning"):
        model.loop_forces([0.0], [0.0], [1.0], spanning=[0.0, 0.0, 0.0])
    with pytest.raises(ValueError, match="tau"):
        model.joint_forces([0.0], [0.0], [np.nan])
    with pytest.raises(ValueError, match='frame "nose"'):
        model.joint_forces([0.0], [0.0], [1.0], frame="nose")
    with pytest.raises(ValueError, match="spanning has 3 states"):
        model.joint_forces(np.zeros((2, 1)), [0.0], [1.0], spanning=np.zeros((3, 2)))
