"""Many runs at a time: a live table of those at work, or a plain line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from flexpress.cli.terminal import complain, console

if TYPE_CHECKING:
    from rich.table import Table

PLAIN_SECONDS = 30.0
"""From one plain line to the next."""
REFRESHES = 4
"""Of the table, per second."""
SOON = 60.0
"""Seconds below which the time left is told in seconds."""


@dataclass
class AtWork:
    label: str
    slot: int = 0
    accuracy: float | None = None
    first: int | None = None  # slot of its first news: a run that is taken up again is far already

    @property
    def slots_here(self) -> int:
        """Done since this start."""
        return 0 if self.first is None else self.slot - self.first


@dataclass
class Board:
    """How far all runs are; `begin`, `tell` and `end` keep it up to date."""

    horizon: int
    total: int  # runs
    done: int  # among them, also those of an earlier start
    at_work: dict[str, AtWork] = field(default_factory=dict)
    started: float = field(default_factory=time.monotonic)
    _slots_done: int = 0  # since the start

    def begin(self, key: str, label: str) -> None:
        self.at_work[key] = AtWork(label)

    def tell(self, key: str, slot: int, accuracy: float) -> None:
        run = self.at_work[key]
        run.slot, run.accuracy = slot, accuracy
        run.first = slot if run.first is None else run.first

    def end(self, key: str) -> None:
        self._slots_done += self.at_work.pop(key).slots_here
        self.done += 1

    @property
    def seconds_left(self) -> float | None:
        """As fast as until now; not known at the beginning."""
        slots = self._slots_done + sum(run.slots_here for run in self.at_work.values())
        left = (self.total - self.done) * self.horizon - sum(
            run.slot for run in self.at_work.values()
        )
        return left * (time.monotonic() - self.started) / slots if slots else None

    @property
    def line(self) -> str:
        left = self.seconds_left
        remaining = "" if left is None else f", {time_text(left)} left"
        return f"{self.done} of {self.total} runs{remaining}"

    def table(self, stopping: bool) -> Table:
        from rich.table import Table

        table = Table(box=None, padding=(0, 1), header_style="bold")
        table.add_column("run")
        for name in ("slot", "accuracy"):
            table.add_column(name, justify="right", min_width=8)
        for run in self.at_work.values():
            accuracy = "" if run.accuracy is None else f"{run.accuracy:.1%}"
            table.add_row(run.label, f"{run.slot:,} of {self.horizon:,}", accuracy)
        note = "stopping: what is done is kept" if stopping else self.line
        table.add_row(note, style="dim")
        return table


def time_text(seconds: float) -> str:
    if round(seconds) < SOON:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


@contextmanager
def shown(board: Board, stopping: Callable[[], bool]) -> Iterator[Callable[[], None]]:
    """What is to be called after each change of the board."""
    if not sys.stderr.isatty():
        yield PlainLines(board)
        return
    from rich.live import Live

    with Live(
        board.table(stopping=False),
        console=console(sys.stderr),
        refresh_per_second=REFRESHES,
        transient=True,
    ) as live:
        yield lambda: live.update(board.table(stopping()))


class PlainLines:
    """For logs."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._told = time.monotonic()

    def __call__(self) -> None:
        if time.monotonic() - self._told > PLAIN_SECONDS:
            self._told = time.monotonic()
            complain(self._board.line)
