"""Rich's console for text that is not ours to interpret, and for tables that stay whole."""

from __future__ import annotations

from typing import Any, TextIO

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

NARROWEST, WIDEST = 80, 10_000
"""Columns that a table is given, whatever the terminal is said to have."""


class PlainConsole(Console):
    """For text of the user's own: brackets and colons in it mean nothing special."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(file=stream, markup=False, emoji=False, highlight=False)

    def print(self, *objects: Any, **options: Any) -> None:
        """Rather than cut numbers and drop columns, a table is wider than the terminal."""
        for table in objects:
            if isinstance(table, Table):
                free = self.options.update(max_width=WIDEST)
                needed = Measurement.get(self, free, table).minimum
                self.width = max(self.width, NARROWEST, needed)
        super().print(*objects, **options)

    def on_broken_pipe(self) -> None:
        """Rich would end the program with exit code 1: `main` knows that nothing is wrong."""
        raise BrokenPipeError
