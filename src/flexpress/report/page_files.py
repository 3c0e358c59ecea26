"""A page and the files beside it: its pictures as SVG and PNG, its data."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from flexpress.files.disk import remove_drafts
from flexpress.files.provenance import Outputs
from flexpress.report.page import Page
from flexpress.report.page_html import page_html

REPORT, FIGURES = "report.html", "figures"


def figures_beside(path: Path) -> str:
    """The folder for what a page links to; another page in the same folder has another one."""
    return FIGURES if path.name == REPORT else f"{path.stem}-{FIGURES}"


def write_page(page: Page, path: Path, outputs: Outputs) -> None:
    """First what it links to, then the page itself; nothing else is left, whoever was killed."""
    figures = path.parent / page.figures
    contents = dict(figure_files(page))
    for file in (*(figures / name for name in contents), path):
        remove_drafts(file)
        outputs.check_file(file)
    outputs.write(figures, contents.items())
    outputs.write(path.parent, [(path.name, page_html(page))])


def figure_files(page: Page) -> Iterator[tuple[str, str | bytes]]:
    """Names within the folder of figures, and contents."""
    for section in page.sections:
        for picture in section.pictures:
            yield f"{picture.name}.svg", picture.light
            yield f"{picture.name}.png", picture.png
        for download in section.downloads:
            yield download.name, download.content
