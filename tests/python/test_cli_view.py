"""`kempe view`: what can go wrong before a browser is involved."""

from pathlib import Path

import pytest
from program import kempe_program

import kempe


@pytest.mark.parametrize("port", ["0", "-1", "65536", "http"])
def test_wrong_ports(port: str) -> None:
    result = kempe_program("view", "four_bar", "--port", port)
    assert result.returncode == 2
    assert "--port" in result.stderr


def test_runs_of_other_robots_are_refused(tmp_path: Path) -> None:
    kempe.simulate(kempe.robots.load("six_bar"), duration=0.01).save(tmp_path / "run.npz")
    result = kempe_program("view", "four_bar", "--run", "run.npz", folder=tmp_path)
    assert result.returncode == 2
    assert "run.npz" in result.stderr
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
