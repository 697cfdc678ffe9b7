"""The viewer as users see it: in a browser, with keyboard and mouse, by its pixels."""

import colorsys
import json
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from browser import Browser, changed_pixels, has_moved, wait_until
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

import kempe
from kempe.viewer import Session, colours, write_html

Show = Callable[..., Session]


@pytest.fixture(scope="module")
def leg() -> kempe.Model:
    return kempe.robots.load("planar_leg")


@pytest.fixture(scope="module")
def swing(leg: kempe.Model) -> kempe.Run:
    return kempe.simulate(leg, leg.neutral(), [2.0, 1.0], duration=3.0, dt=5e-3)


def pixels_of_hue(picture: np.ndarray, colour: colours.Colour) -> int:
    """Pixels that have the hue of a colour, in any light."""
    wanted = colorsys.rgb_to_hsv(*(value / 255 for value in colour))[0]
    rgb = picture.reshape(-1, 3) / 255
    high, low = rgb.max(axis=1), rgb.min(axis=1)
    vivid = rgb[(high - low) > 0.25]
    hues = np.array([colorsys.rgb_to_hsv(*pixel)[0] for pixel in vivid])
    return int((np.abs((hues - wanted + 0.5) % 1 - 0.5) < 0.03).sum()) if len(hues) else 0


@pytest.mark.parametrize("name", ["tello", "five_bar"])
def test_robots_are_drawn_in_the_colours_of_their_clusters(
        name: str, browser: Browser, show: Show, pictures: Path) -> None:
    session = show(kempe.robots.load(name))
    drawn = browser.settled_canvas()
    browser.keep(pictures / f"{name}.png")
    for colour, text in session.scene.palette.legend:
        if colour in colours.PALETTE:
            assert pixels_of_hue(drawn, colour) > 20, f"{colour} of {text} is not to be seen"
    session.server.scene.get_handle_by_name("/world/bodies").visible = False
    empty = browser.settled_canvas()
    assert changed_pixels(empty, drawn) > 0.02 * drawn.shape[0] * drawn.shape[1]
    assert browser.errors() == []


def test_a_slider_moves_the_robot_and_loops_stay_closed(
        leg: kempe.Model, browser: Browser, show: Show, pictures: Path) -> None:
    session = show(leg)
    q, before = session.posture.q, browser.settled_canvas()
    thumb = browser.slider("thigh_to_driver")
    ActionChains(browser.driver).drag_and_drop_by_offset(thumb, 20, 0).perform()
    wait_until(lambda: not np.array_equal(session.posture.q, q), "a moved slider")
    after = browser.settled_canvas()
    browser.keep(pictures / "planar_leg_moved.png")

    assert has_moved(before, after)
    moved = session.posture.q
    assert moved[1] > q[1] + 0.1 and moved[0] == q[0]
    assert np.abs(moved[2:] - q[2:]).max() > 0.01, "the loop did not follow"
    assert np.abs(leg.loop_residual(moved)).max() < 1e-10
    R, p = leg.forward_kinematics(moved)
    for body in leg.mechanism.bodies:
        node = session.server.scene.get_handle_by_name(f"/world/bodies/{body.name}")
        assert node.position == pytest.approx(p[leg.frame_index(body.name)], abs=1e-6)
    assert browser.errors() == []


def test_a_slider_goes_back_to_what_the_loops_allow(
        browser: Browser, show: Show, pictures: Path) -> None:
    session = show(short_four_bar())
    thumb = browser.slider("crank")
    thumb.send_keys(Keys.END)
    wait_until(lambda: "stops at" in browser.text(), "a message")
    browser.keep(pictures / "four_bar_refused.png")
    reached = session.posture.value(session.posture.controls[0])
    assert 0 < reached < 3
    assert 'loop "closure" cannot be closed' in browser.text()
    wait_until(lambda: abs(float(thumb.get_attribute("aria-valuenow")) - reached) < 1e-3,
               "a slider that has gone back")
    assert session.posture.loop_error() < 1e-10

    thumb.send_keys(Keys.ARROW_LEFT)
    wait_until(lambda: "stops at" not in browser.text(), "a message that goes away")
    assert browser.errors() == []


