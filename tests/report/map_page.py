"""An HTML map that is open in a browser: what it says about itself, and hands to touch it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from flexpress import Plan, Scenario
from flexpress.report.web_map.html_map import html_map

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

AFTER_DRAWING = """
const done = arguments[arguments.length - 1];
requestAnimationFrame(() => requestAnimationFrame(done));
"""
READ_PIXEL = """((name, right, down) => {
  const canvas = document.getElementById(name), ratio = canvas.width / canvas.clientWidth;
  const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  pen.drawImage(canvas, -(canvas.width / 2 + right * ratio), -(canvas.height / 2 + down * ratio));
  return [...pen.getImageData(0, 0, 1, 1).data];
})(...arguments)"""
MARKERS = "[...document.querySelectorAll('g[data-transporter]')]"

Pixel = tuple[float, float]


class Page:
    """A map that is open in the browser."""

    def __init__(self, browser: Chrome, path: Path, scenario: Scenario, plan: Plan) -> None:
        path.write_text(html_map(scenario, plan), encoding="utf-8")
        self.browser, self.scenario, self.plan = browser, scenario, plan
        browser.get(path.as_uri())
        self.settle()

    def settle(self) -> None:
        """Wait until what was changed is drawn."""
        self.browser.execute_async_script(AFTER_DRAWING)

    def js(self, expression: str, *arguments: object) -> Any:
        return self.browser.execute_script(f"return {expression}", *arguments)

    def find(self, selector: str) -> Any:
        return self.browser.find_element("css selector", selector)

    def set_time(self, seconds: float) -> None:
        code = "const t = document.getElementById('time'); t.value = arguments[0];"
        self.browser.execute_script(code + "t.dispatchEvent(new Event('input'))", seconds)
        self.settle()

    @property
    def time(self) -> float:
        return float(self.js("document.getElementById('time').value"))

    def drones(self) -> dict[int, dict[str, str]]:
        """What every drone marker says about itself, by the number of its transporter."""
        markers = self.js(
            "[...document.querySelectorAll('g[data-transporter]')].map(g => ({...g.dataset}))"
        )
        return {int(marker["transporter"]): marker for marker in markers}

    def opacities(self) -> list[float]:
        found: list[float] = self.js(f"{MARKERS}.map(g => Number(g.getAttribute('opacity')))")
        return found

    @property
    def view(self) -> tuple[float, float, float]:
        """Pixels per metre, and the metres at the centre."""
        found = self.js("({...document.getElementById('surface').dataset})")
        return float(found["scale"]), float(found["x"]), float(found["y"])

    def pixel(self, x: float, y: float) -> Pixel:
        """Of a place in metres, from the centre of the map."""
        scale, centre_x, centre_y = self.view
        return (x - centre_x) * scale, (centre_y - y) * scale

    def hover(self, x: float, y: float) -> None:
        right, down = self.pixel(x, y)
        self.mouse().move_to_element_with_offset(
            self.find("#surface"), round(right), round(down)
        ).perform()
        self.settle()

    @property
    def tip(self) -> str:
        tip = self.find("#tip")
        return str(tip.text) if tip.is_displayed() else ""

    def painted(self, canvas: str, x: float, y: float) -> tuple[int, ...]:
        """Red, green, blue, opacity of a canvas at a place in metres."""
        return tuple(self.js(READ_PIXEL, canvas, *self.pixel(x, y)))

    def mouse(self) -> Any:
        from selenium.webdriver import ActionChains

        return ActionChains(self.browser, duration=50)
