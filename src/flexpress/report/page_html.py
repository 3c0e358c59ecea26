"""A page as one HTML file that needs nothing else: no network, no script, no font.

Light where the screen is light, dark where it is dark, and light on paper.
"""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Iterable, Sequence
from importlib.resources import files
from urllib.parse import quote

from flexpress.report.page import Page, Section, file_names
from flexpress.report.page_table import table_html
from flexpress.report.picture import Picture

DARK_SCREEN = "screen and (prefers-color-scheme: dark)"
SIZE = re.compile(r'width="([\d.]+)pt" height="([\d.]+)pt"')
PIXELS_PER_POINT = 96 / 72 * 1.1
"""A little larger than they are, so that their words are as large as those beside them."""


def page_html(page: Page) -> str:
    """The whole file; the same page gives the same text."""
    parts = {
        "title": html.escape(page.title),
        "style": part("page.css"),
        "lead": paragraphs(page.lead),
        "summary": "\n".join(table_html(table) for table in page.summary),
        "contents": contents(page.sections),
        "sections": "\n".join(section_html(section, page.figures) for section in page.sections),
        "footer": paragraphs(page.footer),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], part("page.html"))


def part(name: str) -> str:
    return (files("flexpress.report") / "page_parts" / name).read_text(encoding="utf-8")


def paragraphs(texts: Iterable[str]) -> str:
    return "\n".join(f"<p>{html.escape(text)}</p>" for text in texts)


def contents(sections: Sequence[Section]) -> str:
    return "\n".join(
        f'<li><a href="#{section.anchor}">{html.escape(section.title)}</a></li>'
        for section in sections
    )


def section_html(section: Section, figures: str) -> str:
    pieces = [
        f'<section id="{section.anchor}" aria-labelledby="{section.anchor}-title">',
        f'<h2 id="{section.anchor}-title">{html.escape(section.title)}</h2>',
        paragraphs(section.text),
        *(picture_html(picture) for picture in section.pictures),
        *(table_html(table) for table in section.tables),
        command_html(section.command),
        downloads_html(section, figures),
        "</section>",
    ]
    return "\n".join(piece for piece in pieces if piece)


def picture_html(picture: Picture) -> str:
    width, height = size(picture.light)
    caption = f"\n<figcaption>{html.escape(picture.caption)}</figcaption>"
    return (
        f'<figure>\n<picture>\n<source media="{DARK_SCREEN}" srcset="{data(picture.dark)}">\n'
        f'<img src="{data(picture.light)}" alt="{html.escape(picture.alt)}" '
        f'width="{width}" height="{height}">\n</picture>'
        f"{caption if picture.caption else ''}\n</figure>"
    )


def data(svg: str) -> str:
    """The picture itself, as an address."""
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


def size(svg: str) -> tuple[int, int]:
    """In pixels, so that nothing moves when it appears."""
    found = SIZE.search(svg)
    assert found, "pictures are made by svg_text"
    width, height = (round(float(points) * PIXELS_PER_POINT) for points in found.groups())
    return width, height


def command_html(command: str) -> str:
    if not command:
        return ""
    return (
        '<p class="label">To make it again:</p>\n'
        f'<pre tabindex="0"><code>{html.escape(command)}</code></pre>'
    )


def downloads_html(section: Section, figures: str) -> str:
    """Links to the files beside the page."""
    links = (
        f'<a href="{quote(figures)}/{quote(name)}">{html.escape(name)}</a>'
        for name in file_names(section)
    )
    text = ", ".join(links)
    return f'<p class="files">Files: {text}</p>' if text else ""
