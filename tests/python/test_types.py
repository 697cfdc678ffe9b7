"""The package passes a type checker, and so does code that uses it."""

import subprocess
import sys
from pathlib import Path

import pytest
from program import STUDIES

USER = '''
import numpy as np
import kempe

model: kempe.Model = kempe.robots.load("tello")
q = model.random_configuration(seed=1, size=3)
tau: np.ndarray = model.inverse_dynamics(q, [0.0] * model.nv, np.zeros(model.nv),
                                         external={"torso": [0, 0, 1, 0, 0, 0]})
mechanism = kempe.Mechanism("arm")
body: kempe.Body = mechanism.add_body("link", mass=1.0, center_of_mass=(0, 0, 1))
body.inertia = (1, 1, 1)
joint: kempe.Joint = mechanism.add_revolute("pivot", parent="base", child="link", axis=(0, 1, 0))
mechanism.add_function("f", ["pivot"], 1, lambda q: np.sin(q[0]))
R, p = model.frame_placement(q, "torso")
forces: dict[str, np.ndarray] = model.joint_forces(q, [0.0] * model.nv, a=tau, frame="torso")
loop: kempe.Loop = model.loops[0]
acceleration, joints, loops = model.forces(q, np.zeros(model.nv), tau, actuation="rotors")
simulator = kempe.Simulator(model.with_independent(model.v_names), "adaptive")
simulator.set_controller(lambda t, q, v: 0 * v)
motor: int = simulator.add_motor("left_hip_yaw", gear=6.0)
run: kempe.Run = simulator.run(0.1, dt=0.01)
work: dict[str, float] = simulator.work
mechanism.add_loop("l", "fixed", predecessor="base", successor="link", cut=True).cut = None
constraints = kempe.Constraints(model)
constraints.connect("grasp", "fixed", successor="torso", successor_xyz=[0, 0, 1])
constraints.prescribe("drive", ("j", 0), lambda t: (t, 1.0, 0.0))
constraints.function("f", ["j"], 1, lambda q, t: q[0] - np.sin(t))
constraints.enable("grasp", on=False)
a, multipliers = model.constrained_forward_dynamics(q, q, q, constraints, time=0.5)
after, impulses = model.project_velocities(q, a, constraints)
held: np.ndarray = multipliers[constraints.rows_of("grasp")]
cut: list[str] = model.cut_loops
driven = kempe.mjcf.load("robot.xml", floating_base=True)
motors: list[str] = driven.with_independent(["hip"]).actuator_names
tau = driven.actuator_torques(driven.keyframes["home"], [0.0] * driven.nv, {motors[0]: 1.0})
either: kempe.Mechanism = kempe.read_mechanism("robot.urdf")
'''


def checked(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(folder / "cache"),
         *arguments],
        capture_output=True, text=True)


@pytest.mark.parametrize("package", ["kempe", "kempe_studies"])
def test_the_package(package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MYPYPATH", str(STUDIES))
    result = checked(tmp_path, "--package", package)
    assert result.returncode == 0, result.stdout


def test_code_that_uses_it(tmp_path: Path) -> None:
    file = tmp_path / "user.py"
    file.write_text(USER)
    result = checked(tmp_path, str(file))
    assert result.returncode == 0, result.stdout
    file.write_text(USER + 'model.forward_dynamics(q, "fast", q, methd="cluster")\n')
    result = checked(tmp_path, str(file))
    assert "methd" in result.stdout
