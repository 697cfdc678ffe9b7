"""Forces in joints and loops during simulations, with everything that acts."""

import dataclasses
import pickle
from pathlib import Path

import numpy as np
import pytest
from program import ROOT

import kempe


def cut_four_bar() -> kempe.Model:
    whole = kempe.robots.load("four_bar")
    mechanism = whole.mechanism
    for loop in mechanism.loops:
        loop.cut = True
    mechanism.start_pose = {joint: whole.neutral()[i] for i, joint in enumerate(whole.q_names)}
    return kempe.Model(mechanism)


MODELS = {
    "leg": lambda: kempe.load(ROOT / "examples" / "geared_four_bar_leg.urdf"),
    "four_bar": lambda: kempe.robots.load("four_bar"),
    "tello": lambda: kempe.robots.load("tello"),
    "cut": cut_four_bar,
}


def build(name: str) -> kempe.Model:
    return MODELS[name]()


def swinging(model: kempe.Model) -> kempe.Simulator:
    """With a spring, friction, a motor with an armature, a push from outside and a controller."""
    simulator = kempe.Simulator(model)
    joint = next(name for name in model.joint_names if name in model.v_names)
    simulator.add_spring(joint, stiffness=3.0, rest=0.1)
    simulator.add_friction(joint, coulomb=0.05)
    motor = simulator.add_motor(joint, gear=6.0, rotor_inertia=1e-3)
    simulator.set_motor_torque(motor, 0.2)
    simulator.set_external_forces({model.frame_names[-1]: [1, 2, 3, 0.1, 0.2, 0.3]})
    simulator.set_forces(np.full(model.nv, 0.1))
    return simulator


@pytest.mark.parametrize("name", MODELS)
def test_forces_of_a_run_are_those_of_the_simulator(name: str) -> None:
    model = build(name)
    simulator = swinging(model)
    joints, loops = [simulator.joint_forces()], [simulator.loop_forces()]
    for _ in range(5):
        simulator.step(0.01)
        joints.append(simulator.joint_forces())
        loops.append(simulator.loop_forces())
    run = swinging(model).run(0.05, dt=0.01)
    assert list(run.joint_forces) == list(model.joint_names)
    assert list(run.loop_forces) == [loop.name for loop in model.loops]
    for joint, forces in run.joint_forces.items():
        assert forces.shape == (len(run), 6)
        np.testing.assert_allclose(forces, [each[joint] for each in joints], rtol=1e-9, atol=1e-9)
    for loop, forces in run.loop_forces.items():
        np.testing.assert_allclose(forces, [each[loop] for each in loops], rtol=1e-9, atol=1e-9)
    assert max(np.abs(forces).max() for forces in run.joint_forces.values()) > 1.0


def test_without_elements_they_are_those_of_the_model() -> None:
    model = build("leg")
    simulator = kempe.Simulator(model)
    tau = np.linspace(0.2, 0.4, model.nv)
    simulator.set_forces(tau)
    simulator.step(0.01)
    expected = model.joint_forces(simulator.q, simulator.v, tau, reference="local")
    for joint, force in simulator.joint_forces(reference="local").items():
        np.testing.assert_allclose(force, expected[joint], rtol=1e-9, atol=1e-9)
    loops = model.loop_forces(simulator.q, simulator.v, tau)
    for loop, force in simulator.loop_forces().items():
        np.testing.assert_allclose(force, loops[loop], rtol=1e-9, atol=1e-9)


def test_a_held_pendulum_rests_on_its_bearing() -> None:
    """2 kg, 0.5 m from the axis: 19.62 N, and 9.81 N·m of friction."""
    mechanism = kempe.Mechanism("bar")
    mechanism.add_body("world")
    mechanism.add_body("bar", mass=2.0, center_of_mass=(0.5, 0, 0), inertia=(0.0, 0.04, 0.04))
    mechanism.add_joint("hinge", "revolute", parent="world", child="bar", axis=(0, 1, 0),
                        friction=15.0)
    run = kempe.simulate(kempe.Model(mechanism), duration=0.1)
    forces = run.joint_forces["hinge"]
    np.testing.assert_allclose(forces, np.tile([0, 0, 19.62, 0, -9.81, 0], (len(run), 1)),
                               atol=1e-10)


def test_saved_runs_need_their_model(tmp_path: Path) -> None:
    model = build("four_bar")
    simulator = swinging(model)
    run = simulator.run(0.05, dt=0.01)
    path = tmp_path / "run.npz"
    run.save(path)
    with pytest.raises(ValueError, match=r"Run\.load\(path, model\)"):
        kempe.Run.load(path).joint_forces  # noqa: B018
    loaded = kempe.Run.load(path, simulator.model)
    for joint, forces in loaded.joint_forces.items():
        np.testing.assert_array_equal(forces, run.joint_forces[joint])
    without_armature = kempe.Run.load(path, model)
    with pytest.raises(ValueError, match="armatures"):
        without_armature.loop_forces  # noqa: B018
    with pytest.raises(ValueError, match="leg"):
        kempe.Run.load(path, build("leg"))


def test_saved_runs_with_other_sizes_are_refused(tmp_path: Path) -> None:
    model = build("four_bar")
    run = kempe.simulate(model, duration=0.01)
    assert run.spanning_forces is not None
    path = tmp_path / "run.npz"
    dataclasses.replace(run, spanning_forces=run.spanning_forces[:, :1]).save(path)
    with pytest.raises(ValueError, match="spanning_forces"):
        kempe.Run.load(path, model).joint_forces  # noqa: B018


def test_earlier_runs_have_none(tmp_path: Path) -> None:
    model = build("four_bar")
    path = tmp_path / "run.npz"
    kempe.simulate(model, duration=0.01).save(path)
    with np.load(path) as archive:
        content = {name: archive[name] for name in archive
                   if name not in ("spanning_velocities", "spanning_forces", "body_forces")}
    np.savez(path, **content)
    earlier = kempe.Run.load(path, model)
    with pytest.raises(ValueError, match="Simulate again"):
        earlier.joint_forces  # noqa: B018


def test_runs_are_pickled_with_their_model() -> None:
    run = kempe.simulate(build("four_bar"), duration=0.01)
    copy = pickle.loads(pickle.dumps(run))
    for joint, forces in run.joint_forces.items():
        np.testing.assert_array_equal(copy.joint_forces[joint], forces)
