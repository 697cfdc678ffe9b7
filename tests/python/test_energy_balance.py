"""The energy balance of runs, and what is said where it is lost."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from program import kempe_program

import kempe
from kempe.simulation import Controller

DEFAULTS = ["four_bar", "five_bar", "planar_leg", "six_bar", "tello", "mini_cheetah"]


def fast_five_bar(integrator: str) -> kempe.Run:
    model = kempe.robots.load("five_bar")
    return kempe.simulate(model, v=np.full(model.nv, 20.0), duration=0.5, dt=0.01,
                          integrator=integrator)


def held(model: kempe.Model) -> Controller:
    return lambda t, q, v: model.inverse_dynamics(q, v, 0 * v)


def test_steps_that_are_too_long_are_named() -> None:
    text = r"five_bar: steps of 0\.01 s are too long for this motion: the energy balance is off"
    with pytest.warns(kempe.SimulationWarning, match=text):
        run = fast_five_bar("rk4")
    assert run.energy_drift > 0.01
    assert len(run.warnings) == 1
    assert "at t = " in run.warnings[0]


def test_runs_that_keep_their_energy_do_not_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fast_five_bar("adaptive").energy_drift < 1e-4
        for name in DEFAULTS:
            model = kempe.robots.load(name)
            run = kempe.simulate(model, model.random_configuration(2), duration=0.2, dt=0.01)
            assert run.energy_drift < 1e-4, name
            at_rest = kempe.simulate(model, duration=0.02, dt=0.01, controller=held(model))
            assert not at_rest.warnings, name


def test_accelerations_are_recorded() -> None:
    model = kempe.robots.load("planar_leg")
    run = kempe.simulate(model, v=np.full(model.nv, 0.5), duration=0.05,
                         controller=lambda t, q, v: -0.1 * v)
    assert run.a.shape == run.v.shape
    np.testing.assert_allclose(run.a, model.forward_dynamics(run.q, run.v, run.tau), rtol=1e-9,
                               atol=1e-9)


def test_the_command_line_fails_above_a_tenth(tmp_path: Path) -> None:
    # rk4 turns the bar by 3 rad in a step, which it cannot follow.
    (tmp_path / "fast.urdf").write_text("""<robot name="fast"><link name="ground"/>
      <link name="bar"><inertial><origin xyz="0.5 0 0"/><mass value="1"/>
        <inertia ixx="0.001" iyy="0.08" izz="0.08" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="hinge" type="continuous"><parent link="ground"/><child link="bar"/>
        <axis xyz="0 1 0"/></joint></robot>""", encoding="utf-8")
    common = ["simulate", "fast.urdf", "--speed", "2", "--duration", "5", "--json"]
    bad = kempe_program(*common, "--integrator", "rk4", "--dt", "0.8", folder=tmp_path)
    assert bad.returncode == 1
    assert "too long for this motion" in bad.stderr
    report = json.loads(bad.stdout)
    assert report["energy_drift"] > 0.1
    assert report["warnings"]
    good = kempe_program(*common, "--dt", "0.8", folder=tmp_path)
    assert good.returncode == 0, good.stderr
    assert json.loads(good.stdout)["energy_drift"] < 1e-5


def test_short_steps_are_reported_while_a_run_is_under_way() -> None:
    model = kempe.robots.load("four_bar")
    seen: list[int] = []

    def progress(_: float) -> bool:
        seen.append(len(caught))
        return not caught and len(seen) < 10000

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run = kempe.simulate(model, duration=0.01, dt=1e-5, integrator="adaptive",
                             controller=lambda t, q, v: -100.0 * np.sign(v), progress=progress)
    assert seen[-1] == 1  # before the end
    assert len(caught) == 1 and issubclass(caught[0].category, kempe.SimulationWarning)
    assert "steps are very short" in str(caught[0].message)
    assert "forces jump" in run.warnings[-1]


def rocker_alone(size: float) -> kempe.Model:
    """A rocker that ends its range at a speed, while what could give way has no mass."""
    mechanism = kempe.Mechanism("four_bar")
    mechanism.add_body("ground")
    mechanism.add_body("crank_link")
    mechanism.add_body("coupler")
    moment = 0.02 * size**5
    mechanism.add_body("rocker", mass=size**3, center_of_mass=(0.175 * size, 0, 0),
                       inertia=(moment, moment, moment))
    mechanism.gravity = (0, -9.81, 0)
    mechanism.add_revolute("crank", parent="ground", child="crank_link", independent=True)
    mechanism.add_revolute("knee", parent="crank_link", child="coupler", xyz=(0.15 * size, 0, 0))
    mechanism.add_revolute("pivot", parent="ground", child="rocker", xyz=(0.5 * size, 0, 0))
    mechanism.add_loop("pin", "revolute", predecessor="coupler", successor="rocker",
                       predecessor_xyz=(0.4 * size, 0, 0), successor_xyz=(0.35 * size, 0, 0))
    return kempe.Model(mechanism)


@pytest.mark.parametrize("integrator", ["auto", "adaptive", "radau"])
@pytest.mark.parametrize("size", [1.0, 1e-3, 1e3])
def test_vanishing_inertia_is_named(size: float, integrator: str) -> None:
    second = np.sqrt(size)
    with pytest.raises(kempe.SimulationError, match="almost only bodies without mass move"), \
            warnings.catch_warnings():
        warnings.simplefilter("ignore", kempe.SimulationWarning)
        kempe.simulate(rocker_alone(size), duration=2 * second, dt=1e-3 * second,
                       integrator=integrator)


@pytest.mark.parametrize(("integrator", "dt", "cause"), [
    ("implicit_midpoint", 1e-3, "almost only bodies without mass move"),
    ("rk4", 1e-3, "steps of 0.001 s are too long"),
    # Rounding decides whether velocities exceed all bounds before the balance of energy is checked.
    ("semi_implicit_euler", 1e-3, "steps of 0.001 s are too long|larger masses and inertias"),
])
def test_steps_of_fixed_length_that_fail_blame_no_controller(
        integrator: str, dt: float, cause: str) -> None:
    with pytest.raises(kempe.SimulationError, match=cause) as stop, warnings.catch_warnings():
        warnings.simplefilter("ignore", kempe.SimulationWarning)
        kempe.simulate(rocker_alone(1.0), duration=2, dt=dt, integrator=integrator)
    assert "controller" not in str(stop.value)


@pytest.mark.parametrize(("integrator", "cause"), [
    ("auto", "springs too stiff"), ("adaptive", "springs too stiff"),
    ("radau", "springs too stiff"), ("rk4", "steps of 0.001 s are too long"),
    ("semi_implicit_euler", "steps of 0.001 s are too long"),
])
def test_stiff_springs_are_not_called_diverging(integrator: str, cause: str) -> None:
    mechanism = kempe.Mechanism("block")
    mechanism.add_body("ground")
    mechanism.add_body("block", mass=1, inertia=(1, 1, 1))
    mechanism.add_joint("slide", "prismatic", parent="ground", child="block", axis=(1, 0, 0))
    simulator = kempe.Simulator(kempe.Model(mechanism), integrator=integrator)
    simulator.add_spring("slide", 1e18)
    simulator.set_state([0.01], [0.0])
    with pytest.raises(kempe.SimulationError, match=cause) as stop, warnings.catch_warnings():
        warnings.simplefilter("ignore", kempe.SimulationWarning)
        simulator.run(0.01, 1e-3)
    assert "diverged" not in str(stop.value) and "controller" not in str(stop.value)
