"""A real browser, without a window: pictures, input and errors."""

import contextlib
import io
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement

PATIENCE = 90  # seconds; pictures are computed without a graphics card, maybe on a busy machine


class NoBrowser(Exception):
    """Chromium or its driver is not installed."""


def wait_until(condition: Callable[[], object], what: str) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"{what}: did not happen within {PATIENCE} s"
        time.sleep(0.2)


class Browser:
    def __init__(self, driver: webdriver.Chrome) -> None:
        self.driver = driver

    def open(self, url: str) -> None:
        self.driver.get("about:blank")
        self.errors()  # forget those of pages before
        self.driver.get(url)
        wait_until(lambda: self.driver.find_elements(By.TAG_NAME, "canvas"), f"a canvas at {url}")
        wait_until(self._dismiss_advice, "advice to use a graphics card")

    def _dismiss_advice(self) -> bool:
        """Closes overlays that cover the picture."""
        closing = self.driver.find_elements(
            By.CSS_SELECTOR, ".mantine-Notification-closeButton")
        for button in closing:
            button.click()
        return bool(closing)

    def errors(self) -> list[str]:
        """Errors of pages since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser")
                if entry["level"] == "SEVERE"]

    def canvas(self) -> np.ndarray:
        """The picture of the scene, without the panel, (rows, columns, 3)."""
        area = self.driver.execute_script(
            "const r = document.querySelector('canvas').getBoundingClientRect();"
            "return [r.left, r.top, r.right, r.bottom];")
        panel = self.driver.find_elements(By.XPATH, "//*[text()='Pose']")
        left, top, right, bottom = (int(edge) for edge in area)
        if panel:
            right = min(right, int(panel[0].rect["x"]) - 40)
        picture = Image.open(io.BytesIO(self.driver.get_screenshot_as_png())).convert("RGB")
        return np.asarray(picture.crop((left, top, right, bottom)), dtype=int)

    def settled_canvas(self) -> np.ndarray:
        """The picture once it does not change any more."""
        last = [self.canvas()]

        def same() -> bool:
            time.sleep(0.3)
            last.append(self.canvas())
            return changed_pixels(last[-2], last[-1]) == 0

        wait_until(same, "a picture that stays")
        return last[-1]

    def keep(self, path: Path) -> None:
        self.driver.save_screenshot(str(path))

    def row(self, label: str) -> WebElement:
        """The part of the panel that belongs to a label."""
        return self.driver.find_element(
            By.XPATH, f"//label[contains(., '{label}')]/ancestor::div[.//input][1]")

    def slider(self, label: str) -> WebElement:
        return self.driver.find_element(
            By.XPATH, f"//label[contains(., '{label}')]"
            "/ancestor::div[.//*[@role='slider']][1]//*[@role='slider']")

    def tab(self, label: str) -> WebElement:
        return self.driver.find_element(By.XPATH, f"//*[@role='tab'][contains(., '{label}')]")

    def button(self, label: str) -> WebElement:
        return self.driver.find_element(By.XPATH, f"//button[contains(., '{label}')]")

    def text(self) -> str:
        return str(self.driver.find_element(By.TAG_NAME, "body").text)


def changed_pixels(before: np.ndarray, after: np.ndarray) -> int:
    """Number of pixels that differ by more than noise."""
    if before.shape != after.shape:
        return before.size
    return int((np.abs(before - after).max(axis=2) > 12).sum())


def has_moved(before: np.ndarray, after: np.ndarray) -> bool:
    """Whether the coloured pixels, the robot, have moved. The rest may change: slow browsers draw
    at a lower resolution for a while."""
    then, now = (np.ptp(picture, axis=2) > 60 for picture in (before, after))
    return bool(then.sum() > 100 and (then ^ now).sum() > 0.4 * (then | now).sum())


@contextlib.contextmanager
def launched(width: int = 900, height: int = 640) -> Iterator[Browser]:
    """Debian's chromium, which computes pictures without a graphics card. Raises NoBrowser."""
    chromium, driver_path = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver_path is None:
        raise NoBrowser("chromium and chromedriver are not installed; `make packages` does that")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage",
                     "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
                     f"--window-size={width},{height}"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(driver_path))
    try:
        driver.set_script_timeout(PATIENCE)
        yield Browser(driver)
    finally:
        driver.quit()
