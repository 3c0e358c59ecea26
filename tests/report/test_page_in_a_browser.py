"""The page in Chromium: everything is there, in light and dark, on a desk, a phone and paper."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from chromium import PATIENCE, chromium, complaints, requests
from sample_page import PAGE
from shown_page import DARK_PAPER, DESK, LIGHT_PAPER, PAPER, PHONE, js, show
from shuttles import PLAN, SHUTTLES, Still

from flexpress import StoredRun, load_run, save_report, simulate
from flexpress.files.provenance import Outputs
from flexpress.report.page.html import _page_html, write_page
from flexpress.report.page.runs import _summary
from flexpress.report.page.shown_runs import shown_runs
from flexpress.simulation.run_folder import run_in_folder
from flexpress.simulation.simulate import Simulation
from flexpress.simulation.stored_run import RunState

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

BEYOND = "[...document.querySelectorAll('.scroll')].map(b => b.scrollWidth - b.clientWidth)"
WIDTHS = "[...document.images].map(image => image.complete ? image.naturalWidth : 0)"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    with chromium(tmp_path_factory.mktemp("browser")) as chrome:
        yield chrome


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One with claims, and one that `save_report` made of two runs."""
    folder = tmp_path_factory.mktemp("pages")
    write_page(PAGE, folder / "report.html", Outputs())
    runs = []
    for algorithm in ("sync", "async"):
        place, scenario = folder / algorithm, SHUTTLES.replace(run={"algorithm": algorithm})
        run_in_folder(Simulation(scenario, PLAN, Still()), place)
        runs.append(load_run(place))
    save_report(runs, folder / "runs.html")
    return {"sample": folder / "report.html", "runs": folder / "runs.html"}


@pytest.mark.parametrize("name", ["sample", "runs"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("screen", [DESK, PHONE], ids=["desk", "phone"])
def test_all_is_there(
    browser: Chrome, pages: dict[str, Path], name: str, scheme: str, screen: Mapping[str, object]
) -> None:
    show(browser, pages[name], scheme, screen)
    widths = js(browser, WIDTHS)
    assert len(widths) == {"sample": 3, "runs": 5}[name]
    assert min(widths) > 100
    assert js(browser, "document.documentElement.scrollWidth") <= int(str(screen["width"]))
    assert js(browser, "Math.max(...[...document.images].map(image => image.width))") <= int(
        str(screen["width"])
    )
    assert js(browser, "document.querySelectorAll('#summary table tbody tr').length") > 3
    assert js(browser, PAPER) == (DARK_PAPER if scheme == "dark" else LIGHT_PAPER)
    assert complaints(browser) == []
    assert requests(browser) == []


def test_pictures_are_those_of_the_scheme(browser: Chrome, pages: dict[str, Path]) -> None:
    shown = {}
    for scheme in ("light", "dark"):
        show(browser, pages["sample"], scheme, DESK)
        shown[scheme] = js(browser, "document.images[0].currentSrc")
    picture = PAGE.sections[0].pictures[0]
    for scheme, expected in (("light", picture.light), ("dark", picture.dark)):
        assert base64.b64decode(shown[scheme].split(",")[1]).decode() == expected


def test_wide_tables_scroll_in_their_box(browser: Chrome, pages: dict[str, Path]) -> None:
    show(browser, pages["sample"], "light", PHONE)
    box = "document.querySelectorAll('.scroll')[1]"
    assert js(browser, f"{box}.scrollWidth > {box}.clientWidth")
    assert js(browser, f"getComputedStyle({box}).overflowX") == "auto"


@pytest.mark.parametrize("number", [2, 4, 5, 9])
def test_no_number_of_a_summary_is_cut(browser: Chrome, tmp_path: Path, number: int) -> None:
    """At 900 pixels, whatever the number of runs: nothing lies beyond the edge of its box."""
    trace = simulate(SHUTTLES, PLAN, Still())
    states: list[RunState] = ["complete", "unfinished", "diverged"]
    runs = [
        StoredRun(tmp_path / f"learning_rate/{j}", SHUTTLES, PLAN, trace, states[j % 3])
        for j in range(number)
    ]
    page = replace(PAGE, summary=tuple(_summary(shown_runs(runs))), sections=())
    path = tmp_path / "page.html"
    path.write_text(_page_html(page), encoding="utf-8")
    show(browser, path, "light", {**DESK, "width": 900})
    hidden = js(browser, BEYOND)
    assert hidden
    assert max(hidden) == 0


def test_claims_can_be_read(browser: Chrome, pages: dict[str, Path]) -> None:
    show(browser, pages["sample"], "light", DESK)
    verdicts = js(browser, "[...document.querySelectorAll('.verdict')].map(v => v.innerText)")
    assert [verdict.split(" ", 1)[1] for verdict in verdicts] == [
        "reproduced",
        "not reproduced",
        "undecided",
        "not applicable",
    ]
    colours = js(
        browser, "[...document.querySelectorAll('.verdict')].map(v => getComputedStyle(v).color)"
    )
    assert len(set(colours)) == 4
    browser.find_element("css selector", "#summary a").click()
    assert browser.current_url.endswith("#one")


def test_no_script_is_run(browser: Chrome, pages: dict[str, Path]) -> None:
    """Titles, captions and cells that hold HTML are shown as they are."""
    show(browser, pages["sample"], "light", DESK)
    assert js(browser, "document.scripts.length") == 0
    assert js(browser, "document.querySelector('h1').innerText").endswith('"quotes" {{style}}')


def until(browser: Chrome, reached: Callable[[], bool]) -> None:
    """Pictures are exchanged in their own time."""
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(browser, PATIENCE).until(lambda _: reached())


def test_on_paper_it_is_light(browser: Chrome, pages: dict[str, Path]) -> None:
    show(browser, pages["sample"], "dark", DESK)
    feature = {"name": "prefers-color-scheme", "value": "dark"}
    paper = {"media": "print", "features": [feature]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", paper)
    try:
        assert js(browser, "getComputedStyle(document.body).color") == "rgb(34, 34, 34)"
        assert js(browser, "getComputedStyle(document.documentElement).colorScheme") == "light"
        assert js(browser, "document.querySelector('details table').checkVisibility()")
        light = PAGE.sections[0].pictures[0].light
        expected = base64.b64encode(light.encode()).decode()
        until(browser, lambda: js(browser, "document.images[0].currentSrc").endswith(expected))
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
