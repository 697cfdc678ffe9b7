"""Loops that cannot be closed say so."""

from pathlib import Path

import pytest

import kempe


def test_loops_out_of_reach_are_reported() -> None:
    model = kempe.robots.load("planar_leg")
    assert any(cluster.loops for cluster in model.clusters)
    q = model.neutral()
    # A motor may turn a linkage through a position in which it cannot be assembled.
    independent = [name for cluster in model.clusters for name in cluster.independent]
    index = model.q_names.index(independent[-1])
    errors = []
    for turn in range(1, 60):
        q[index] += 0.1
        try:
            q = model.project(q)
        except kempe.AssemblyError as error:
            errors.append(error)
    if not errors:
        pytest.skip("this linkage turns all the way round")
    assert errors[0].loop in str(errors[0])
    assert errors[0].gap > 1e-12


def test_given_five_bar(given_robots: Path) -> None:
    file = next((given_robots / "five_bar").glob("*.yaml"))
    model = kempe.load(file)
    assert model.nv == 3
