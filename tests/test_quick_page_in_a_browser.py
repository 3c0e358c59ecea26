"""The page of `flexpress reproduce --quick` in Chromium: alone, whole, in light and dark."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import pytest
from chromium import chromium, complaints, requests, requests_of
from quick_reproduction import Reproduction
from shown_page import DARK_PAPER, DESK, LIGHT_PAPER, PAPER, PHONE, js, show
from small_run import contents

from flexpress.experiments.claims import CLAIMS
from flexpress.experiments.figures import FIGURES
from flexpress.report.figures.style import DARK, LIGHT

if TYPE_CHECKING:
    from selenium.webdriver import Chrome


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    with chromium(tmp_path_factory.mktemp("browser")) as chrome:
        yield chrome


def open_page(
    browser: Chrome, quick: Reproduction, scheme: str, screen: Mapping[str, object]
) -> str:
    """Its address; what was said and asked for before is forgotten."""
    complaints(browser)
    requests(browser)
    show(browser, quick.folder / "report.html", scheme, screen)
    return (quick.folder / "report.html").as_uri()


schemes = pytest.mark.parametrize("scheme", ["light", "dark"])
screens = pytest.mark.parametrize("screen", [DESK, PHONE], ids=["desk", "phone"])


@schemes
@screens
def test_nothing_is_fetched_and_nothing_complains(
    quick: Reproduction, browser: Chrome, scheme: str, screen: Mapping[str, object]
) -> None:
    address = open_page(browser, quick, scheme, screen)
    fetched = js(browser, "performance.getEntriesByType('resource').map(entry => entry.name)")
    assert [name for name in fetched if not name.startswith("data:")] == []
    asked = requests_of(address, browser)
    assert [name for name in asked if not name.startswith("data:")] == [address]
    assert len(asked) > len(FIGURES)  # pictures within the page are told too
    assert complaints(browser) == []
    assert js(browser, PAPER) == (DARK_PAPER if scheme == "dark" else LIGHT_PAPER)


@schemes
@screens
def test_nothing_is_wider_than_the_screen(
    quick: Reproduction, browser: Chrome, scheme: str, screen: Mapping[str, object]
) -> None:
    """Nor when all that is folded is opened."""
    open_page(browser, quick, scheme, screen)
    for _ in range(2):
        assert js(browser, "document.documentElement.scrollWidth") <= int(str(screen["width"]))
        browser.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")


SHOWN = """[...document.images].map(image => ({
  section: image.closest('section').id, width: image.complete ? image.naturalWidth : 0,
  drawn: image.currentSrc, alt: image.alt, visible: image.checkVisibility(),
}))"""


@schemes
def test_all_pictures_are_there(quick: Reproduction, browser: Chrome, scheme: str) -> None:
    """Those for the light are the files beside the page."""
    open_page(browser, quick, scheme, DESK)
    pictures = js(browser, SHOWN)
    assert {figure.name for figure in FIGURES} <= {picture["section"] for picture in pictures}
    own, other = (DARK, LIGHT) if scheme == "dark" else (LIGHT, DARK)
    for picture in pictures:
        assert picture["width"] > 100
        assert picture["alt"]
        assert picture["visible"]
        assert picture["drawn"].startswith("data:image/svg+xml;base64,")
        drawing = base64.b64decode(picture["drawn"].split(",")[1])
        assert own.paper in drawing.decode()
        assert other.ink not in drawing.decode()
        files = contents(quick.folder / "figures")
        assert (drawing in files.values()) == (scheme == "light")


def test_the_table_of_claims(quick: Reproduction, browser: Chrome) -> None:
    open_page(browser, quick, "light", DESK)
    rows = js(
        browser,
        "[...document.querySelector('#summary table').tBodies[0].rows].map("
        "row => [...row.cells].map(cell => cell.innerText))",
    )
    assert [row[0] for row in rows] == [claim.sentence for claim in CLAIMS]
    for row, claim in zip(rows, CLAIMS, strict=True):
        verdicts = [re.sub(r"^\W+", "", cell) for cell in row[2::2]]
        said = {each["read"]: each["verdict"] for each in quick.decisions(claim)}
        assert verdicts == list(said.values())
    visible = "document.querySelector('#summary table').checkVisibility()"
    assert js(browser, visible)
