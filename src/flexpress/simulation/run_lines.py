"""The two files of a run that grow: `trace.jsonl`, a line for each event, and `metrics.csv`.

They are written here and read here: measurements always, events only where the clock cannot
compute them again, because they happened in the field.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from flexpress.errors import InputError
from flexpress.files.disk import read_bytes
from flexpress.files.growing import REMEDY, GrowingFile
from flexpress.simulation.events import (
    Contribution,
    Departure,
    Evaluation,
    Event,
    Landing,
    Update,
    Visit,
)
from flexpress.simulation.trace import Measurement

TRACE, METRICS = "trace.jsonl", "metrics.csv"
COLUMNS = "slot,seconds,loss,accuracy\n"

_KINDS: dict[str, type[Event]] = {
    "departure": Departure,
    "visit": Visit,
    "landing": Landing,
    "update": Update,
    "evaluation": Evaluation,
}
"""The events of a mission, by their names in a trace."""


@dataclass(frozen=True)
class Written:
    """How long the files are, and the digests of so many bytes."""

    trace_bytes: int
    trace_sha256: str
    metrics_bytes: int
    metrics_sha256: str


class RunLines:
    """Continues both files from these lengths, cutting off the rest."""

    def __init__(self, folder: Path, trace_bytes: int, metrics_bytes: int) -> None:
        self._trace = GrowingFile(folder / TRACE, trace_bytes)
        self._metrics = GrowingFile(folder / METRICS, metrics_bytes)

    @property
    def written(self) -> Written:
        """Including what is not flushed yet."""
        trace, metrics = self._trace, self._metrics
        return Written(trace.length, trace.sha256, metrics.length, metrics.sha256)

    def event(self, event: Event) -> None:
        """A line of the trace, unless it is an evaluation, which needs its measurement."""
        assert not isinstance(event, Evaluation)
        fields = event._asdict() if isinstance(event, Visit) else vars(event)
        self._trace_line(type(event).__name__.lower(), fields)

    def measurement(self, measured: Measurement) -> None:
        """A line of both files."""
        self._trace_line("evaluation", vars(measured))
        self._metrics.write(_metrics_line(measured))

    def flush(self) -> None:
        self._trace.flush()
        self._metrics.flush()

    def sync(self) -> None:
        """What is written survives a loss of power."""
        self._trace.sync()
        self._metrics.sync()

    def close(self) -> None:
        self._trace.close()
        self._metrics.close()

    def _trace_line(self, name: str, fields: dict[str, Any]) -> None:
        line = json.dumps({"event": name, **fields}, default=vars)
        self._trace.write(f"{line}\n")


def _metrics_line(measured: Measurement) -> str:
    return f"{measured.slot},{measured.seconds!r},{measured.loss!r},{measured.accuracy!r}\n"


def read_events(path: Path, length: int | None = None) -> list[Event]:
    """The events in the first `length` bytes of a trace, or in all of it."""
    try:
        return [_event(json.loads(line)) for line in read_bytes(path)[:length].splitlines()]
    except (ValueError, KeyError, TypeError):
        raise _damaged(path, "is not a trace of a mission") from None


def _event(fields: dict[str, Any]) -> Event:
    name = fields.pop("event")
    if name == "evaluation":
        fields = {key: fields[key] for key in ("slot", "seconds")}
    elif name == "update":
        fields["contributions"] = tuple(Contribution(**each) for each in fields["contributions"])
    return _KINDS[name](**fields)


def with_waiting(events: Iterable[Event]) -> list[Event]:
    """With the seconds from each landing to the next departure, which is known only later."""
    filled = list(events)
    landed: dict[int, int] = {}  # transporter -> place of its last landing
    for place, event in enumerate(filled):
        if isinstance(event, Landing):
            landed[event.transporter] = place
        elif isinstance(event, Departure) and event.transporter in landed:
            before = landed.pop(event.transporter)
            landing = filled[before]
            assert isinstance(landing, Landing)
            filled[before] = replace(landing, waiting=event.seconds - landing.seconds)
    return filled


def read_metrics(path: Path, length: int | None = None) -> list[Measurement]:
    """The measurements in the first `length` bytes of the file, or in all of it.

    InputError unless the bytes are what a run writes: slots and seconds increase, the first slot
    is 0, losses are finite and accuracies lie between 0 and 1.
    """
    content = read_bytes(path)[:length]
    if length is not None and len(content) < length:
        raise _damaged(path, f"has {len(content)} bytes, and its run wrote {length}")
    try:
        text = content.decode()
        measured = [_parse(line) for line in text.splitlines()[1:]]
    except ValueError:  # not text, not a table, or not numbers
        raise _damaged(path, "is not a table of measurements") from None
    if text != COLUMNS + "".join(map(_metrics_line, measured)):
        raise _damaged(path, "was changed after its run wrote it")
    if measured and measured[0].slot != 0:
        raise _damaged(path, "has no measurement at slot 0")
    for before, after in pairwise(measured):
        if not (before.slot < after.slot and before.seconds < after.seconds):
            raise _damaged(path, f"goes back in time after slot {before.slot}")
    for each in measured:
        if not (
            math.isfinite(each.seconds) and math.isfinite(each.loss) and 0 <= each.accuracy <= 1
        ):
            raise _damaged(path, f"holds impossible numbers at slot {each.slot}")
    return measured


def _parse(line: str) -> Measurement:
    slot, seconds, loss, accuracy = line.split(",")
    return Measurement(int(slot), float(seconds), float(loss), float(accuracy))


def _damaged(path: Path, what: str) -> InputError:
    return InputError(f"{path}: {what}; {REMEDY}")
