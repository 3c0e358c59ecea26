"""The two files of a run that grow: `trace.jsonl` and `metrics.csv`."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Self

from flexpress.files.disk import read_bytes
from flexpress.files.growing import GrowingFile, damaged
from flexpress.simulation.checkpoint import Header, save_checkpoint
from flexpress.simulation.events import Evaluation, Event, Visit
from flexpress.simulation.simulate import Simulation
from flexpress.simulation.trace import Measurement

TRACE, METRICS = "trace.jsonl", "metrics.csv"
COLUMNS = "slot,seconds,loss,accuracy\n"

CHECKPOINT_SECONDS = 2.0
"""Work that is lost at most, apart from one group of clients in training."""
LARGEST_SHARE = 0.05
"""Of the time that may go into writing checkpoints: large ones are written less often."""


class Recorder:
    """Appends a line for each event, and now and then tells a checkpoint how far the files are.

    `saved_slot` is that of the last checkpoint, if there is one.
    """

    def __init__(self, folder: Path, checkpoint: Path, simulation: Simulation, start: Header):
        self._simulation = simulation
        self._checkpoint = checkpoint
        self._header = start
        self.saved_slot: int | None = start.slot if start.num_events else None
        self._trace = GrowingFile(folder / TRACE, start.trace_bytes)
        self._metrics = GrowingFile(folder / METRICS, start.metrics_bytes)
        self._due = time.monotonic() + CHECKPOINT_SECONDS

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._trace.close()
        self._metrics.close()

    def record(self, event: Event) -> None:
        """A line in the trace; of an evaluation, what was measured."""
        if isinstance(event, Evaluation):
            self._record_measurement(self._simulation.metrics[-1])
        else:
            self._record_event(type(event).__name__.lower(), event)
        if time.monotonic() > self._due:
            self.checkpoint()

    def finish(self) -> None:
        """The measurement at the horizon, which a run with a longer one would not have made."""
        before = len(self._simulation.metrics)
        self._simulation.finish()
        for measured in self._simulation.metrics[before:]:
            self._record_measurement(measured)
        self._flush()

    def checkpoint(self, *, diverged: bool = False) -> None:
        """First the lines, then the file that counts them."""
        begun = time.monotonic()
        self._flush()
        header = replace(
            self._header,
            slot=self._simulation.slot,
            num_events=self._simulation.num_events,
            trace_bytes=self._trace.length,
            trace_sha256=self._trace.sha256,
            metrics_bytes=self._metrics.length,
            metrics_sha256=self._metrics.sha256,
            diverged=diverged,
        )
        save_checkpoint(self._checkpoint, self._simulation, header)
        self.saved_slot = header.slot
        now = time.monotonic()
        self._due = now + max(CHECKPOINT_SECONDS, (now - begun) / LARGEST_SHARE)

    def _record_event(self, name: str, event: Event | Measurement) -> None:
        fields = event._asdict() if isinstance(event, Visit) else vars(event)
        line = json.dumps({"event": name, **fields}, default=vars)
        self._trace.write(f"{line}\n")

    def _record_measurement(self, measured: Measurement) -> None:
        self._record_event("evaluation", measured)
        self._metrics.write(metrics_line(measured))

    def _flush(self) -> None:
        self._trace.flush()
        self._metrics.flush()


def metrics_line(measured: Measurement) -> str:
    return f"{measured.slot},{measured.seconds!r},{measured.loss!r},{measured.accuracy!r}\n"


def read_metrics(path: Path, length: int) -> list[Measurement]:
    """The measurements in the first so many bytes of the file."""
    content = read_bytes(path)[:length]
    if len(content) < length:
        raise damaged(path)
    try:
        _, *lines = content.decode().splitlines()
        rows = (line.split(",") for line in lines)
        return [
            Measurement(int(slot), float(seconds), float(loss), float(accuracy))
            for slot, seconds, loss, accuracy in rows
        ]
    except ValueError:  # of all kinds: no text, no table, no numbers
        raise damaged(path) from None
