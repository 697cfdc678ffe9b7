"""States by names of joints: Model.configuration, Model.velocity, set_state, simulate, --start."""

import json
from pathlib import Path

import numpy as np
import pytest
from program import ROOT, kempe_program
from test_simulator import crank_slider

import kempe

LEG = ROOT / "examples" / "geared_four_bar_leg.urdf"


def position(model: kempe.Model, q: np.ndarray, joint: str) -> float:
    return model.spanning_positions(q)[model.spanning_position_names.index(joint)]


def rate(model: kempe.Model, q: np.ndarray, v: np.ndarray, joint: str) -> float:
    return model.spanning(q, v)[1][model.spanning_velocity_names.index(joint)]


@pytest.mark.parametrize("named", [
    {"hip": 0.3}, {"knee": -0.4}, {"hip": -0.2, "knee": 0.5}, {"hip_motor": 2.0, "knee": 0.1},
    {"knee_motor": [1.5]}, {},
])
def test_joints_of_a_leg(named: dict) -> None:
    model = kempe.load(LEG)
    q = model.configuration(named)
    assert np.abs(model.loop_residual(q)).max() < 1e-11
    for joint, value in named.items():
        assert position(model, q, joint) == pytest.approx(np.ravel(value)[0], abs=1e-12)
    if "knee" not in named and "knee_motor" not in named:
        neutral = model.spanning_positions(model.neutral())
        index = model.spanning_position_names.index("knee")
        assert position(model, q, "knee") == pytest.approx(neutral[index], abs=1e-12)
    v = model.velocity(q, dict.fromkeys(named, 0.5))
    for joint in named:
        assert rate(model, q, v, joint) == pytest.approx(0.5, abs=1e-9)


def test_set_state() -> None:
    model = kempe.load(LEG)
    simulator = kempe.Simulator(model)
    simulator.set_state({"hip": 0.3, "knee": 0.2}, {"hip": 1.0}, time=3.0)
    assert simulator.time == 3.0
    q = model.configuration({"hip": 0.3, "knee": 0.2})
    np.testing.assert_array_equal(simulator.q, q)
    np.testing.assert_allclose(simulator.v, model.velocity(q, {"hip": 1.0}), atol=1e-12)
    v = simulator.v
    simulator.set_state(q, {"hip": 1.0})
    np.testing.assert_allclose(simulator.v, v, atol=1e-9)
    simulator.set_state({"hip": 0.3, "knee": 0.2}, v)
    np.testing.assert_allclose(simulator.q, q, atol=1e-12)
    simulator.set_state(q)
    assert not simulator.v.any()


def test_simulate() -> None:
    model = kempe.load(LEG)
    run = kempe.simulate(model, {"hip": 0.3}, {"knee": 1.0}, duration=0.01)
    q = model.configuration({"hip": 0.3})
    same = kempe.simulate(model, q, model.velocity(q, {"knee": 1.0}), duration=0.01)
    np.testing.assert_allclose(run.q, same.q, atol=1e-10)


def test_simulate_from_a_dead_point() -> None:
    model = crank_slider("slide")
    with pytest.raises(kempe.SingularityError):
        model.mass_matrix(model.configuration({"crank": 0.0}))
    run = kempe.simulate(model, {"crank": 0.0}, {"crank": 3.0}, duration=0.1)
    regular = crank_slider("crank")
    same = kempe.simulate(regular, {"crank": 0.0}, {"crank": 3.0}, duration=0.1)
    assert model.q_names == regular.q_names
    np.testing.assert_allclose(run.q, same.q, atol=1e-6)
    assert not kempe.simulate(model, {"crank": 0.0}, duration=0.01).v[0].any()


def test_all_joints_of_bundled_robots() -> None:
    """Names of all joints, or of the independent ones, lead to a configuration."""
    for name in ("tello", "six_bar", "planar_leg", "mini_cheetah"):
        model = kempe.robots.load(name)
        q = model.random_configuration(5)
        positions = dict(zip(model.spanning_position_names, model.spanning_positions(q),
                             strict=True))
        named: dict[str, list[float]] = {}
        for coordinate, value in positions.items():
            joint = coordinate if coordinate in model.joint_names else coordinate.rpartition(".")[0]
            named.setdefault(joint, []).append(value)
        np.testing.assert_allclose(model.configuration(named), q, atol=1e-6, err_msg=name)


