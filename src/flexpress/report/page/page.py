"""The content of a page: a summary, then sections of pictures, tables and commands.

Plain values; `html` makes files of them. Texts are plain text, never HTML.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from flexpress.report.figures.picture import Picture

VerdictColour = Literal["good", "bad", "open", "none"]
"""The colour of a verdict on a claim or a run; the text of the cell says it in words."""

_ANCHOR = re.compile(r"[a-z0-9][a-z0-9.-]*")
_TAKEN = frozenset({"summary", "contents"})


@dataclass(frozen=True)
class Cell:
    """A text that is a verdict, or links to the section with this anchor, or both."""

    text: str
    verdict: VerdictColour | None = None
    link: str | None = None


@dataclass(frozen=True)
class Grid:
    """A table; the first column names its rows. A folded one opens with a click."""

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
class PageSection:
    anchor: str
    title: str
    text: tuple[str, ...] = ()  # paragraphs
    pictures: tuple[Picture, ...] = ()
    tables: tuple[Grid, ...] = ()
    command: str = ""  # makes its content again
    downloads: tuple[Download, ...] = ()
    quote: str = ""  # shown as it is, line by line

    def __post_init__(self) -> None:
        assert _ANCHOR.fullmatch(self.anchor), self.anchor
        assert self.anchor not in _TAKEN, self.anchor

    @property
    def file_names(self) -> list[str]:
        """The files beside the page that belong to this section."""
        pictures = [f"{each.name}.{kind}" for each in self.pictures for kind in ("svg", "png")]
        return pictures + [download.name for download in self.downloads]


@dataclass(frozen=True)
class Page:
    title: str
    lead: tuple[str, ...]  # paragraphs
    summary: tuple[Grid, ...]
    sections: tuple[PageSection, ...]
    footer: tuple[str, ...] = ()  # paragraphs
    figures: str = "figures"  # the folder of pictures and data, beside the page

    def __post_init__(self) -> None:
        """Names are unique, and links within the page have a target."""
        anchors = [section.anchor for section in self.sections]
        assert len(set(anchors)) == len(anchors), anchors
        names = [name for section in self.sections for name in section.file_names]
        assert len(set(names)) == len(names), names
        tables = chain(self.summary, *(section.tables for section in self.sections))
        cells = (cell for table in tables for row in table.rows for cell in row)
        links = {cell.link for cell in cells if isinstance(cell, Cell) and cell.link}
        assert links <= set(anchors), links - set(anchors)
