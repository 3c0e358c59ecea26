"""Mission control in Chromium: the time to the first tours on the map, and frames per second.

    python benchmarks/control.py [--repeats 20] [--pictures DIR]

Needs chromium, chromedriver and selenium. Prints a table; with --pictures it also writes the
screenshots of docs/control.md.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from flexpress import Scenario

FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--window-size=1280,860")
PHONE = (390, 844)

FIRST_TOURS = """
const done = arguments[0];
const state = document.getElementById("search-state");
const before = state.dataset.serial;
const begun = performance.now();
document.getElementById("plan").click();
(function look() {
  const shown = !document.getElementById("table").hidden && /^Searching: /.test(state.textContent);
  if (state.dataset.serial !== before && shown)
    requestAnimationFrame(() => done(performance.now() - begun));
  else requestAnimationFrame(look);
})();
"""
"""Milliseconds from the click to the frame after the tours are there."""

FRAMES = """
const done = arguments[0];
const surface = document.getElementById("surface");
const { left, top, width, height } = surface.getBoundingClientRect();
const at = (step) => ({
  pointerId: 1, button: 0, bubbles: true,
  clientX: left + width / 2 + 150 * Math.sin(step / 20),
  clientY: top + height / 2 + 100 * Math.cos(step / 20),
});
surface.setPointerCapture = () => {};
const fire = (type, step) => surface.dispatchEvent(new PointerEvent(type, at(step)));
fire("pointerdown", 0);
const painted = Number(surface.dataset.frames);
const begun = performance.now();
let step = 0;
(function move(now) {
  fire("pointermove", ++step);
  if (now - begun < 5000) return requestAnimationFrame(move);
  fire("pointercancel", step);
  done(((Number(surface.dataset.frames) - painted) * 1000) / (now - begun));
})(begun);
"""
"""Frames per second that were painted while the map was dragged for five seconds."""


def large(num_clients: int) -> Scenario:
    """Sensors at random in a square, four drones per hundred."""
    rng = np.random.default_rng(0)
    side = 300 * num_clients**0.5
    network = {
        "server": [side / 2, side / 2],
        "clients": (side * rng.random((num_clients, 2))).tolist(),
    }
    speeds = [10.0] * max(4, num_clients // 50)
    return Scenario.from_dict(
        {
            "name": f"n{num_clients}",
            "network": network,
            "fleet": {"speeds": speeds},
            "link": {"transfer_time": 6.0},
        }
    )


@contextmanager
def page(scenario: Scenario, folder: Path) -> Iterator[Any]:
    """Mission control and a browser that shows it."""
    from selenium.webdriver import Chrome, ChromeOptions
    from selenium.webdriver.chrome.service import Service

    scenario.save(folder / "mine.toml")
    command = [sys.executable, "-m", "flexpress", "control", "mine.toml", "--no-browser"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        options = ChromeOptions()
        for flag in FLAGS:
            options.add_argument(flag)
        try:
            with Chrome(options=options, service=Service(shutil.which("chromedriver"))) as browser:
                browser.set_script_timeout(600)
                browser.get(server.stdout.readline().strip())
                time.sleep(3)
                yield browser
        finally:
            server.terminate()


def first_tours(browser: Any, repeats: int) -> list[float]:
    """Seconds, after one search that warms up."""
    times = []
    for _ in range(repeats + 1):
        times.append(browser.execute_async_script(FIRST_TOURS) / 1000)
        browser.execute_script("document.getElementById('stop').click()")
        while browser.execute_script("return document.getElementById('plan').disabled"):
            time.sleep(0.1)
    return times[1:]


def measure(num_clients: int, repeats: int) -> str:
    with tempfile.TemporaryDirectory() as folder, page(large(num_clients), Path(folder)) as browser:
        times = first_tours(browser, repeats)
        frames = median(browser.execute_async_script(FRAMES) for _ in range(3))
        work = frame_work(browser)
    spread = f"{min(times):.2f} to {max(times):.2f}"
    return (
        f"| {num_clients:,} | {median(times):.2f} s | {spread} s | {frames:.0f} | {work:.1f} ms |"
    )


def frame_work(browser: Any) -> float:
    """Milliseconds of CPU time that the page's own thread spends on a frame."""

    def spent() -> float:
        found = browser.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
        return next(
            1000.0 * float(each["value"]) for each in found if each["name"] == "TaskDuration"
        )

    def frames() -> int:
        return int(
            browser.execute_script("return document.getElementById('surface').dataset.frames")
        )

    browser.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
    before, painted = spent(), frames()
    browser.execute_async_script(FRAMES)
    return (spent() - before) / (frames() - painted)


def pictures(folder: Path) -> None:
    """The page with the preset `alps` and a plan: light, dark, on a phone."""
    with (
        tempfile.TemporaryDirectory() as place,
        page(Scenario.preset("alps"), Path(place)) as browser,
    ):
        browser.execute_script("document.getElementById('plan-seconds').value = '2'")
        browser.execute_script("document.getElementById('plan').click()")
        while "kept" not in browser.find_element("id", "search-state").text:
            time.sleep(0.2)
        browser.execute_script("document.getElementById('files').open = false")
        for name, size, scheme in (
            ("light", None, "light"),
            ("dark", None, "dark"),
            ("phone", PHONE, "light"),
        ):
            metrics = {
                "width": size[0] if size else 1280,
                "height": size[1] if size else 860,
                "deviceScaleFactor": 1,
                "mobile": bool(size),
            }
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
            browser.execute_cdp_cmd(
                "Emulation.setEmulatedMedia",
                {"features": [{"name": "prefers-color-scheme", "value": scheme}]},
            )
            time.sleep(1)
            browser.execute_script("document.getElementById('reset').click()")
            time.sleep(1)
            browser.save_screenshot(str(folder / f"control-{name}.png"))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--repeats", type=int, default=20)
    options.add_argument("--clients", type=int, nargs="*", default=[40, 1000])
    options.add_argument("--pictures", type=Path)
    given = options.parse_args()
    if given.pictures:
        pictures(given.pictures)
        return
    print("| sensors | first tours, median | spread | frames per second | CPU per frame |")  # noqa: T201
    print("|---|---|---|---|---|")  # noqa: T201
    for num_clients in given.clients:
        print(measure(num_clients, given.repeats), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
