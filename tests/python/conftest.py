"""Models that several tests use."""

import pytest

import kempe


@pytest.fixture(scope="session")
def four_bar() -> kempe.Model:
    return kempe.robots.load("four_bar")


@pytest.fixture(scope="session")
def tello() -> kempe.Model:
    return kempe.robots.load("tello")
