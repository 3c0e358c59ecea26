"""A page on screens of several kinds, in Chromium."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chromium import PATIENCE

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

PHONE = {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}
DESK = {"width": 1200, "height": 800, "deviceScaleFactor": 1, "mobile": False}
LIGHT_PAPER, DARK_PAPER = "rgb(250, 250, 247)", "rgb(23, 25, 28)"
PAPER = "getComputedStyle(document.body).backgroundColor"


def js(browser: Chrome, expression: str) -> Any:
    return browser.execute_script(f"return {expression}")


def show(browser: Chrome, path: Path, scheme: str, screen: Mapping[str, object]) -> None:
    from selenium.webdriver.support.ui import WebDriverWait

    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", dict(screen))
    browser.get(path.as_uri())
    wait = WebDriverWait(browser, PATIENCE)  # on a busy machine the driver comes back too early
    wait.until(lambda it: js(it, "document.readyState") == "complete")
