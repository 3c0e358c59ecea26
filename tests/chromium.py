"""Chromium without a window, for tests that open what was written."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1200,800",
)
MISSING = (
    "no browser: install chromium and chromedriver (Debian: apt-get install chromium "
    "chromium-driver)"
)
PATIENCE = 600
"""Seconds: machines may be busy."""
LOCAL = ("file:", "data:", "about:", "chrome:", "chrome-untrusted:")


@contextmanager
def chromium(folder: Path) -> Iterator[Chrome]:
    """The test is skipped where there is none; `folder` is for its own files."""
    pytest.importorskip("selenium", reason="no selenium: pip install selenium")
    found = [shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome")]
    binary, driver = next(filter(None, found), None), shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.skip(MISSING)
    from selenium.webdriver import Chrome, ChromeOptions
    from selenium.webdriver.chrome.service import Service

    options = ChromeOptions()
    options.binary_location = binary
    for flag in (*FLAGS, f"--user-data-dir={folder}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    with Chrome(options=options, service=Service(driver)) as chrome:
        chrome.set_page_load_timeout(PATIENCE)
        chrome.set_script_timeout(PATIENCE)
        yield chrome


def complaints(browser: Chrome) -> list[str]:
    """What the console says, since it was asked last."""
    log = browser.get_log("browser")  # type: ignore[no-untyped-call]  # not in its types
    return [str(entry["message"]) for entry in log]


def requests(browser: Chrome) -> list[str]:
    """Addresses outside this machine that were asked for, since it was asked last."""
    asked = [address for address, _ in requested(browser)]
    return [address for address in asked if not address.startswith(LOCAL)]


def requests_of(page: str, browser: Chrome) -> list[str]:
    """All addresses, its own too, that this page asked for, since it was asked last.

    Chromium asks for many things itself while it begins.
    """
    return [address for address, document in requested(browser) if document == page]


def requested(browser: Chrome) -> list[tuple[str, str]]:
    """Addresses, and of which document."""
    log = browser.get_log("performance")  # type: ignore[no-untyped-call]  # not in its types
    messages = [json.loads(entry["message"])["message"] for entry in log]
    sent = [m["params"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    return [(str(each["request"]["url"]), str(each["documentURL"])) for each in sent]