def short_four_bar() -> kempe.Model:
    """Ground 1, crank 1, coupler 0.6, rocker 0.6: reaches its end before the crank is at 3 rad."""
    robot = kempe.Mechanism("short_four_bar")
    for name in ("ground", "crank_link", "coupler", "rocker"):
        robot.add_body(name, mass=0.1, center_of_mass=(0.3, 0, 0), inertia=(1e-4, 1e-3, 1e-3))
    axis = (0, 1, 0)
    robot.add_revolute("crank", parent="ground", child="crank_link", axis=axis, independent=True,
                       lower=-3, upper=3)
    robot.add_revolute("elbow", parent="crank_link", child="coupler", xyz=(1, 0, 0), axis=axis)
    robot.add_revolute("base", parent="ground", child="rocker", xyz=(1, 0, 0), axis=axis)
    robot.add_loop("closure", "revolute", predecessor="coupler", predecessor_xyz=(0.6, 0, 0),
                   successor="rocker", successor_xyz=(0.6, 0, 0), axis=axis)
    return kempe.Model(robot)


def test_switches_and_buttons(browser: Browser, show: Show, pictures: Path) -> None:
    session = show(kempe.robots.load("four_bar"))
    browser.tab("Show").click()
    last = browser.settled_canvas()
    for label in ("Colours by cluster", "Loop closures", "Joint axes", "Centres of mass",
                  "Names of bodies", "See-through bodies"):
        browser.row(label).find_element("css selector", "input").click()
        now = last
        end = time.monotonic() + 20
        while changed_pixels(last, now) < 20:
            assert time.monotonic() < end, f'"{label}" changes nothing'
            now = browser.canvas()
        last = browser.settled_canvas()
    browser.keep(pictures / "four_bar_switches.png")
    browser.tab("Pose").click()
    q = session.posture.q
    browser.button("Random").click()
    wait_until(lambda: not np.array_equal(session.posture.q, q), "a random configuration")
    browser.button("Neutral").click()
    wait_until(lambda: np.array_equal(session.posture.q, q), "the neutral configuration")
    assert browser.errors() == []


def test_playback_moves(
        leg: kempe.Model, swing: kempe.Run, browser: Browser, show: Show, pictures: Path) -> None:
    session = show(leg, swing)
    start = browser.settled_canvas()
    assert np.array_equal(session.shown, swing.q[0])
    browser.button("Play").click()
    wait_until(lambda: not np.array_equal(session.shown, swing.q[0]), "a run that plays")
    wait_until(lambda: has_moved(start, browser.canvas()), "a picture that moves")
    browser.button("Pause").click()
    wait_until(lambda: not session.playback.playing, "a pause")
    browser.settled_canvas()
    browser.keep(pictures / "planar_leg_playback.png")
    assert any(np.array_equal(session.posture.q, q) for q in swing.q)

    browser.slider("time").send_keys(Keys.END)
    wait_until(lambda: np.array_equal(session.shown, swing.q[-1]), "the end of the run")
    assert browser.errors() == []


def test_pages_play_without_server_and_network(
        leg: kempe.Model, swing: kempe.Run, browser: Browser, pictures: Path) -> None:
    page = write_html(leg, swing, pictures / "planar_leg.html")
    driver = browser.driver
    driver.execute_cdp_cmd("Network.enable", {})
    driver.execute_cdp_cmd("Network.emulateNetworkConditions", {
        "offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0})
    try:
        driver.get_log("performance")
        browser.open(page.as_uri())
        wait_until(lambda: pixels_of_hue(browser.canvas(), colours.PALETTE[0]) > 50, "a robot")
        first = browser.canvas()
        wait_until(lambda: has_moved(first, browser.canvas()), "a picture that moves")
        browser.keep(pictures / "planar_leg_page.png")
        assert browser.errors() == []
        requests = [json.loads(entry["message"])["message"]
                    for entry in driver.get_log("performance")]
        addresses = {message["params"]["request"]["url"].partition(":")[0]
                     for message in requests if message["method"] == "Network.requestWillBeSent"}
        assert addresses <= {"file", "data", "blob", "about"}
        assert driver.title == leg.name
    finally:
        driver.execute_cdp_cmd("Network.emulateNetworkConditions", {
            "offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1})
