"""A headless Chromium for pages on this machine; nothing is installed and nothing is fetched."""

import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-dev-shm-usage", "--window-size=1500,1300"),
    # A page that still scrolls moves what a click was meant for.
    "--force-prefers-reduced-motion",
)


def programs() -> tuple[str, str]:
    """Chromium and its driver. In CI their absence is a failure, elsewhere a reason to skip."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    driver = shutil.which("chromedriver")
    if browser is None or driver is None:
        message = "no chromium with chromedriver here; .ci/run installs them"
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail(message)
        pytest.skip(message)
    return browser, driver


@contextmanager
def opened(profile: Path, dark: bool = False) -> Generator[Chrome]:
    """A browser with an empty profile; its console is kept."""
    browser, driver = programs()
    options = ChromeOptions()
    options.binary_location = browser
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    if dark:
        options.add_argument("--force-dark-mode")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    chrome = Chrome(options=options, service=Service(driver))
    chrome.set_script_timeout(300)  # 30 seconds are too few beside other work on a slow machine
    try:
        yield chrome
    finally:
        chrome.quit()


def show(chrome: Chrome, page: Path) -> None:
    """Open a page and wait until its scripts are done."""
    chrome.get(page.as_uri())
    ready = "return document.documentElement.dataset.ready === 'true'"
    WebDriverWait(chrome, 60).until(lambda one: evaluate(one, ready))


def evaluate(chrome: Chrome, script: str, *arguments: object) -> Any:
    """The value that a script returns."""
    driver: Any = chrome  # whose methods have no types
    return driver.execute_script(script, *arguments)


def console(chrome: Chrome) -> list[Any]:
    """What the page wrote to the console, errors included."""
    driver: Any = chrome
    return driver.get_log("browser")


def resized(chrome: Chrome, width: int, height: int) -> tuple[int, int]:
    """Gives the window another size; its size before."""
    driver: Any = chrome
    before = driver.get_window_size()
    driver.set_window_size(width, height)
    return before["width"], before["height"]
