"""Starting and ending: ports, hosts, Ctrl-C, runs of other robots."""

import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import kempe
from kempe.viewer import Session, page, server, session, write_html


@pytest.fixture(scope="module")
def four_bar() -> kempe.Model:
    return kempe.robots.load("four_bar")


def test_a_taken_port_gives_way_to_the_next(four_bar: kempe.Model) -> None:
    first = Session(four_bar, port=0)
    try:
        taken = first.server.get_port()
        second = Session(four_bar, port=taken)
        try:
            assert second.server.get_port() > taken
            assert second.url.endswith(str(second.server.get_port()))
        finally:
            second.stop()
    finally:
        first.stop()
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", taken)) != 0, "stop() leaves the port open"


@pytest.mark.parametrize(("host", "port", "message"), [
    ("no-such-host.invalid", 8080, 'host "no-such-host.invalid" is not known'),
    ("192.0.2.1", 8080, 'host "192.0.2.1" is not this machine'),
    ("192.0.2.1", 0, 'host "192.0.2.1" is not this machine'),
    ("a..b", 8080, 'host "a..b" is not known'),
    ("localhost", 70000, "port: must be from 0 to 65535, got 70000"),
])
def test_bad_addresses_are_refused(
        four_bar: kempe.Model, host: str, port: int, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        Session(four_bar, host=host, port=port)


@pytest.mark.parametrize(("host", "expected"), [
    ("localhost", "http://localhost:8080"), ("0.0.0.0", "http://localhost:8080"),
    ("::1", "http://[::1]:8080")])
def test_addresses_are_ones_that_browsers_understand(host: str, expected: str) -> None:
    assert session.address(host, 8080) == expected


def test_no_free_port_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "is_free", lambda *_: False)
    with pytest.raises(OSError, match="no port from 9000 to 9099 is free at localhost"):
        server.free_port("localhost", 9000)


def test_without_viser_the_remedy_is_named() -> None:
    program = "import sys; sys.modules['viser'] = None; import kempe.viewer"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert result.returncode == 1
    assert 'pip install "kempe[view]"' in result.stderr


def test_runs_of_other_robots_are_refused(four_bar: kempe.Model, tmp_path: Path) -> None:
    run = kempe.simulate(kempe.robots.load("six_bar"), duration=0.01)
    with pytest.raises(ValueError, match="six_bar"):
        Session(four_bar, run, port=0)
    with pytest.raises(ValueError, match="six_bar"):
        write_html(four_bar, run, tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


def test_robots_that_fall_are_followed() -> None:
    tello = kempe.robots.load("tello")
    run = kempe.simulate(tello, duration=1.0, dt=5e-3)
    viewer = Session(tello, run, port=0)
    try:
        world = viewer.server.scene.get_handle_by_name("/world")
        viewer.show(run.q[-1])
        way = tello.center_of_mass(run.q[-1]) - tello.center_of_mass(run.q[0])
        assert way[2] == pytest.approx(-9.81 / 2, rel=1e-3)
        assert world.position == pytest.approx(-way)
    finally:
        viewer.stop()


def test_robots_on_the_ground_are_not_followed() -> None:
    leg = kempe.robots.load("planar_leg")
    run = kempe.simulate(leg, v=[6.0, 0.0], duration=1.0, dt=5e-3)  # all the way round
    viewer = Session(leg, run, port=0)
    try:
        viewer.show(run.q[len(run.q) // 2])
        world = viewer.server.scene.get_handle_by_name("/world")
        assert world.position == pytest.approx([0, 0, 0])
    finally:
        viewer.stop()


def test_ctrl_c_ends_view() -> None:
    program = ("import kempe, kempe.viewer\n"
               "kempe.viewer.view(kempe.robots.load('four_bar'), port=0, open_browser=False)\n"
               "print('over')")
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert re.fullmatch(
            r"four_bar is shown at http://localhost:\d+  \(press Ctrl-C to stop\)\n", line)
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=30)
    assert (process.returncode, out, errors) == (0, "over\n", "")


def test_pages_are_small_whole_and_quiet(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tello = kempe.robots.load("tello")
    run = kempe.simulate(tello, duration=1.0, dt=2e-3)
    path = write_html(tello, run, tmp_path / "tello.html")
    text = path.read_text()
    assert len(text) < 2e6
    assert "<title>tello</title>" in text
    assert re.findall(r'<(?:script|img|iframe)[^>]* src="(?!data:)', text) == []
    assert re.findall(r'<link[^>]* href="(?!data:)', text) == []
    assert capsys.readouterr() == ("", "")


def test_pages_need_a_rate_above_zero(four_bar: kempe.Model, tmp_path: Path) -> None:
    run = kempe.simulate(four_bar, duration=0.01)
    with pytest.raises(ValueError, match="frames_per_second"):
        write_html(four_bar, run, tmp_path / "page.html", frames_per_second=0)


def test_pictures_are_taken_at_their_rate() -> None:
    t = np.arange(0, 2.0005, 1e-3)
    chosen = page.frame_indices(t, 50)
    assert chosen[0] == 0 and chosen[-1] == len(t) - 1
    assert np.diff(t[chosen]) == pytest.approx(0.02)
    assert list(page.frame_indices(np.array([0.0, 0.5, 1.0]), 30)) == [0, 1, 2]
    assert list(page.frame_indices(np.array([3.0]), 30)) == [0]
