"""What the command line prints besides progress: results, notes and errors."""

from __future__ import annotations

import errno
import io
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any


def complain(message: str) -> None:
    """One line on standard error, whatever the message contains."""
    line = "".join(c if c.isprintable() else " " for c in message)
    print(f"flexpress: {line}", file=sys.stderr)  # noqa: T201  # this is the terminal


def complain_about(error: BaseException, line: str | None = None) -> None:
    """The error in one line; with FLEXPRESS_DEBUG=1 the tracebacks of it and its causes first."""
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


def show(table: Callable[..., None], *values: Any) -> None:
    """Print a table of `flexpress.report` on standard output."""
    from flexpress.cli.console import (
        PlainConsole,
    )  # loads rich, which --help and --json do not need

    table(PlainConsole(sys.stdout), *values)


def prepare_output() -> None:
    """Output to a closed stream is dropped; characters a terminal cannot show become "?"."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115  # for good
        elif isinstance(stream, io.TextIOWrapper) and stream.isatty():
            setattr(sys, name, _lasting(stream))
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


class _Terminal(io.FileIO):
    """A terminal that may close while we work: what is written to it after that is dropped."""

    def write(self, content: Any, /) -> int:
        try:
            return super().write(content)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            return memoryview(content).nbytes


def _lasting(stream: io.TextIOWrapper) -> io.TextIOWrapper:
    """The same stream, which survives its terminal: results have to be saved even then."""
    raw = io.BufferedWriter(_Terminal(stream.fileno(), "w", closefd=False))
    return io.TextIOWrapper(raw, stream.encoding, stream.errors, line_buffering=True)


def forget_output() -> None:
    """Drop the rest of standard output: its reader is gone, and Python's last flush would fail."""
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