def test_errors() -> None:
    model = kempe.load(LEG)
    simulator = kempe.Simulator(model)
    with pytest.raises(ValueError, match='position of "kne".*Did you mean "knee"'):
        simulator.set_state({"kne": 0.3})
    with pytest.raises(ValueError, match='velocity of "elbow".*It has the joints hip'):
        simulator.set_state({"hip": 0.3}, {"elbow": 1.0})
    with pytest.raises(ValueError, match="hip.*2 number"):
        model.configuration({"hip": [0.3, 0.2]})
    with pytest.raises(ValueError, match="positions: expected"):
        model.configuration([0.3])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="not finite"):
        model.configuration({"hip": float("nan")})
    with pytest.raises(ValueError, match="nearest velocity"):
        model.velocity(model.neutral(), {"knee": 1.0, "knee_motor": 0.0})
    slider = crank_slider("crank")
    with pytest.raises(kempe.AssemblyError, match='"slide" cannot be at 0.7: loop "pin" stays open '
                                                  "by .*nearest position found is 0.4") as caught:
        slider.configuration({"slide": 0.7})
    assert caught.value.loop == "pin"


def start(tmp_path: Path, robot: str | Path, text: str) -> tuple[kempe.Run, dict]:
    result = kempe_program("simulate", robot, f"--start={text}", "--duration", "0.002", "--json",
                           "--out", "run.npz", folder=tmp_path)
    assert result.returncode == 0, result.stderr
    return kempe.Run.load(tmp_path / "run.npz"), json.loads(result.stdout)


def test_command_line(tmp_path: Path) -> None:
    run, report = start(tmp_path, LEG, "hip=-0.3,knee=2e-1")
    np.testing.assert_array_equal(run.q[0], kempe.load(LEG).configuration(
        {"hip": -0.3, "knee": 0.2}))
    assert report["start"] == "hip=-0.3,knee=2e-1"
    run, _ = start(tmp_path, "tello", "torso-to-ground=0:0:2:0:0:0:1")
    np.testing.assert_array_equal(run.q[0][:7], [0, 0, 2, 0, 0, 0, 1])
    run, _ = start(tmp_path, "tello", "torso-to-ground.z=1.5")
    assert run.q[0][2] == 1.5


def test_odd_names_on_the_command_line(tmp_path: Path) -> None:
    mechanism = kempe.Mechanism("odd")
    mechanism.add_body("ground")
    names = ["a", "a=1,b", "x, y", "-c"]
    parent = "ground"
    for number, name in enumerate(names):
        child = f"link{number}"
        mechanism.add_body(child, mass=1.0, inertia=(1, 1, 1))
        mechanism.add_revolute(name, parent=parent, child=child)
        parent = child
    kempe.write_urdf(mechanism, tmp_path / "odd.urdf")
    run, _ = start(tmp_path, "odd.urdf", "a=0.5,a=1,b=2,x, y=-3,-c=4")
    assert dict(zip(run.q_names, run.q[0], strict=True)) == {
        "a": 0.5, "a=1,b": 2.0, "x, y": -3.0, "-c": 4.0}


@pytest.mark.parametrize("text, message", [
    ("kne=0.3", 'Did you mean "knee"?'), ("hip=much", '"much" is not a number'),
    ("hip=", '"" is not a number'), ("hip=1,hip=2", '"hip" is given twice'),
    ("hip=1,2", 'expected JOINT=X, got "2"'), ("hip=1:2", "2 number(s) are given"),
    ("hip=inf", "not finite"),
])
def test_wrong_starts(text: str, message: str) -> None:
    result = kempe_program("simulate", LEG, "--start", text)
    assert result.returncode == 2
    assert message in result.stderr


