"""What stands on a page: a summary, then sections of pictures, numbers and commands.

Plain values; `page_html` and `write_page` make files of them. Texts are texts, never HTML.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from flexpress.report.picture import Picture

Verdict = Literal["good", "bad", "open", "none"]
"""What a cell says about a claim or a run; its text says it in words."""

ANCHOR = re.compile(r"[a-z0-9][a-z0-9.-]*")
TAKEN = frozenset({"summary", "contents"})


@dataclass(frozen=True)
class Cell:
    """A text of a table that is a verdict, or leads to the section of this anchor, or both."""

    text: str
    verdict: Verdict | None = None
    link: str | None = None


@dataclass(frozen=True)
class Grid:
    """A table: the first column names its rows. A folded one is opened by a click."""

    head: tuple[str, ...]
    rows: tuple[tuple[str | Cell, ...], ...]
    caption: str = ""
    folded: bool = False

    def __post_init__(self) -> None:
        assert all(len(row) == len(self.head) for row in self.rows), "rows as wide as the head"


@dataclass(frozen=True)
class Download:
    """A file beside the pictures of a page."""

    name: str
    content: str | bytes


@dataclass(frozen=True)
class Section:
    anchor: str
    title: str
    text: tuple[str, ...] = ()  # paragraphs
    pictures: tuple[Picture, ...] = ()
    tables: tuple[Grid, ...] = ()
    command: str = ""  # that makes it
    downloads: tuple[Download, ...] = ()

    def __post_init__(self) -> None:
        assert ANCHOR.fullmatch(self.anchor), self.anchor
        assert self.anchor not in TAKEN, self.anchor


@dataclass(frozen=True)
class Page:
    title: str
    lead: tuple[str, ...]  # paragraphs
    summary: tuple[Grid, ...]
    sections: tuple[Section, ...]
    footer: tuple[str, ...] = ()  # paragraphs
    figures: str = "figures"  # the folder beside the page that pictures and data are in

    def __post_init__(self) -> None:
        """No two things have one name, and links within lead somewhere."""
        anchors = [section.anchor for section in self.sections]
        assert len(set(anchors)) == len(anchors), anchors
        names = [name for section in self.sections for name in file_names(section)]
        assert len(set(names)) == len(names), names
        tables = chain(self.summary, *(section.tables for section in self.sections))
        cells = (cell for table in tables for row in table.rows for cell in row)
        links = {cell.link for cell in cells if isinstance(cell, Cell) and cell.link}
        assert links <= set(anchors), links - set(anchors)


def file_names(section: Section) -> list[str]:
    """Of the files beside the page that belong to a section."""
    pictures = [f"{picture.name}.{kind}" for picture in section.pictures for kind in ("svg", "png")]
    return pictures + [download.name for download in section.downloads]
