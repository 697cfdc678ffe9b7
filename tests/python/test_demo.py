"""`make demo` and the pages show robots that move."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from program import ROOT, kempe_program

import kempe


def passive_runs() -> list[list[str]]:
    """Arguments of the simulations of the demo that have no controller, without their files."""
    script = (ROOT / "tools" / "demo.sh").read_text().replace("\\\\\n", " ")
    commands = re.findall(r'"(kempe simulate [^"]*)"', script)
    plain = [re.sub(r"--(out|plot|html) \S+", "", command) for command in commands]
    return [shlex.split(command)[1:] for command in plain if "--controller" not in command]


def test_the_demo_lets_a_robot_swing_under_gravity(tmp_path: Path) -> None:
    runs = passive_runs()
    assert runs
    for arguments in runs:
        result = kempe_program(*arguments, "--out", tmp_path / "run.npz")
        assert result.returncode == 0, result.stderr
        run = kempe.Run.load(tmp_path / "run.npz")
        assert np.ptp(run.q, axis=0).max() > 1.0  # rad; the base is held
        assert np.ptp(run.kinetic) > 0.1  # J
        assert run.energy_drift < 1e-6


@pytest.mark.parametrize("name", ["four_bar", "six_bar", "planar_leg", "five_bar", "geared_chain"])
def test_robots_that_pages_let_go_of_swing(name: str) -> None:
    model = kempe.robots.load(name)
    run = kempe.simulate(model, duration=0.5, dt=1e-3)
    assert np.ptp(run.q, axis=0).max() > 0.3
    assert run.loop_error.max() < 1e-9
