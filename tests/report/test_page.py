"""The page: well formed, alone, accessible, and texts are texts."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

import pytest
from sample_page import CLAIMS, ODD, PAGE, picture
from written_page import WrittenPage

from flexpress.files.provenance import RECORD, Outputs
from flexpress.report.figures.style import DARK, LIGHT, _contrast
from flexpress.report.page.html import _data_url, _page_html, _page_part, figures_beside, write_page
from flexpress.report.page.page import Cell, Download, Grid, Page, PageSection

HTML = _page_html(PAGE)
WRITTEN = WrittenPage(HTML)


def test_it_is_well_formed_and_always_the_same() -> None:
    assert WRITTEN.mistakes == []
    assert HTML.startswith("<!doctype html>")
    assert _page_html(PAGE) == HTML


def test_nothing_is_fetched() -> None:
    assert "http:" not in HTML
    assert "https:" not in HTML
    assert WRITTEN.all("script") == []
    addresses = [
        element.attributes[name]
        for element in WRITTEN.elements
        for name in ("src", "srcset")
        if name in element.attributes
    ]
    assert len(addresses) == 6
    assert all(address.startswith("data:image/svg+xml;base64,") for address in addresses)
    assert [link.attributes["href"] for link in WRITTEN.all("link")] == ["data:,"]
    assert "url(" not in _page_part("page.css")
    assert "@import" not in _page_part("page.css")


def test_texts_are_texts() -> None:
    assert WRITTEN.all("title")[0].text == f"Sample {ODD}"
    assert WRITTEN.all("h1")[0].text == f"Sample {ODD}"
    assert [p.text for p in WRITTEN.all("p")][:2] == ["What it says.", ODD]
    assert WRITTEN.all("img")[0].attributes["alt"] == f"first: {ODD}"
    assert WRITTEN.all("figcaption")[0].text == f"Caption: {ODD}"
    assert WRITTEN.all("h2")[2].text == f"First {ODD}"
    assert WRITTEN.all("code")[0].text == PAGE.sections[0].command
    assert ODD in [cell.text for cell in WRITTEN.all("th", scope="row")]


def test_ids_are_unique_and_links_lead_somewhere(tmp_path: Path) -> None:
    ids = [e.attributes["id"] for e in WRITTEN.elements if "id" in e.attributes]
    assert len(set(ids)) == len(ids)
    named = [
        e.attributes["aria-labelledby"]
        for e in WRITTEN.elements
        if "aria-labelledby" in e.attributes
    ]
    assert set(named) <= set(ids)
    write_page(PAGE, tmp_path / "report.html", Outputs("report"))
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == HTML
    links = [link.attributes["href"] for link in WRITTEN.all("a")]
    assert {"#one", "#two", "figures/first.svg", "figures/one.csv"} <= set(links)
    for link in links:
        assert link[1:] in ids if link.startswith("#") else (tmp_path / unquote(link)).is_file()


def test_drafts_of_a_killed_process_are_removed(tmp_path: Path) -> None:
    """Those of its own files: others may be somebody else's."""
    write_page(PAGE, tmp_path / "report.html", Outputs("report"))
    before = sorted(tmp_path.rglob("*"))
    for name in (".report.html.123.part", "figures/.one.csv.4567.part"):
        (tmp_path / name).write_text("half")
    other = tmp_path / ".film.1.part"
    other.touch()
    write_page(PAGE, tmp_path / "report.html", Outputs("report"))
    assert sorted(tmp_path.rglob("*")) == sorted([*before, other])


def test_files_beside_it(tmp_path: Path) -> None:
    write_page(PAGE, tmp_path / "report.html", Outputs("report"))
    names = {path.name for path in (tmp_path / "figures").iterdir()}
    pictures = {
        f"{name}.{kind}" for name in ("first", "second", "third") for kind in ("svg", "png")
    }
    assert names == pictures | {"one.csv", RECORD}
    assert (tmp_path / "figures" / "first.svg").read_text(encoding="utf-8") == picture(
        "first"
    ).light
    assert (tmp_path / "figures" / "first.png").read_bytes() == picture("first").png
    assert (figures_beside(Path("a/report.html")), figures_beside(Path("b.html"))) == (
        "figures",
        "b-figures",
    )


