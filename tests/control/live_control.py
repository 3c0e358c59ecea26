"""Mission control as a program of its own, and its page in a browser."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from chromium import PATIENCE, complaints

if TYPE_CHECKING:
    from selenium.webdriver import Chrome
    from selenium.webdriver.remote.webelement import WebElement


@dataclass(frozen=True)
class Control:
    """A server under way."""

    address: str  # with the token
    folder: Path
    process: subprocess.Popen[str]

    @property
    def port(self) -> int:
        port = urlsplit(self.address).port
        assert port is not None
        return port

    @property
    def token(self) -> str:
        return self.address.partition("token=")[2]


@contextmanager
def control(folder: Path, *arguments: str) -> Iterator[Control]:
    """Ends what it started."""
    command = [sys.executable, "-m", "flexpress", "control", *arguments, "--no-browser"]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process.stdout:
        try:
            address = process.stdout.readline().strip()
            assert address.startswith("http://127.0.0.1:"), address
            yield Control(address, folder, process)
        finally:
            process.terminate()
            process.wait(PATIENCE)


class Page:
    """The page in a browser: what a person does, and what is to be seen."""

    def __init__(self, browser: Chrome, address: str) -> None:
        self.browser = browser
        browser.get("about:blank")
        complaints(browser)  # of a page whose server is gone
        browser.get(address)
        self.wait_for(
            lambda: self.run("return document.querySelectorAll('#presets option').length")
        )

    def run(self, script: str, *arguments: object) -> Any:
        return self.browser.execute_script(script, *arguments)

    def __getitem__(self, id: str) -> WebElement:
        return self.browser.find_element("id", id)

    def wait_for(self, condition: Callable[[], Any]) -> Any:
        """What it returns once that is true."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            found = condition()
            if found:
                return found
            time.sleep(0.05)
        raise AssertionError(f"not within {PATIENCE} s; the page says: {self.said()}")

    def said(self) -> str:
        return str(self.run("return document.body.innerText.slice(0, 3000)"))

    def text(self, id: str) -> str:
        return str(self.run("return document.getElementById(arguments[0]).textContent", id))

    def click(self, id: str) -> None:
        """As soon as it can be clicked."""
        self.wait_for(self[id].is_enabled)
        self.run("arguments[0].scrollIntoView({block: 'center'})", self[id])
        self[id].click()

    def type(self, id: str, text: str) -> None:
        self.enter(self[id], text)

    def enter(self, field: WebElement, text: str) -> None:
        """Type into a field instead of what it has, and leave it."""
        from selenium.webdriver import Keys

        self.run("arguments[0].closest('details')?.setAttribute('open', '')", field)
        field.send_keys(Keys.CONTROL + "a")
        field.send_keys(text + Keys.TAB)

    def choose(self, id: str, value: str) -> None:
        self.run(
            "const [field, value] = [document.getElementById(arguments[0]), arguments[1]];"
            "field.closest('details')?.setAttribute('open', '');"
            "field.value = value; field.dispatchEvent(new Event('change', {bubbles: true}));",
            id,
            value,
        )

    def use(self, tool: str) -> None:
        self.browser.find_element("css selector", f"[data-tool={tool}]").click()

    def pixel(self, x: float, y: float) -> tuple[int, int]:
        """Of a place on the map, from the middle of it."""
        view = self.run("return {...document.getElementById('surface').dataset}")
        scale = float(view["scale"])
        return round((x - float(view["x"])) * scale), round(-(y - float(view["y"])) * scale)

    def click_map(self, x: float, y: float) -> None:
        """At metres."""
        from selenium.webdriver import ActionChains

        surface = self["surface"]
        ActionChains(self.browser).move_to_element_with_offset(
            surface, *self.pixel(x, y)
        ).click().perform()

    def drag_map(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        from selenium.webdriver import ActionChains

        (ax, ay), (bx, by) = self.pixel(*start), self.pixel(*end)
        actions = ActionChains(self.browser).move_to_element_with_offset(self["surface"], ax, ay)
        actions.click_and_hold().move_by_offset(bx - ax, by - ay).release().perform()

    def num_sensors(self) -> int:
        return int(self.text("sensor-count").replace(",", ""))

    def state(self, id: str) -> str:
        return str(self.run("return document.getElementById(arguments[0]).dataset.state", id))
