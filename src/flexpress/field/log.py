"""What a program says while it runs: one line for each event, for people or as JSON."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any, TextIO

from flexpress.files.disk import is_full

Sink = Callable[[dict[str, Any]], None]


class Log:
    """`log("departed", tour=3)` writes a line with the time and the name of the program.

    A sink, if given, receives the same event as a value.
    """

    def __init__(
        self,
        name: str,
        *,
        stream: TextIO | None = None,
        as_json: bool = False,
        sink: Sink | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._name, self._stream, self._as_json = name, stream, as_json
        self._sink, self._now = sink, now

    def __call__(self, event: str, **details: Any) -> None:
        entry = {"time": round(self._now(), 3), "program": self._name, "event": event, **details}
        if self._sink is not None:
            self._sink(entry)
            return
        stream = self._stream or sys.stderr
        line = json.dumps(entry) if self._as_json else _readable(entry)
        try:
            stream.write(f"{line}\n")
            stream.flush()
        except OSError as error:  # the reader is gone, and the program goes on without it
            if not is_full(error):  # once there is room, there is a log again
                self._sink = _nowhere


def make_log(name: str, stream: TextIO | None = None, as_json: bool = False) -> Log:
    """For the command line."""
    return Log(name, stream=stream, as_json=as_json)


def _nowhere(entry: dict[str, Any]) -> None:
    """Nobody reads it any more."""


def _readable(entry: dict[str, Any]) -> str:
    at = time.strftime("%H:%M:%S", time.localtime(entry["time"]))
    details = (f"{key}={_short(value)}" for key, value in list(entry.items())[3:])
    return " ".join([at, entry["program"], entry["event"].replace("-", " "), *details])


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    text = str(value)
    return json.dumps(text) if " " in text or not text.isprintable() else text
