"""The Learn tab in Chromium: a simulation is watched, paused, resumed and reported."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from chromium import chromium, complaints
from live_control import Control, Page, control

from flexpress import load_run, simulate
from flexpress.simulation.run_lines import METRICS

if TYPE_CHECKING:
    from pathlib import Path

    from selenium.webdriver import Chrome

SMALL = """name = "small"

[network]
server = [0.0, 0.0]
clients = [[100.0, 0.0], [0.0, 100.0], [100.0, 100.0]]

[fleet]
speeds = [10.0]

[link]
transfer_time = 1.0

[learning]
model = "logistic"

[run]
eval_every = 5
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    with chromium(tmp_path_factory.mktemp("browser")) as chrome:
        yield chrome


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Control]:
    folder = tmp_path_factory.mktemp("control")
    (folder / "small.toml").write_text(SMALL)
    with control(folder, "small.toml") as started:
        yield started


@pytest.fixture
def page(browser: Chrome, live: Control) -> Iterator[Page]:
    page = Page(browser, live.address)
    page.click("tab-learn")
    yield page
    assert complaints(browser) == []


def runs(live: Control) -> list[Path]:
    found = (live.folder / "flexpress-out").glob("small-run-*")
    return sorted(found, key=lambda each: each.stat().st_mtime_ns)


def slot(page: Page, run: str) -> int:
    script = "return document.querySelector(arguments[0])?.textContent"
    return int(page.run(script, f"[data-run='{run}'] td:nth-of-type(2)") or 0)


def test_watched_paused_and_resumed(page: Page, live: Control, tmp_path: Path) -> None:
    page.type("horizon", "100000")
    page.click("simulate")
    page.wait_for(lambda: "slot" in page.text("learn-state"))
    page.wait_for(
        lambda: page.run("return document.querySelectorAll('#learn-curve polyline').length")
    )
    page.browser.refresh()
    page.wait_for(lambda: page.state("learn-state") == "running")
    page.click("pause")
    page.wait_for(lambda: page.state("learn-state") == "paused")
    (folder,) = runs(live)
    stored = load_run(folder)
    assert stored.state == "unfinished"
    reached = stored.trace.metrics[-1].slot
    assert reached > 0
    scenario = stored.scenario.replace(run={"horizon": reached})
    simulate(scenario, stored.plan, out=tmp_path / "again")
    lines = (tmp_path / "again" / METRICS).read_bytes().splitlines()
    assert (folder / METRICS).read_bytes().splitlines()[: len(lines)] == lines
    button = (
        "[...document.querySelectorAll('#run-rows button')].find((b) => b.innerText === 'Go on')"
    )
    page.run(f"{button}.click()")
    page.wait_for(lambda: page.state("learn-state") == "running")
    page.wait_for(lambda: slot(page, folder.name) > reached)
    page.click("pause")
    page.wait_for(lambda: page.state("learn-state") == "paused")


def test_to_the_end_and_its_report(page: Page, live: Control) -> None:
    page.type("horizon", "60")
    page.run("document.querySelector('[name=algorithm][value=async]').checked = true")
    page.click("simulate")
    page.wait_for(lambda: page.state("learn-state") == "complete")
    folder = runs(live)[-1]
    names = sorted(each.name for each in folder.iterdir() if each.is_dir())
    assert names == ["async-head-start", "sync-head-start"]
    assert all(load_run(folder / name).trace.complete for name in names)
    assert page.run("return document.querySelectorAll('#curve-key li').length") == 2
    page.run(f"document.querySelector(`[data-run='{folder.name}'] button:last-child`).click()")
    link = page.wait_for(
        lambda: page.browser.find_elements("css selector", f"[data-run='{folder.name}'] a")
    )[0]
    assert (folder / "report.html").exists()
    page.browser.get(link.get_attribute("href"))
    assert "async" in page.browser.page_source
