"""`kempe linearize`: matrices and poles of small motions."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from program import kempe_program

import kempe
from kempe.cli import linearize


def pendulum(folder: Path, damping: float = 0.0) -> Path:
    """A point mass of 2 kg, 0.5 m below a pivot."""
    mechanism = kempe.Mechanism("pendulum")
    mechanism.add_body("ground")
    mechanism.add_body("bob", mass=2.0, center_of_mass=(0, 0, -0.5))
    mechanism.add_joint("pivot", "continuous", parent="ground", child="bob", axis=(0, 1, 0),
                        damping=damping)
    file = folder / "pendulum.urdf"
    kempe.write_urdf(mechanism, file)
    return file


def report_of(*arguments: str | Path) -> dict:
    result = kempe_program("linearize", *arguments, "--json")
    assert result.returncode == 0, result.stderr
    return dict(json.loads(result.stdout))


def test_poles_of_a_pendulum(tmp_path: Path) -> None:
    """ω² = g/l, and D = d / (2 m l² ω)."""
    report = report_of(pendulum(tmp_path, damping=0.4), "--continuous")
    assert report["equilibrium"]
    omega = np.sqrt(9.81 / 0.5)
    for pole in report["poles"]:
        np.testing.assert_allclose(pole["frequency"], omega / (2 * np.pi), rtol=1e-12)
        np.testing.assert_allclose(pole["damping_ratio"], 0.4 / (2 * 2 * 0.25 * omega), rtol=1e-10)


def test_poles_of_a_step_are_those_of_the_motion(tmp_path: Path) -> None:
    file = pendulum(tmp_path, damping=0.4)
    step = report_of(file, "--dt", "1e-3", "--integrator", "rk4")
    motion = report_of(file, "--continuous")
    for found, expected in zip(step["poles"], motion["poles"], strict=True):
        np.testing.assert_allclose(found["frequency"], expected["frequency"], rtol=1e-9)
        np.testing.assert_allclose(found["continuous_real"], expected["real"], rtol=1e-8)
        assert found["modulus"] < 1


def test_an_unstable_pose(tmp_path: Path) -> None:
    report = report_of(pendulum(tmp_path), "--at", "pivot=3.141592653589793", "--continuous")
    assert report["equilibrium"]
    np.testing.assert_allclose(sorted(pole["real"] for pole in report["poles"]),
                               [-np.sqrt(9.81 / 0.5), np.sqrt(9.81 / 0.5)], rtol=1e-9)


def test_says_where_there_is_no_equilibrium(tmp_path: Path) -> None:
    result = kempe_program("linearize", pendulum(tmp_path), "--velocity", "pivot=1")
    assert result.returncode == 0
    assert "no equilibrium" in result.stdout
    result = kempe_program("linearize", "mini_cheetah")
    assert result.returncode == 0
    assert "no equilibrium" in result.stdout
    assert "--fixed-base" in result.stderr
    assert "no equilibrium" not in kempe_program("linearize", "four_bar").stdout


def test_writes_the_matrices(tmp_path: Path) -> None:
    file = tmp_path / "leg.npz"
    result = kempe_program("linearize", "planar_leg", "--at", "random:1", "--dt", "0.002",
                           "--output", file)
    assert result.returncode == 0, result.stderr
    saved = np.load(file)
    model = kempe.robots.load("planar_leg")
    simulator = kempe.Simulator(model, "rk4")
    simulator.set_state(saved["q"], saved["v"])
    simulator.set_forces(saved["tau"])
    A, B = simulator.linearize(0.002)
    np.testing.assert_array_equal(saved["A"], A)
    np.testing.assert_array_equal(saved["B"], B)
    assert list(saved["v_names"]) == model.v_names
    np.testing.assert_allclose(np.sort_complex(saved["poles"]),
                               np.sort_complex(np.linalg.eigvals(A)))


def test_rounding_of_poles_is_not_printed() -> None:
    for arguments in (["tello", "--at", "random:3"],
                      ["mini_cheetah", "--torque", "none", "--continuous"]):
        result = kempe_program("linearize", *arguments)
        assert result.returncode == 0, result.stderr
        dust = r"e-(1[5-9]|[2-9]\d)|(^|\s)-0(\.0*)?(\s|$)"
        assert not re.search(dust, result.stdout), result.stdout


@pytest.mark.parametrize("options", [["--continuous"], [], ["--dt", "0.01"]])
def test_rounding_of_double_poles_is_no_oscillation(options: list[str]) -> None:
    result = kempe_program("linearize", "planar_leg", *options, "--json")
    assert result.returncode == 0, result.stderr
    continuous = [(row.get("continuous_real", row["real"]),
                   row.get("continuous_imaginary", row["imaginary"]))
                  for row in json.loads(result.stdout)["poles"]]
    zeros = [pole for pole in continuous if np.hypot(*pole) < 1e-2]
    assert len(zeros) == 2
    assert all(pole == (0, 0) for pole in zeros)


def test_poles_that_are_small_stay() -> None:
    for small in (1e-6, 1e-4, 1.0):
        A = np.array([[0, 1], [-small**2, 0]])
        poles, least = linearize.rounding(A)
        found = linearize.without_rounding(poles, least, discrete=False)
        np.testing.assert_allclose(np.abs(found), small)
        poles, least = linearize.rounding(np.diag([small, 1e4]))
        assert linearize.without_rounding(poles, least, discrete=False)[0] == small


def test_dry_friction_is_smoothed_or_left_out(tmp_path: Path) -> None:
    mechanism = kempe.read_mechanism(pendulum(tmp_path))
    mechanism.joints[0].friction = 0.1
    file = tmp_path / "rough.urdf"
    kempe.write_urdf(mechanism, file)
    held = kempe_program("linearize", file)
    assert held.returncode == 1
    assert "--slip-speed" in held.stderr
    bare = json.loads(kempe_program("linearize", pendulum(tmp_path), "--continuous",
                                    "--json").stdout)
    without = kempe_program("linearize", file, "--continuous", "--no-friction", "--json")
    assert without.returncode == 0, without.stderr
    assert json.loads(without.stdout)["A"] == bare["A"]
    smooth = kempe_program("linearize", file, "--continuous", "--slip-speed", "0.5", "--json")
    assert smooth.returncode == 0, smooth.stderr
    found = json.loads(smooth.stdout)
    np.testing.assert_allclose(found["A"][1][1] - bare["A"][1][1], -0.2 * bare["B"][1][0])
    wrong = kempe_program("linearize", file, "--slip-speed", "0")
    assert wrong.returncode == 2
    assert "--slip-speed" in wrong.stderr


def test_errors_are_explained(tmp_path: Path) -> None:
    for arguments, text in [
        (["four_bar", "--dt", "0"], "--dt"),
        (["four_bar", "--continuous", "--dt", "5"], "--dt is for steps"),
        (["four_bar", "--continuous", "--integrator", "rk4"], "--integrator is for steps"),
        (["four_bar", "--at", "nowhere"], '--at: "nowhere"'),
        (["four_bar", "--output", str(tmp_path / "a.txt")], "--output"),
    ]:
        result = kempe_program("linearize", *arguments)
        assert result.returncode == 2
        assert text in result.stderr


def test_examples_of_the_help(tmp_path: Path) -> None:
    for line in linearize.EXAMPLES.splitlines()[1:]:
        arguments = line.split()[1:]
        if arguments:
            result = kempe_program(*[tmp_path / word if word.endswith(".npz") else word
                                     for word in arguments])
            assert result.returncode == 0, result.stderr
