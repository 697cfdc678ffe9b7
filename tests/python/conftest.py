"""Models and folders that several tests use."""

from pathlib import Path

import pytest

import kempe

GIVEN_ROBOTS = Path(__file__).resolve().parents[3] / "shared" / "robots"


@pytest.fixture(scope="session")
def four_bar() -> kempe.Model:
    return kempe.robots.load("four_bar")


@pytest.fixture(scope="session")
def tello() -> kempe.Model:
    return kempe.robots.load("tello")


@pytest.fixture(scope="session")
def given_robots() -> Path:
    if not GIVEN_ROBOTS.is_dir():
        pytest.skip("the folder with given robot files is not there")
    return GIVEN_ROBOTS
