"""Tables and live lines on the terminal, by rich, which is slow to load."""

from __future__ import annotations

import sys
from typing import Any, TextIO

from rich.console import Console
from rich.measure import Measurement
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table

_NARROWEST, _WIDEST = 80, 10_000
"""Limits to the width of a table, whatever the terminal claims to have."""


class PlainConsole(Console):
    """A console for the user's own text: brackets and colons in it mean nothing special."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(file=stream, markup=False, emoji=False, highlight=False)

    def print(self, *objects: Any, **options: Any) -> None:
        """A table may be wider than the terminal; rich would cut numbers and drop columns."""
        for table in objects:
            if isinstance(table, Table):
                free = self.options.update(max_width=_WIDEST)
                needed = Measurement.get(self, free, table).minimum
                self.width = max(self.width, _NARROWEST, needed)
        super().print(*objects, **options)

    def on_broken_pipe(self) -> None:
        """Rich would end the program with exit code 1, but `main` knows that nothing is wrong."""
        raise BrokenPipeError


class LiveLines:
    """A line with a bar for everything that is under way; they vanish at the end."""

    def __init__(self, stop_note: object) -> None:
        """`stop_note` is turned into text whenever the lines are drawn."""
        self._stop_note = stop_note
        self._tasks: dict[str, TaskID] = {}
        self._notes: dict[str, str] = {}
        self._live = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.fields[text]}", markup=False),
            TimeRemainingColumn(),
            TextColumn("{task.fields[stop]}{task.fields[note]}", markup=False),
            console=PlainConsole(sys.stderr),
            transient=True,
        )

    def __enter__(self) -> LiveLines:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def show(self, name: str, fraction: float, text: str, note: str = "", log: str = "") -> None:
        """Add this line, or bring it up to date."""
        if name not in self._tasks:
            stop = self._stop_note
            self._tasks[name] = self._live.add_task(
                name, total=1.0, text=text, note=note, stop=stop
            )
        # A note may announce work that stops the drawing thread: it must be drawn before.
        refresh = note != self._notes.get(name, "")
        self._notes[name] = note
        task = self._tasks[name]
        self._live.update(task, completed=fraction, text=text, note=note, refresh=refresh)

    def keep(self, names: set[str]) -> None:
        """Remove all other lines."""
        for name in self._tasks.keys() - names:
            self._live.remove_task(self._tasks.pop(name))
