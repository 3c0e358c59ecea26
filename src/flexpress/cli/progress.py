"""Progress and Ctrl-C while a call of flexpress is under way on the terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

import flexpress
from flexpress.cli.interrupt import Interruption, interruptible
from flexpress.cli.terminal import complain

_PLAIN_SECONDS = 30.0
"""Time from one line in a log to the next."""

_SOON = 60.0
"""Seconds below which the time left is shown in seconds."""


def best_cost(
    objective: flexpress.scenario.Objective, round_trips: flexpress.scenario.RoundTripUnit
) -> Callable[[float | None], str]:
    """The text for the cost of a search."""

    def text(cost: float | None) -> str:
        if cost is None:
            return "no plan yet"
        return f"best {flexpress.report.cost_text(objective, cost, round_trips)}"

    return text


@contextmanager
def watched(
    name: str, show_cost: Callable[[float | None], str] = lambda cost: "", *, keep: bool = False
) -> Iterator[Screen]:
    """A screen, whose methods are the callbacks of a call; planning is shown by this name.

    With `keep`, the first Ctrl-C is a request from the beginning. Otherwise it aborts, unless runs
    are under way.
    """
    with interruptible(patient=keep) as interruption:
        if not sys.stderr.isatty():
            yield Screen(name, show_cost, interruption, _PlainLines())
            return
        from flexpress.cli.console import LiveLines  # loads rich, which logs do not need

        with LiveLines(_StopNote(interruption)) as lines:
            yield Screen(name, show_cost, interruption, lines)


class _Lines(Protocol):
    """Where progress is shown."""

    def show(self, name: str, fraction: float, text: str, note: str = "", log: str = "") -> None:
        """`text` is for a live line, `log` for a line in a log, a note for both."""

    def keep(self, names: set[str]) -> None:
        """Remove all other lines."""


class _PlainLines:
    """For logs: every note once, and every half minute how far the runs are."""

    def __init__(self) -> None:
        self._notes: set[str] = set()
        self._printed = time.monotonic()

    def show(self, name: str, fraction: float, text: str, note: str = "", log: str = "") -> None:
        if note and note not in self._notes:
            self._notes.add(note)
            complain(note)
        if log and time.monotonic() - self._printed > _PLAIN_SECONDS:
            self._printed = time.monotonic()
            complain(log)

    def keep(self, names: set[str]) -> None:
        """What is printed stays."""


class Screen:
    """Shows what the callbacks report."""

    def __init__(
        self,
        name: str,
        show_cost: Callable[[float | None], str],
        interruption: Interruption,
        lines: _Lines,
    ) -> None:
        self._name, self._show_cost = name, show_cost
        self._interruption, self._lines = interruption, lines
        self._pace = _Pace()
        self.should_stop = interruption.requested
        self.run: flexpress.simulation.RunProgress | None = None  # the last one
        self.runs = ""  # how far all runs of a reproduction are

    def planning(self, progress: flexpress.planning.Progress) -> None:
        cost = self._show_cost(progress.cost)
        words = (f"{min(progress.fraction, 1.0):4.0%}", cost, progress.stage)
        text = " ".join(word for word in words if word)
        self._lines.show(self._name, progress.fraction, text, progress.note)

    def trying(self, run: flexpress.simulation.RunProgress) -> None:
        """A run that is not kept: Ctrl-C aborts it."""
        text = _run_text(run)
        self._lines.show(run.name, run.slot / run.horizon, text, log=f"{run.name}: {text}")

    def running(self, run: flexpress.simulation.RunProgress) -> None:
        self._interruption.patient = True
        self.run = run
        self.trying(run)

    def reproducing(self, progress: flexpress.simulation.RunsProgress) -> None:
        self._interruption.patient = progress.done < progress.total
        self.runs = self._pace.line(progress)
        self._lines.keep({run.name for run in progress.running} | {"all"})
        for run in progress.running:
            self._lines.show(run.name, run.slot / run.horizon, _run_text(run))
        self._lines.show("all", progress.done / progress.total, self.runs, log=self.runs)


def _run_text(run: flexpress.simulation.RunProgress) -> str:
    accuracy = "" if run.accuracy is None else f", accuracy {run.accuracy:.1%}"
    return f"slot {run.slot:,} of {run.horizon:,}{accuracy}"


class _StopNote:
    """Becomes text whenever a line is drawn, as it may be long until the next progress."""

    def __init__(self, interruption: Interruption) -> None:
        self._interruption = interruption

    def __str__(self) -> str:
        return "stopping; Ctrl-C again aborts " if self._interruption.requested() else ""


class _Pace:
    """How long a reproduction will still take, if it continues as fast as until now."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._first: dict[str, int] = {}  # slot of the first news: a resumed run is ahead already
        self._last: dict[str, int] = {}
        self._horizon = 0

    def line(self, progress: flexpress.simulation.RunsProgress) -> str:
        for run in progress.running:
            self._horizon = run.horizon
            if run.accuracy is not None:
                self._first.setdefault(run.name, run.slot)
                self._last[run.name] = run.slot
        slots = sum(self._last.values()) - sum(self._first.values())
        under_way = sum(run.slot for run in progress.running)
        missing = (progress.total - progress.done) * self._horizon - under_way
        text = f"{progress.done} of {progress.total} runs"
        if not slots:
            return text
        return f"{text}, {_time_text(missing * (time.monotonic() - self._started) / slots)} left"


def _time_text(seconds: float) -> str:
    if round(seconds) < _SOON:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"
