"""`kempe check`: whether to trust a model."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from program import ROOT, kempe_program
from test_assembly import short_four_bar  # noqa: F401
from test_loading import PENDULUM

import kempe
from kempe import cli
from kempe.cli import checks
from kempe.cli.dead_points import ClusterLoops, Sweeper


def report(*arguments: str | Path) -> dict:
    result = kempe_program("check", *arguments, "--json")
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


@pytest.mark.parametrize("robot", [*kempe.robots.names(), "examples/geared_four_bar_leg.urdf"])
def test_bundled_robots_pass(robot: str) -> None:
    result = report(robot, "--samples", "20", "--seed", "7")
    assert result["passed"]
    assert result["failed"] == []
    found = result["findings"]
    assert max(found["loops"]["standing"], found["loops"]["after_a_step"]) <= 1e-12
    assert 0 < max(found["methods"]["accelerations"].values()) < 1e-6
    assert found["mass matrix"]["smallest_eigenvalue"] > 0
    assert found["mass matrix"]["condition_worst"] >= found["mass matrix"]["condition_median"]
    assert found["energy"]["largest"] < 1e-6


def test_page_ends_with_a_verdict() -> None:
    result = kempe_program("check", "planar_leg", "--samples", "10")
    lines = result.stdout.splitlines()
    assert lines[0].startswith("planar_leg: 2 freedoms")
    assert lines[-1].startswith("Verdict: the model can be trusted")
    assert "triangle inequality" in result.stdout  # a warning of the file
    assert all(line == line.rstrip() for line in lines)
    assert len(lines) < 60


def test_many_warnings_do_not_fill_the_page() -> None:
    assert len(kempe_program("check", "jvrc1", "--samples", "2").stdout.splitlines()) < 40


def test_without_loops(tmp_path: Path) -> None:
    file = tmp_path / "pendulum.urdf"
    file.write_text(PENDULUM)
    found = report(file)["findings"]
    assert found["loops"]["largest"] == 0
    assert "dead points" not in found


@pytest.mark.parametrize("robot", ["four_bar", "six_bar", "mini_cheetah"])
def test_loops_left_cut(tmp_path: Path, robot: str) -> None:
    mechanism = kempe.robots.mechanism(robot)
    for loop in (*mechanism.loops, *mechanism.couplings):
        loop.cut = True
    file = tmp_path / "cut.urdf"
    kempe.write_urdf(mechanism, file)
    result = report(file, "--samples", "20")
    assert result["passed"], result
    found = result["findings"]
    assert max(found["loops"]["standing"], found["loops"]["after_a_step"]) <= 1e-12
    assert list(found["methods"]["accelerations"]) == ["cut_joint"]


def test_joints_that_resist_take_their_power(tmp_path: Path) -> None:
    file = tmp_path / "pendulum.urdf"
    file.write_text(PENDULUM.replace(
        "</joint>", '<dynamics damping="0.3" friction="0.2"/></joint>'))
    assert report(file)["findings"]["energy"]["largest"] < 1e-6


@pytest.mark.parametrize("arguments, text", [
    (["--samples", "0"], "--samples"), (["--seed", "-1"], "--seed"),
    (["--samples", "many"], "--samples")])
def test_wrong_options(arguments: list[str], text: str) -> None:
    result = kempe_program("check", "four_bar", *arguments)
    assert result.returncode == 2
    assert text in result.stderr


@pytest.mark.parametrize("limit, what", [
    ("CLOSED", "loops"), ("FORCES", "methods"), ("ACCELERATIONS", "round trip"),
    ("ENERGY", "energy")])
def test_what_is_wrong_fails(limit: str, what: str, monkeypatch: pytest.MonkeyPatch,
                             capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(checks, limit, -1.0)
    assert cli.main(["check", "four_bar", "--samples", "3"]) == 1
    printed = capsys.readouterr()
    assert "do not trust" in printed.out
    assert "FAILED" in printed.out
    assert what in printed.err


# --- dead points ---------------------------------------------------------------------------------

def sweeper(model: kempe.Model, coordinate: str) -> Sweeper:
    (cluster,) = (c for c in model.clusters if coordinate in c.independent)
    return Sweeper(model, ClusterLoops(model, cluster), coordinate)


def test_ends_of_the_reach_are_found(short_four_bar: kempe.Model) -> None:  # noqa: F811
    """Ground 0.5, crank 0.4, coupler and rocker 0.3: the tip can be 0.6 from the pivot."""
    cosine = (0.5**2 + 0.4**2 - 0.6**2) / (2 * 0.5 * 0.4)
    expected = math.acos(cosine)
    both = [sweeper(short_four_bar, "motor").sweep(side) for side in (-1, 1)]
    assert all(sweep.dead_point for sweep in both)
    assert abs(both[0].end) == pytest.approx(expected, abs=1e-6)
    assert abs(both[1].end) == pytest.approx(expected, abs=1e-6)


def test_positions_that_can_be_passed_are_found(four_bar: kempe.Model) -> None:
    """A parallelogram is singular where its links lie on one line, though it can move on."""
    both = [sweeper(four_bar, "joint1").sweep(side) for side in (-1, 1)]
    assert both[0].end == pytest.approx(-math.pi, abs=1e-6)
    assert both[1].end == pytest.approx(0.0, abs=1e-6)


def test_limits_end_a_sweep(tello: kempe.Model) -> None:
    sweep = sweeper(tello, "left-thigh-to-knee-ankle-rotor-1").sweep(1)
    joint = tello.mechanism.find_joint("left-thigh-to-knee-ankle-rotor-1")
    assert joint is not None
    assert not sweep.dead_point
    assert sweep.end <= joint.upper + 1e-9


@pytest.mark.parametrize("kind", ["spherical", "free"])
def test_ratios_are_those_of_the_library(kind: str) -> None:
    """G = −K_d⁻¹ K_i must follow from the same K, for joints with quaternions too."""
    mechanism = kempe.Mechanism("tied")
    mechanism.add_body("world")
    mechanism.add_body("brick", mass=1, inertia=(0.1, 0.2, 0.3))
    mechanism.add_joint("joint", kind, parent="world", child="brick")
    mechanism.add_rod("rod", predecessor="world", predecessor_point=(0.3, 0.4, -0.1),
                      successor="brick", successor_point=(0.2, 0.1, 0.3), length=0.6)
    model = kempe.Model(mechanism)
    loops = ClusterLoops(model, model.clusters[0])
    q = model.random_configuration(3)
    K = loops._jacobians(q[None])[0]
    G = model.constraint_jacobian(q)
    assert np.abs(K).max() > 0.1
    np.testing.assert_allclose(K @ G, 0, atol=1e-8)


def test_unit_mistakes_are_remarked(tmp_path: Path) -> None:
    file = tmp_path / "pendulum.urdf"
    file.write_text(PENDULUM.replace('ixx="0.1" iyy="0.1" izz="0.01"',
                                     'ixx="900" iyy="900" izz="900"'))
    found = report(file)["findings"]
    assert found["inertias"]["bodies"] == ["arm"]
    assert "inertias" not in report(ROOT / "examples" / "geared_four_bar_leg.urdf")["findings"]


def test_masses_that_no_robot_has_are_noted(tmp_path: Path) -> None:
    mechanism = kempe.robots.mechanism("five_bar")
    for body in mechanism.bodies:
        if "sphere" in body.name:
            body.mass, body.inertia = 1e5 * body.mass, 1e5 * np.asarray(body.inertia)
    kempe.write_urdf(mechanism, tmp_path / "heavy.urdf")
    result = kempe_program("check", tmp_path / "heavy.urdf", "--samples", "2")
    assert result.returncode == 0
    assert "sphere 6544.98 kg, sphere_2 6544.98 kg: is that kilograms?" in result.stdout


@pytest.mark.parametrize("name", kempe.robots.names())
def test_masses_of_bundled_robots_are_fine(name: str) -> None:
    assert checks.odd_masses(kempe.robots.load(name)) == {}


def test_masses_far_apart_are_noted() -> None:
    mechanism = kempe.Mechanism("arm")
    mechanism.add_body("world")
    for name, parent, mass in (("upper", "world", 900.0), ("middle", "upper", 1.0),
                               ("lower", "middle", 1e-4)):
        mechanism.add_body(name, mass=mass, inertia=(mass, mass, mass))
        mechanism.add_revolute(f"{name}_joint", parent=parent, child=name)
    assert checks.odd_masses(kempe.Model(mechanism)) == {"upper": 900.0, "lower": 1e-4}
    found = {finding.what: finding for finding in checks.remarks(kempe.Model(mechanism))}
    assert found["masses"].text == "upper 900 kg, lower 0.0001 kg: is that kilograms?"
    assert found["masses"].passed is None
