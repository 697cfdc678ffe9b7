#!/usr/bin/env python3
"""Takes the screenshots of docs/viewer.md. Run it with the Python of .venv/, on an idle machine."""

import io
import sys
from pathlib import Path

import numpy as np
from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "viewer"))

from browser import Browser, launched, wait_until  # noqa: E402

import kempe  # noqa: E402
from kempe.viewer import Session  # noqa: E402

WIDTH, HEIGHT = 1200, 880


def take(browser: Browser, session: Session, name: str) -> None:
    browser.settled_canvas()
    picture = Image.open(io.BytesIO(browser.driver.get_screenshot_as_png())).convert("RGB")
    path = ROOT / "docs" / name
    picture.save(path, quality=82, optimize=True)
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size // 1000} kB")
    browser.driver.get("about:blank")
    session.stop()


def opened(browser: Browser, model: kempe.Model) -> Session:
    session = Session(model, port=0)
    browser.open(session.url)
    wait_until(session.server.get_clients, "a browser that is connected")
    return session


def take_flexible_arm(browser: Browser) -> None:
    """The third mode of the robot at its largest deflection."""
    session = Session(kempe.load(ROOT / "examples" / "flexible_arm.urdf"), port=0)
    camera = session.server.initial_camera
    camera.look_at = np.array([0.62, 0.0, 0.0])
    camera.position = camera.look_at + np.array([0.65, -1.45, 0.5])
    browser.open(session.url)
    wait_until(session.server.get_clients, "a browser that is connected")
    browser.tab("Flexible bodies").click()
    session.animate("3")
    session.stand_still()
    panel = session.flexible_panel
    assert panel is not None
    mode = next(mode for mode in panel.vibrations.values() if mode.name == "3")
    session.show(mode.at(mode.base(session.posture.q), 1.0))
    take(browser, session, "viewer_flexible.jpg")


def main() -> None:
    with launched(WIDTH, HEIGHT) as browser:
        session = opened(browser, kempe.robots.load("tello"))
        for control in session.posture.controls:
            if "rotor" in control.label:
                left = "left" in control.label
                if "knee" in control.label:
                    session.posture.move(control, 7.0 if left else 2.0)
                else:
                    session.posture.move(control, -4.0 if left else 1.0)
        session.pose_panel.take_over(session.posture.q)
        take(browser, session, "viewer_tello.jpg")

        session = opened(browser, kempe.load(ROOT / "examples" / "geared_four_bar_leg.urdf"))
        for control, target in zip(session.posture.controls, (-2.0, 6.0), strict=True):
            session.posture.move(control, target)
        session.pose_panel.take_over(session.posture.q)
        browser.tab("Show").click()
        for label in ("Joint axes", "Centres of mass", "See-through bodies"):
            browser.row(label).find_element("css selector", "input").click()
        take(browser, session, "viewer_leg.jpg")

        take_flexible_arm(browser)


if __name__ == "__main__":
    main()
