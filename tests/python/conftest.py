"""Models that several tests use."""

import sys

import pytest
from program import STUDIES

import kempe

sys.path.append(str(STUDIES))


@pytest.fixture(scope="session")
def four_bar() -> kempe.Model:
    return kempe.robots.load("four_bar")


@pytest.fixture(scope="session")
def tello() -> kempe.Model:
    return kempe.robots.load("tello")
