"""`kempe bench`: times on this machine."""

import json
import os
from typing import Any

import numpy as np
import pytest
from program import ROOT, kempe_program

import kempe

QUICK = ["--seconds", "0.1", "--batch", "64"]


def test_measures_algorithms_and_methods() -> None:
    result = kempe_program("bench", "tello", *QUICK, "--json")
    assert result.returncode == 0, result.stderr
    report = json.loads(result.stdout)
    assert report["instruction_set"] == kempe.instruction_set()
    rows = {(row["algorithm"], row["method"]): row for row in report["results"]}
    for algorithm in ("forward_dynamics", "inverse_dynamics"):
        for method in ("cluster", "projection", "lagrange"):
            row = rows[algorithm, method]
            for kind in ("single", "batch"):
                assert 0 < row[kind]["low"] <= row[kind]["median"] <= row[kind]["high"] < 1
    assert ("mass_matrix", "cluster") in rows
    assert 0 < rows["forward_dynamics", "cut_joint"]["single"]["median"] < 1
    assert ("inverse_dynamics", "cut_joint") not in rows


def test_table_for_people() -> None:
    lines = kempe_program("bench", "four_bar", *QUICK).stdout.splitlines()
    assert lines[0].startswith("four_bar: 1 DoF, 3 moving bodies")
    assert any(line.split()[:2] == ["forward_dynamics", "cluster"] for line in lines)
    assert "inocchio" in lines[-1]


@pytest.mark.parametrize("arguments, text", [
    (["--batch", "0"], "--batch"),
    (["--batch", "9" * 30], "--batch: a whole number from 1 to 10000000"),
    (["--seconds", "0"], "--seconds"),
    (["--seconds", "inf"], "--seconds")])
def test_wrong_options(arguments: list[str], text: str) -> None:
    result = kempe_program("bench", "four_bar", *arguments)
    assert result.returncode == 2
    assert text in result.stderr


ROBOTS = [*kempe.robots.names(), os.fspath(ROOT / "examples" / "geared_four_bar_leg.urdf")]


@pytest.mark.parametrize("name", ROBOTS)
def test_pinocchio_has_the_same_tree(name: str) -> None:
    """Projected onto the loops, its mass matrix and forces equal Kempe's."""
    pytest.importorskip("pinocchio")
    from kempe_studies.pinocchio_tree import open_tree, pinocchio

    model = kempe.load(name) if os.sep in name else kempe.robots.load(name)
    compare(model, open_tree(model), pinocchio)


def test_pinocchio_has_all_joint_types() -> None:
    pytest.importorskip("pinocchio")
    from kempe_studies.pinocchio_tree import open_tree, pinocchio

    mechanism = kempe.Mechanism("zoo")
    mechanism.add_body("world")
    above = "world"
    for kind in ("free", "fixed", "revolute", "prismatic", "helical", "cylindrical", "universal",
                 "planar", "spherical", "continuous"):
        mechanism.add_body(kind, mass=1.5, center_of_mass=(0.1, 0.2, -0.1),
                           inertia=(0.1, 0.15, 0.2))
        mechanism.add_joint(f"to_{kind}", kind, parent=above, child=kind, xyz=(0.1, 0, 0.2),
                            rpy=(0.3, -0.2, 0.5), axis=(1, 2, 2), axis2=(2, -2, 1), pitch=0.3,
                            armature=0.05)
        above = kind
    model = kempe.Model(mechanism)
    compare(model, open_tree(model), pinocchio)


def compare(model: kempe.Model, opened: Any, pinocchio: Any) -> None:
    tree, data = opened.model, opened.model.createData()
    q = model.random_configuration(2)
    v, a = np.random.default_rng(1).uniform(-1, 1, (2, model.nv))
    positions, rates = model.spanning(q, v)
    positions, rates = positions[opened.positions], rates[opened.velocities]
    G = model.constraint_jacobian(q)[opened.velocities]
    H = pinocchio.crba(tree, data, positions)
    H = np.triu(H) + np.triu(H, 1).T
    ours = model.mass_matrix(q)
    np.testing.assert_allclose(G.T @ H @ G, ours, atol=1e-10 * np.abs(ours).max())
    accelerations = G @ a + model.constraint_bias(q, v)[opened.velocities]
    tau = pinocchio.rnea(tree, data, positions, rates, accelerations)
    expected = model.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(G.T @ tau, expected, atol=1e-9 * np.abs(expected).max())
