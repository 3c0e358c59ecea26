"""The Field tab in Chromium: a rehearsal is watched live; decisions are asked twice."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from chromium import chromium, complaints
from live_control import Page, control

from flexpress import Scenario
from flexpress.field import Rehearsal, rehearse

if TYPE_CHECKING:
    from selenium.webdriver import Chrome


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    with chromium(tmp_path_factory.mktemp("browser")) as chrome:
        yield chrome


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


class Background:
    """A rehearsal in a thread; it is stopped at the end of the test."""

    def __init__(self, folder: Path, horizon: int) -> None:
        self.folder, self.horizon = folder, horizon
        self.over = threading.Event()
        self.result: Rehearsal | None = None
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        with suppress(KeyboardInterrupt):
            self.result = rehearse(
                SMALL,
                out=self.folder,
                horizon=self.horizon,
                speedup=60.0,
                should_stop=self.over.is_set,
            )

    def __enter__(self) -> Background:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self._thread.join()


def test_a_rehearsal_is_watched_and_a_tour_voided(browser: Chrome, tmp_path: Path) -> None:
    folder = tmp_path / "rehearsal"
    with Background(folder, 100_000):
        kit = folder / "kits" / "operator"
        while not (kit / "kit.json").exists():
            threading.Event().wait(0.05)
        with control(tmp_path, str(kit)) as live:
            page = Page(browser, live.address)
            page.click("tab-field")
            page.wait_for(lambda: page.state("field-state") == "live")
            page.wait_for(lambda: "out" in page.text("courier-rows"))
            page.wait_for(
                lambda: page.run("return document.querySelectorAll('#field-curve polyline').length")
            )
            page.browser.refresh()
            page.wait_for(lambda: page.state("field-state") == "live")
            page.wait_for(lambda: "courier-1" in page.text("courier-rows"))
            void_a_tour(page)
            page.wait_for(
                lambda: "is void" in page.text("field-state") or "void" in page.text("field-state")
            )
    assert complaints(browser) == []


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


def test_a_decision_that_is_withdrawn(browser: Chrome, tmp_path: Path) -> None:
    """Nothing is asked of a server that is not there, and the page says so."""
    from flexpress.field import provision
    from flexpress.planning import make_plan

    provision(SMALL, make_plan(SMALL), out=tmp_path / "kits", server="127.0.0.1:1")
    with control(tmp_path, str(tmp_path / "kits" / "server")) as live:
        page = Page(browser, live.address)
        page.click("tab-field")
        page.wait_for(lambda: page.state("field-state") == "lost")
        assert "the server cannot be reached" in page.text("field-state")
    complaints(browser)