def test_components_of_joints() -> None:
    """(joint, component) names one coordinate of a joint with several, as in couplings."""
    model = kempe.robots.load("tello")
    joint = "torso-to-ground"
    q = model.configuration({(joint, 2): 1.5, "torso-to-left-shoulder-ry": 0.3})
    np.testing.assert_array_equal(
        q, model.configuration({f"{joint}.z": 1.5, ("torso-to-left-shoulder-ry", 0): 0.3}))
    v = model.velocity(q, {(joint, 2): 0.5, (joint, 3): 2.0})
    assert rate(model, q, v, f"{joint}.vz") == pytest.approx(0.5)
    assert rate(model, q, v, f"{joint}.wx") == pytest.approx(2.0)
    simulator = kempe.Simulator(model)
    simulator.set_state({(joint, 2): 1.5}, {(joint, 3): 2.0})
    assert simulator.q[2] == 1.5
    assert simulator.v[3] == pytest.approx(2.0)
    run = kempe.simulate(model, {(joint, 2): 1.5}, {(joint, 5): 1.0}, duration=1e-3)
    assert run.q[0][2] == 1.5
    assert run.v[0][5] == pytest.approx(1.0)


@pytest.mark.parametrize("named, message", [
    ({("torso-to-ground", 7): 0.0}, "components, 0 to 6"),
    ({("torso-to-ground", -1): 0.0}, "components, 0 to 6"),
    ({("torso-to-left-shoulder-ry", 1): 0.0}, "has 1 component, 0"),
    ({("torso-to-grount", 2): 0.0}, 'Did you mean "torso-to-ground"'),
    ({("torso-to-ground", "z"): 0.0}, "whole number"),
    ({("torso-to-ground",): 0.0}, "(name, component)"),
    ({("torso-to-ground", 3): 0.0}, "quaternion is needed whole"),
    ({("torso-to-ground", 2): 0.0, "torso-to-ground.z": 0.0}, "given twice"),
    ({("torso-to-ground", 2): 0.0, "torso-to-ground": [0, 0, 0, 0, 0, 0, 1]}, "given twice"),
    ({2: 0.0}, "text"),
])
def test_wrong_components(named: dict, message: str) -> None:
    model = kempe.robots.load("tello")
    with pytest.raises(ValueError) as caught:
        model.configuration(named)
    assert message in str(caught.value)


def test_velocities_on_the_command_line(tmp_path: Path) -> None:
    result = kempe_program("simulate", LEG, "--start=hip=0.3", "--velocity=knee=-2,hip=1e-1",
                           "--duration", "0.002", "--json", "--out", "run.npz", folder=tmp_path)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["velocity"] == "knee=-2,hip=1e-1"
    run = kempe.Run.load(tmp_path / "run.npz")
    model = kempe.load(LEG)
    expected = model.velocity(run.q[0], {"knee": -2.0, "hip": 0.1})
    np.testing.assert_allclose(run.v[0], expected, atol=1e-12)


def test_rest_at_a_dead_point_on_the_command_line(tmp_path: Path) -> None:
    kempe.write_urdf(crank_slider("slide").mechanism, tmp_path / "slider.urdf")
    run, _ = start(tmp_path, "slider.urdf", "crank=0")
    assert not run.v[0].any()


@pytest.mark.parametrize("options, message", [
    (["--velocity", "kne=0.3"], 'Did you mean "knee"?'),
    (["--velocity", "hip=fast"], '--velocity hip=fast: "fast" is not a number'),
    (["--velocity", "hip"], 'expected JOINT=X, got "hip"'),
    (["--velocity", "knee=1,knee_motor=0"], "nearest velocity"),
    (["--velocity", "hip=1e120"], "must be below 1e100"),
    (["--velocity", ""], "--velocity: expected JOINT=X, got nothing"),
    (["--velocity", "hip=1", "--speed", "2"], "give only one of them"),
])
def test_wrong_velocities(options: list[str], message: str) -> None:
    result = kempe_program("simulate", LEG, *options)
    assert result.returncode == 2
    assert message in result.stderr
