"""Configurations outside joint limits are reported."""

import json
import math
import warnings
from pathlib import Path

import numpy as np
import pytest
from program import kempe_program

import kempe


def contradicting() -> kempe.Mechanism:
    """Two geared joints: one must be at 0.5 or more, the other, twice that, at 0.2 or less."""
    mechanism = kempe.Mechanism("contradicting")
    mechanism.add_body("world")
    for name in ("slow", "fast"):
        mechanism.add_body(name, mass=1, center_of_mass=(0.1, 0, 0), inertia=(1, 1, 1))
    mechanism.add_revolute("first", parent="world", child="slow", lower=0.5, upper=1.0)
    mechanism.add_revolute("second", parent="world", child="fast", lower=-0.1, upper=0.2,
                           independent=False)
    mechanism.add_gear("gear", "second", 2.0, "first")
    return mechanism


def within_limits(model: kempe.Model, q: np.ndarray) -> bool:
    lower, upper = model.position_limits
    positions = model.spanning_positions(q)
    return bool(((positions >= lower - 1e-9) & (positions <= upper + 1e-9)).all())


def test_position_limits() -> None:
    mechanism = contradicting()
    mechanism.add_body("ball", mass=1, inertia=(1, 1, 1))
    mechanism.add_joint("socket", "spherical", parent="slow", child="ball")
    mechanism.add_body("wheel", mass=1, inertia=(1, 1, 1))
    mechanism.add_joint("axle", "continuous", parent="fast", child="wheel")
    model = kempe.Model(mechanism)
    lower, upper = model.position_limits
    names = model.spanning_position_names
    assert len(lower) == len(upper) == len(names) == 7
    limits = {name: pair for name, *pair in zip(names, lower, upper, strict=True)}
    assert limits.pop("first") == [0.5, 1.0]
    assert limits.pop("second") == [-0.1, 0.2]
    assert all(pair == [-math.inf, math.inf] for pair in limits.values())


@pytest.mark.parametrize("size", [None, 5])
def test_a_random_configuration_outside_limits_warns_once(size: int | None) -> None:
    model = kempe.Model(contradicting())
    expected = r'contradicting: .*seed 7\) is outside joint limits: "\w+" is at '
    with pytest.warns(kempe.LimitsWarning, match=expected) as caught:
        q = model.random_configuration(7, size)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert not within_limits(model, q)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.random_configuration(7, size)


def test_neutral_outside_limits_warns_once() -> None:
    model = kempe.Model(contradicting())
    with pytest.warns(kempe.LimitsWarning, match='neutral configuration is outside joint limits'):
        q = model.neutral()
    assert not within_limits(model, q)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.neutral()


def test_warnings_can_be_errors() -> None:
    model = kempe.Model(contradicting())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            with pytest.raises(kempe.LimitsWarning):
                model.neutral()
            with pytest.raises(kempe.LimitsWarning):
                model.random_configuration(1)


@pytest.mark.parametrize("robot", ["tello", "mini_cheetah", "mit_humanoid"])
def test_within_limits_nothing_is_said(robot: str) -> None:
    model = kempe.robots.load(robot)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert within_limits(model, model.neutral())
        for q in model.random_configuration(0, 50):
            assert within_limits(model, q)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "contradicting.urdf"
    kempe.write_urdf(contradicting(), path)
    return path


def test_check_names_joints_and_values(file: Path) -> None:
    result = kempe_program("check", file, "--samples", "10")
    assert result.returncode == 0, result.stdout
    assert "Warning" not in result.stderr
    assert "neutral: " in result.stdout
    assert "10 of 10 random configurations" in result.stdout
    found = json.loads(kempe_program("check", file, "--json").stdout)["findings"]["limits"]
    (violation,) = found["neutral"]
    assert violation["coordinate"] in ("first", "second")
    assert not violation["lower"] <= violation["position"] <= violation["upper"]
    assert found["random_outside"] == 100
    assert found["random_seed"] == 0
    assert found["random"]


def test_info_names_joints_and_values(file: Path) -> None:
    result = kempe_program("info", file)
    assert result.returncode == 0
    assert "warning: the neutral configuration is outside limits: " in result.stderr
    assert "random configurations are outside limits, for instance " in result.stderr
    assert "LimitsWarning" not in result.stderr
    report = json.loads(kempe_program("info", file, "--json").stdout)
    assert report["outside_limits"]["neutral"]
    assert report["outside_limits"]["random_outside"] > 0
    assert json.loads(kempe_program("info", "tello", "--json").stdout)["outside_limits"] == {
        "neutral": [], "random_outside": 0, "random_seed": None, "random": []}


def test_simulate_says_it_in_one_line(file: Path, tmp_path: Path) -> None:
    result = kempe_program("simulate", file, "--duration", "0.01", folder=tmp_path)
    assert result.returncode == 0
    (line,) = (line for line in result.stderr.splitlines() if "neutral" in line)
    assert line.startswith("warning: contradicting: the neutral configuration is outside")
