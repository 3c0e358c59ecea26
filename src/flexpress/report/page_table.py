"""Tables of a page as HTML: they scroll in a box of their own, numbers stand below each other."""

from __future__ import annotations

import html
import re

from flexpress.report.page import Cell, Grid, Verdict

VALUE = r"[-+±\u2212]?\d[\d,.]*(?:e[-+]?\d+)?(?: ?%| ?[^\W\d]{1,6})?"
NUMBER = re.compile(f"{VALUE}(?: to {VALUE})?|[-\u2013]?")
"""With its unit, or two that are the ends of an interval, or a dash for what there is not."""
SIGNS: dict[Verdict, str] = {
    "good": "\N{HEAVY CHECK MARK}",
    "bad": "\N{HEAVY BALLOT X}",
    "open": "?",
    "none": "\N{EN DASH}",
}
"""Before the words of a verdict, for those who do not tell its colours apart at a glance."""


def table_html(table: Grid) -> str:
    """A region that can be scrolled with the keyboard too."""
    label = html.escape(table.caption or ", ".join(filter(None, table.head)))
    box = f'<div class="scroll" role="region" aria-label="{label}" tabindex="0">\n'
    body = f"{box}<table>\n{head_html(table)}\n{body_html(table)}\n</table>\n</div>"
    caption = html.escape(table.caption)
    if table.folded:
        return f"<details>\n<summary>{caption or 'Numbers'}</summary>\n{body}\n</details>"
    return f'<p class="caption">{caption}</p>\n{body}' if caption else body


def head_html(table: Grid) -> str:
    numbers = number_columns(table)
    cells = (
        f'<th scope="col"{align(j in numbers)}>{breakable(html.escape(text))}</th>'
        for j, text in enumerate(table.head)
    )
    return f"<thead><tr>{''.join(cells)}</tr></thead>"


def body_html(table: Grid) -> str:
    numbers = number_columns(table)
    rows = []
    for first, *others in table.rows:
        name = f'<th scope="row"{align(0 in numbers)}>{inner(first)}</th>'
        cells = (f"<td{align(j in numbers)}>{inner(c)}</td>" for j, c in enumerate(others, start=1))
        rows.append(f"<tr>{name}{''.join(cells)}</tr>")
    return "<tbody>\n" + "\n".join(rows) + "\n</tbody>"


def breakable(escaped: str) -> str:
    """Names of folders may go on in the next line behind these signs."""
    return re.sub(r"([/_])", r"\1<wbr>", escaped)


def inner(cell: str | Cell) -> str:
    if isinstance(cell, str):
        return html.escape(cell)
    text = html.escape(cell.text)
    if cell.verdict:
        sign = f'<span aria-hidden="true">{SIGNS[cell.verdict]}</span>'
        text = f'<span class="verdict {cell.verdict}">{sign} {text}</span>'
    return f'<a href="#{cell.link}">{text}</a>' if cell.link else text


def number_columns(table: Grid) -> set[int]:
    """Those in which there is nothing else."""
    return {
        j
        for j in range(len(table.head))
        if all(isinstance(row[j], str) and NUMBER.fullmatch(str(row[j])) for row in table.rows)
    }


def align(number: bool) -> str:
    return ' class="number"' if number else ""
