"""Rigid end stops at the joint limits of a model, in kempe.simulate and the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from program import kempe_program

import kempe

PENDULUM = """<robot name="pendulum"><link name="ground"/>
  <link name="bar"><inertial><origin xyz="0.5 0 0"/><mass value="1"/>
    <inertia ixx="0.001" iyy="0.08" izz="0.08" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="hinge" type="revolute"><parent link="ground"/><child link="bar"/>
    <axis xyz="0 1 0"/><limit lower="-0.5" upper="0.4" effort="10" velocity="10"/></joint></robot>
"""


def test_joints_stop_at_their_limits(tmp_path: Path) -> None:
    file = tmp_path / "pendulum.urdf"
    file.write_text(PENDULUM, encoding="utf-8")
    model = kempe.load(file)
    run = kempe.simulate(model, duration=1.0, dt=1e-2, limits=True)
    assert run.q.max() < 0.4 + 1e-9
    np.testing.assert_allclose(run.q[-1], 0.4, atol=1e-9)
    # All the energy of the fall is lost: m g h with h = 0.5 sin 0.4.
    np.testing.assert_allclose(run.losses[-1], 9.81 * 0.5 * np.sin(0.4), rtol=1e-6)
    assert run.energy_drift < 1e-6
    assert not run.warnings
    assert kempe.simulate(model, duration=1.0, dt=1e-2).q.max() > 1.0  # nothing stops it


def test_the_command_line_has_end_stops(tmp_path: Path) -> None:
    (tmp_path / "pendulum.urdf").write_text(PENDULUM, encoding="utf-8")
    result = kempe_program("simulate", "pendulum.urdf", "--limits", "--duration", "1", "--out",
                           "run.npz", "--json", folder=tmp_path)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["losses"] > 1.9
    assert kempe.Run.load(tmp_path / "run.npz").q.max() < 0.4 + 1e-9
