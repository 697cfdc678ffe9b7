"""The command line, through the program that is installed."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from test_loading import PENDULUM

import kempe
from kempe import cli

PROGRAM = Path(sys.executable).parent / "kempe"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(PROGRAM), *arguments], capture_output=True, text=True, timeout=60, check=False)


def test_info_prints_the_model() -> None:
    result = run("info", "four_bar")
    assert result.returncode == 0
    assert result.stdout.rstrip() == str(kempe.robots.load("four_bar")).rstrip()


def test_info_of_a_file_prints_its_warnings(given_robots: Path) -> None:
    file = given_robots / "mini_cheetah.urdf"
    result = run("info", str(file), "--floating-base")
    assert result.returncode == 0
    model = kempe.load(file, floating_base=True)
    assert str(model).rstrip() in result.stdout
    for warning in model.warnings:
        assert warning in result.stdout + result.stderr


def test_info_of_a_chain() -> None:
    assert "link" in run("info", "geared_chain", "-n", "3").stdout
    assert run("info", "geared_chain", "-n", "0").returncode == 1


def test_unknown_robot_is_named_with_the_known_ones() -> None:
    result = run("info", "no_such_robot")
    assert result.returncode == 1
    assert "no_such_robot" in result.stderr
    assert "mini_cheetah" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("command", ["info", "check"])
def test_bad_file_is_reported(tmp_path: Path, command: str) -> None:
    file = tmp_path / "broken.urdf"
    file.write_text("<robot name='x'><link")
    result = run(command, str(file))
    assert result.returncode == 1
    assert "broken.urdf" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("robot", ["tello", "planar_leg", "belt_chain"])
def test_check_measures_the_loops(robot: str) -> None:
    result = run("check", robot, "--samples", "20")
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith(f"{robot}: ")
    residuals = [float(number) for number in re.findall(r"residual (\S+)", result.stdout)]
    assert len(residuals) == 2
    assert max(residuals) <= 1e-12
    named = set(re.findall(r'loop "(.*?)"', result.stdout))
    assert named <= set(kempe.robots.load(robot).loop_row_names)


def test_check_prints_warnings() -> None:
    assert "triangle inequality" in run("check", "mini_cheetah", "--samples", "1").stderr


def test_check_without_loops(tmp_path: Path) -> None:
    file = tmp_path / "pendulum.urdf"
    file.write_text(PENDULUM)
    result = run("check", str(file))
    assert result.returncode == 0
    assert "No loops" in result.stdout


def test_check_refuses_no_samples() -> None:
    result = run("check", "four_bar", "--samples", "0")
    assert result.returncode == 1
    assert "--samples" in result.stderr


def test_check_fails_where_a_loop_stays_open(
        monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(cli, "CLOSED", -1.0)
    assert cli.main(["check", "four_bar", "--samples", "3"]) == 1
    assert '"loop1" is open' in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["--help"], ["info", "--help"], ["check", "--help"]])
def test_help(arguments: list[str]) -> None:
    result = run(*arguments)
    assert result.returncode == 0
    assert "usage: kempe" in result.stdout


def test_version() -> None:
    assert run("--version").stdout.strip() == f"kempe {kempe.__version__}"
    header = Path(__file__).resolve().parents[2] / "include" / "kempe" / "version.hpp"
    assert f'"{kempe.__version__}"' in header.read_text()


def test_module_is_the_same_program() -> None:
    result = subprocess.run([sys.executable, "-m", "kempe", "info", "no_such_robot"],
                            capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 1
