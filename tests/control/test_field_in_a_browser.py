"""The Field tab in Chromium: a rehearsal is watched live; decisions are asked twice."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from chromium import PATIENCE, chromium, complaints
from live_control import Page, control

from flexpress import Scenario, make_plan
from flexpress.field import provision

if TYPE_CHECKING:
    from selenium.webdriver import Chrome


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    with chromium(tmp_path_factory.mktemp("browser")) as chrome:
        yield chrome


CURVES = "return document.querySelectorAll('#field-curve polyline').length"

SMALL = Scenario.from_dict(
    {
        "name": "small",
        "network": {"server": [0, 0], "clients": [[100, 0], [0, 100]]},
        "fleet": {"speeds": [10.0]},
        "link": {"transfer_time": 1.0},
        "learning": {"model": "logistic"},
        "run": {"eval_every": 1},
    }
)


@contextmanager
def rehearsal(folder: Path) -> Iterator[Path]:
    """The command under way, until the end of the block: the operator's kit."""
    SMALL.save(folder / "small.toml")
    options = ["--out", "rehearsal", "--horizon", "100000", "--speedup", "60", "--json"]
    command = [sys.executable, "-m", "flexpress", "rehearse", "small.toml", *options]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)
    kit = folder / "rehearsal" / "kits" / "operator"
    try:
        while not (kit / "kit.json").exists():
            assert process.poll() is None
            time.sleep(0.05)
        yield kit
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)


def test_a_rehearsal_is_watched_and_a_tour_voided(browser: Chrome, tmp_path: Path) -> None:
    with rehearsal(tmp_path) as kit, control(tmp_path, str(kit)) as live:
        page = Page(browser, live.address)
        page.click("tab-field")
        page.wait_for(lambda: page.state("field-state") == "live")
        page.wait_for(lambda: "out" in page.text("courier-rows"))
        page.wait_for(lambda: page.run(CURVES) > 0)
        page.browser.refresh()
        page.wait_for(lambda: page.state("field-state") == "live")
        page.wait_for(lambda: "courier-1" in page.text("courier-rows"))
        void_a_tour(page)
        page.wait_for(lambda: "void" in page.text("field-state"))
        assert complaints(browser) == []
    complaints(browser)  # that the server is gone


def void_a_tour(page: Page) -> None:
    """Twice asked: once by the page, once by the server, with the name to be typed."""
    script = (
        "const all = [...document.querySelectorAll('#courier-rows button')];"
        "const found = all.find((each) => each.textContent === 'Void…');"
        "found?.click(); return Boolean(found)"
    )
    page.wait_for(lambda: page.run(script))
    assert "once more" in page.text("confirm-text")
    page.click("confirm-yes")
    page.wait_for(lambda: "Really void tour" in page.text("confirm-title"))
    assert not page["confirm-yes"].is_enabled()
    page["confirm-typed"].send_keys(page.text("confirm-word"))
    page.click("confirm-yes")


def test_a_server_that_is_not_there(browser: Chrome, tmp_path: Path) -> None:
    """The page says so, with the kit of the server as with the operator's."""
    provision(SMALL, make_plan(SMALL), out=tmp_path / "kits", server="127.0.0.1:1")
    with control(tmp_path, str(tmp_path / "kits" / "server")) as live:
        page = Page(browser, live.address)
        page.click("tab-field")
        page.wait_for(lambda: page.state("field-state") == "lost")
        assert "the server cannot be reached" in page.text("field-state")
    complaints(browser)
