"""Folders, the browser and robots in it."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from browser import Browser, NoBrowser, launched, wait_until

import kempe
from kempe.viewer import Session

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def pictures() -> Path:
    """Folder of screenshots for inspection."""
    folder = ROOT / "build" / "viewer"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with contextlib.ExitStack() as stack:
        try:
            started = stack.enter_context(launched())
        except NoBrowser as reason:
            pytest.skip(str(reason))
        yield started


@pytest.fixture
def show(browser: Browser) -> Iterator[Callable[..., Session]]:
    """Shows a robot in the browser until the end of the test."""
    with contextlib.ExitStack() as stack:

        def start(model: kempe.Model, run: kempe.Run | None = None) -> Session:
            session = Session(model, run, port=0)
            stack.callback(session.stop)
            stack.callback(browser.driver.get, "about:blank")
            browser.open(session.url)
            wait_until(session.server.get_clients, "a browser that is connected")
            return session

        yield start
