"""A page as one HTML file that needs no network, script or font, and the files beside it.

It is light or dark like the screen, and light in print.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup, escape

from flexpress.files.disk import remove_drafts
from flexpress.files.provenance import Outputs
from flexpress.report.page.page import Grid, Page, VerdictColour

REPORT, FIGURES_FOLDER = "report.html", "figures"

_SIZE = re.compile(r'width="([\d.]+)pt" height="([\d.]+)pt"')
_PIXELS_PER_POINT = 96 / 72 * 1.1
"""Slightly enlarged, so that text in pictures is as large as the text beside them."""

_VALUE = r"[-+±\u2212]?\d[\d,.]*(?:e[-+]?\d+)?(?: ?%| ?[^\W\d]{1,6})?"
_NUMBER = re.compile(f"{_VALUE}(?: to {_VALUE})?|[-\u2013]?")
"""A number with its unit, an interval, a dash, or nothing."""

_SIGNS: dict[VerdictColour, str] = {
    "good": "\N{HEAVY CHECK MARK}",
    "bad": "\N{HEAVY BALLOT X}",
    "open": "?",
    "none": "\N{EN DASH}",
}
"""Before the text of a verdict, for readers who cannot tell its colours apart."""


def figures_beside(path: Path) -> str:
    """The folder for the files of a page; each page in a folder has its own."""
    return FIGURES_FOLDER if path.name == REPORT else f"{path.stem}-{FIGURES_FOLDER}"


def write_page(page: Page, path: Path, outputs: Outputs) -> None:
    """Write the files beside the page first, then the page; remove drafts of killed processes."""
    figures = path.parent / page.figures
    contents = dict(_figure_files(page))
    for file in (*(figures / name for name in contents), path):
        remove_drafts(file)
        outputs.check_file(file)
    outputs.write(figures, contents.items())
    outputs.write(path.parent, [(path.name, _page_html(page))])


def _figure_files(page: Page) -> Iterator[tuple[str, str | bytes]]:
    """Names within the folder of figures, and contents."""
    for section in page.sections:
        for picture in section.pictures:
            yield f"{picture.name}.svg", picture.light
            yield f"{picture.name}.png", picture.png
        for download in section.downloads:
            yield download.name, download.content


def _page_html(page: Page) -> str:
    """The whole file; the same page gives the same text."""
    environment = Environment(
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
    )
    environment.filters |= {
        "breakable": _breakable,
        "data_url": _data_url,
        "number_columns": _number_columns,
        "pixels": _pixels,
    }
    environment.globals |= {"page": page, "signs": _SIGNS}
    template = environment.from_string(_page_part("page.html.j2"))
    return template.render(style=_page_part("page.css")).lstrip()


def _page_part(name: str) -> str:
    return (files("flexpress.report.page") / name).read_text(encoding="utf-8")


def _breakable(text: str) -> Markup:
    """Lets lines break inside the names of folders."""
    return Markup(re.sub(r"([/_])", r"\1<wbr>", str(escape(text))))


def _data_url(svg: str) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


def _number_columns(table: Grid) -> set[int]:
    """The columns that contain only numbers."""
    return {
        j
        for j in range(len(table.head))
        if all(isinstance(row[j], str) and _NUMBER.fullmatch(str(row[j])) for row in table.rows)
    }


def _pixels(svg: str) -> tuple[int, int]:
    """Width and height, so that the page does not move when the picture appears."""
    found = _SIZE.search(svg)
    assert found, "pictures are made by svg_text"
    width, height = (round(float(points) * _PIXELS_PER_POINT) for points in found.groups())
    return width, height
