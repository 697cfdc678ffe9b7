"""Models, and the cases of tests/python that every adapter is tested with."""

import sys
from pathlib import Path

import pytest

import kempe

sys.path.append(str(Path(__file__).parents[1] / "python"))

from differentiable_cases import ROBOTS, state_of  # noqa: E402


@pytest.fixture(scope="session", params=ROBOTS)
def model(request) -> kempe.Model:
    return kempe.robots.load(request.param)


@pytest.fixture
def state(model: kempe.Model):
    """A reference, and local coordinates, velocities and forces."""
    reference, inputs = state_of(model)
    return reference, *(inputs[name].copy() for name in ("x", "v", "tau"))
