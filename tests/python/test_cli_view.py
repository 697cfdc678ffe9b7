"""`kempe view`: errors before a browser is involved."""

import re
import signal
import subprocess
from pathlib import Path

import pytest
from program import PROGRAM, kempe_program

import kempe

ARM = Path(__file__).resolve().parents[2] / "examples" / "flexible_arm.urdf"


@pytest.mark.parametrize("port", ["-1", "65536", "http"])
def test_wrong_ports(port: str) -> None:
    result = kempe_program("view", "four_bar", "--port", port)
    assert result.returncode == 2
    assert "--port" in result.stderr


@pytest.mark.parametrize("host", ["no-such-host.invalid", "192.0.2.1", "a..b"])
@pytest.mark.parametrize("port", ["0", "8080"])
def test_hosts_that_are_not_here(host: str, port: str) -> None:
    pytest.importorskip("viser")
    result = kempe_program("view", "four_bar", "--host", host, "--port", port, "--no-browser")
    assert result.returncode == 2
    assert result.stderr.startswith(f'kempe: host "{host}" is not ')
    assert len(result.stderr.splitlines()) == 1


def test_port_zero_is_any_that_is_free() -> None:
    pytest.importorskip("viser")
    with subprocess.Popen([str(PROGRAM), "view", "four_bar", "--port", "0", "--no-browser"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert re.match(r"four_bar is shown at http://localhost:[1-9]\d+ ", line)
        process.send_signal(signal.SIGINT)
        errors = process.communicate(timeout=30)[1]
    assert (process.returncode, errors) == (0, "")


def test_runs_of_other_robots_are_refused(tmp_path: Path) -> None:
    kempe.simulate(kempe.robots.load("six_bar"), duration=0.01).save(tmp_path / "run.recording")
    result = kempe_program("view", "four_bar", "--run", "run.recording", folder=tmp_path)
    assert result.returncode == 2
    assert "run.recording" in result.stderr
    assert "six_bar" in result.stderr


def test_missing_runs_are_named(tmp_path: Path) -> None:
    result = kempe_program("view", "four_bar", "--run", "nothing.npz", folder=tmp_path)
    assert result.returncode == 2
    assert "nothing.npz" in result.stderr


def test_missing_viewer_is_named(tmp_path: Path) -> None:
    result = kempe_program("view", "four_bar", "--no-browser", folder=tmp_path, without="viser")
    assert result.returncode == 2
    assert 'pip install "kempe[view]"' in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("command", ["view", "simulate"])
@pytest.mark.parametrize("scale", ["-1", "nan", "inf"])
def test_wrong_scales_of_deformations(command: str, scale: str) -> None:
    result = kempe_program(command, ARM, "--deformation-scale", scale)
    assert result.returncode == 2
    assert "--deformation-scale: zero or more is needed" in result.stderr


@pytest.mark.parametrize("robot, message", [
    (ARM, 'kempe: mode "rod/mode1" does not exist; choose from: 1, 2, '),
    ("four_bar", 'kempe: mode "rod/mode1": the robot has no flexible bodies')])
def test_unknown_modes_are_refused(robot: str | Path, message: str) -> None:
    pytest.importorskip("viser")
    result = kempe_program("view", robot, "--mode", "rod/mode1", "--port", "0", "--no-browser")
    assert result.returncode == 2
    assert result.stderr.startswith(message)
    assert len(result.stderr.splitlines()) == 1


def test_modes_are_listed_or_shown() -> None:
    pytest.importorskip("viser")
    refused = kempe_program("modes", ARM, "--view", "--json")
    assert refused.returncode == 2 and "--view and --json" in refused.stderr
    with subprocess.Popen([str(PROGRAM), "modes", str(ARM), "--view", "--port", "0",
                           "--no-browser"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as process:
        assert process.stdout is not None
        lines = []
        while not lines or "is shown at" not in lines[-1]:
            lines.append(process.stdout.readline())
            assert lines[-1], "the program ended"
        process.send_signal(signal.SIGINT)
        errors = process.communicate(timeout=30)[1]
    assert any("natural frequencies" in line for line in lines)
    assert (process.returncode, errors) == (0, "")
