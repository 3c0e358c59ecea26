"""Figures as a table that fits the terminal, however narrow it is."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

_WIDEST = 1000
"""Columns of a terminal that is wide enough for every table."""

Column = tuple[str, str, Sequence[str]]
"""Name, unit, and one text per row."""


def print_columns(console: Console, columns: Sequence[Column]) -> None:
    """Print the columns side by side if there is room."""
    print_fitting(console, _across(columns), down(columns), stacked(columns))


def print_fitting(console: Console, *tables: Table) -> None:
    """Print the first table that fits, or else the last."""
    room = console.options.update(width=_WIDEST)
    widths = [console.measure(table, options=room).maximum for table in tables]
    fitting = [t for t, width in zip(tables, widths, strict=True) if width <= console.width]
    print_whole(console, [*fitting, tables[-1]][0])


def print_whole(console: Console, table: Table) -> None:
    """Print without cutting numbers: on a narrow terminal, lines wrap."""
    width, room = console.width, console.options.update(width=_WIDEST)
    try:
        console.width = max(width, console.measure(table, options=room).minimum)
        console.print(table)
    finally:
        console.width = width


def _across(columns: Sequence[Column]) -> Table:
    """One line per row."""
    table = Table(box=None, padding=(0, 1), header_style="bold")
    for name, unit, _ in columns:
        table.add_column(f"{name}\n{unit}", justify="right", no_wrap=True)
    for row in zip(*(texts for _, _, texts in columns), strict=True):
        table.add_row(*row)
    return table


def down(columns: Sequence[Column]) -> Table:
    """One line per figure, for narrow terminals."""
    table = Table.grid(padding=(0, 1))
    for justify in ("left", "right", "left"):
        table.add_column(justify=justify, no_wrap=True)
    for row in zip(*(texts for _, _, texts in columns), strict=True):
        table.add_row()
        for j, ((name, unit, _), text) in enumerate(zip(columns, row, strict=True)):
            table.add_row(name, text, unit, style="" if j else "bold")
    return table


def stacked(columns: Sequence[Column]) -> Table:
    """Each figure below its name, for very narrow terminals."""
    table = Table.grid()
    table.add_column(no_wrap=True)
    for row in zip(*(texts for _, _, texts in columns), strict=True):
        table.add_row()
        for (name, unit, _), text in zip(columns, row, strict=True):
            if name:
                table.add_row(name, style="bold")
            table.add_row(f"{text} {unit}".strip())
    return table


def heads(columns: Sequence[Column]) -> tuple[str, ...]:
    """Name and unit of each column; one without a name belongs to the column before."""
    found, name = [], ""
    for own, unit, _ in columns:
        name = own or name
        found.append(f"{name} ({unit})" if unit else name)
    return tuple(found)
