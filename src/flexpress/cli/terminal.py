"""What the command line says on the terminal besides its result: errors, notes, progress."""

from __future__ import annotations

import errno
import io
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer as Buffer
    from rich.console import Console

    from flexpress.planning import Progress


def complain(message: str) -> None:
    """One line on standard error, whatever stands in the message."""
    line = "".join(c if c.isprintable() else " " for c in message)
    print(f"flexpress: {line}", file=sys.stderr)  # noqa: T201  # this is the terminal


def complain_about(error: BaseException, line: str | None = None) -> None:
    """Its one line; with FLEXPRESS_DEBUG=1 first the tracebacks of it and of all that caused it."""
    hint = ""
    if os.environ.get("FLEXPRESS_DEBUG", "0") not in ("", "0"):
        link: BaseException | None = error
        while link:
            link.__suppress_context__ = False
            link = link.__cause__ or link.__context__
        traceback.print_exception(error)
    elif error.__cause__:
        hint = "; FLEXPRESS_DEBUG=1 shows the traceback"
    complain("; ".join([*notes(error), f"{error}{hint}" if line is None else line]))


def notes(error: BaseException) -> list[str]:
    """What was saved before something went wrong."""
    return getattr(error, "__notes__", [])


def say(text: str) -> None:
    """Text on standard output, as it is."""
    print(text, flush=True)  # noqa: T201  # this is the terminal


def console(stream: TextIO) -> Console:
    """What tables and progress lines are written to."""
    from flexpress.cli.plain_console import PlainConsole

    return PlainConsole(stream)


def prepare_output() -> None:
    """Closed streams lead nowhere; signs that a terminal cannot show become question marks."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115  # for good
        elif isinstance(stream, io.TextIOWrapper) and stream.isatty():
            setattr(sys, name, of_terminal(stream))
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


class Terminal(io.FileIO):
    """One that may close while we work: what is written to it after that goes nowhere."""

    def write(self, content: Buffer, /) -> int:
        try:
            return super().write(content)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            return memoryview(content).nbytes


def of_terminal(stream: io.TextIOWrapper) -> io.TextIOWrapper:
    """The same stream, which outlives its terminal: results have still to be saved then."""
    raw = io.BufferedWriter(Terminal(stream.fileno(), "w", closefd=False))
    return io.TextIOWrapper(raw, stream.encoding, stream.errors, line_buffering=True)


def forget_output() -> None:
    """Nobody reads on: let Python's last flush of standard output go nowhere, quietly."""
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


@contextmanager
def watch(
    solver: str, show_value: Callable[[float | None], str], stopping: Callable[[], bool]
) -> Iterator[Callable[[Progress], None]]:
    """A listener for a solver's progress: a live line, or only notes if there is no terminal."""
    if not sys.stderr.isatty():
        yield Notes()
        return
    with ProgressLine(solver, show_value, stopping) as line:
        yield line.update


class Notes:
    """Every note once, as a plain line."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def __call__(self, progress: Progress) -> None:
        if progress.note and progress.note not in self._told:
            self._told.add(progress.note)
            complain(progress.note)


class ProgressLine:
    """Solver, share of the effort, best value so far, time; gone when the work is done."""

    def __init__(
        self, solver: str, show_value: Callable[[float | None], str], stopping: Callable[[], bool]
    ) -> None:
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        self._show_value = show_value
        self._stopping = stopping
        self._note = ""
        self._live = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            TextColumn("{task.fields[done]}", markup=False),
            TextColumn("{task.fields[best]}", markup=False),
            TimeElapsedColumn(),
            TextColumn("{task.fields[note]}", markup=False),
            console=console(sys.stderr),
            transient=True,
        )
        self._task = self._live.add_task(solver, done="", best="", note="")

    def __enter__(self) -> ProgressLine:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def update(self, progress: Progress) -> None:
        best = self._show_value(progress.cost)
        note = progress.note or progress.stage
        if self._stopping():
            note = "stopping; Ctrl-C again aborts"
        # A note may announce work that stops the drawing thread: it must stand there before.
        refresh, self._note = note != self._note, note
        done = f"{min(progress.fraction, 1.0):4.0%}"
        self._live.update(self._task, done=done, best=best, note=note, refresh=refresh)