def test_the_summary_is_first_then_the_contents_then_sections() -> None:
    headings = [(e.tag, e.text) for e in WRITTEN.elements if re.fullmatch("h[1-6]", e.tag)]
    assert [tag for tag, _ in headings] == ["h1", "h2", "h2", "h2", "h2"]
    assert [text for _, text in headings][1:] == ["Summary", "Contents", f"First {ODD}", "Second"]
    assert [link.attributes["href"] for link in WRITTEN.all("a")][:4] == [
        "#one",
        "#two",
        "#one",
        "#two",
    ]


def test_verdicts_are_coloured_and_worded() -> None:
    for verdict, words in (
        ("good", "\N{HEAVY CHECK MARK} reproduced"),
        ("bad", "\N{HEAVY BALLOT X} not reproduced"),
        ("open", "? undecided"),
        ("none", "\N{EN DASH} not applicable"),
    ):
        (found,) = WRITTEN.all("span", class_=f"verdict {verdict}")
        assert found.text == words


def test_pictures_are_light_on_paper_and_dark_on_dark_screens() -> None:
    (source, *_), (image, *_) = WRITTEN.all("source"), WRITTEN.all("img")
    assert source.attributes["media"] == "screen and (prefers-color-scheme: dark)"
    assert source.attributes["srcset"] == _data_url(picture("first").dark)
    assert image.attributes["src"] == _data_url(picture("first").light)
    assert int(image.attributes["width"]) > int(image.attributes["height"]) > 100
    assert all(element.attributes["alt"] for element in WRITTEN.all("img"))


def test_numbers_stand_below_each_other_and_tables_scroll() -> None:
    heads = [(e.text, e.attributes.get("class")) for e in WRITTEN.all("th", scope="col")][:4]
    assert heads == [
        ("claim", None),
        ("verdict", None),
        ("difference", "number"),
        ("interval", "number"),
    ]
    boxes = WRITTEN.all("div", class_="scroll", role="region", tabindex="0")
    assert len(boxes) == len(WRITTEN.all("table")) == 3
    assert boxes[0].attributes["aria-label"] == "Claims"
    assert WRITTEN.all("summary")[0].text == "Per seed"


def variables(block: str) -> dict[str, str]:
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})\b", block))


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_texts_have_contrast(theme: object) -> None:
    light, dark = (variables(block) for block in _page_part("page.css").split("@media", 2)[:2])
    colours = light if theme is LIGHT else dark
    assert colours.keys() == light.keys()
    assert colours["card"] == (LIGHT.paper if theme is LIGHT else DARK.paper)
    for text, backs in {
        "ink": ("paper", "card", "stripe"),
        "muted": ("paper", "card", "stripe"),
        "link": ("paper", "card"),
        "good": ("good-back",),
        "bad": ("bad-back",),
        "open": ("open-back",),
        "none": ("none-back",),
    }.items():
        for back in backs:
            assert _contrast(colours[text], colours[back]) >= 4.5, (text, back)


def test_our_own_mistakes_are_found() -> None:
    one = PAGE.sections[0]
    for wrong in ("Upper", "with space", "", "summary"):
        with pytest.raises(AssertionError):
            PageSection(wrong, "Title")
    with pytest.raises(AssertionError, match="rows as wide as the head"):
        Grid(("a", "b"), (("1",),))
    with pytest.raises(AssertionError):
        replace(PAGE, sections=(one, one))
    with pytest.raises(AssertionError):  # two files of one name
        replace(
            PAGE, sections=(one, PageSection("other", "", downloads=(Download("one.csv", ""),)))
        )
    with pytest.raises(AssertionError, match="nowhere"):
        replace(PAGE, summary=(Grid(("a",), ((Cell("b", link="nowhere"),),)),))


def test_a_page_with_hardly_anything() -> None:
    empty = WrittenPage(_page_html(Page("Empty", (), (), ())))
    assert empty.mistakes == []
    assert empty.all("h1")[0].text == "Empty"
    assert CLAIMS.caption not in empty.html
