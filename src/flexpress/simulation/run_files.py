"""The files that a run writes while it is under way: trace, metrics and checkpoint.

`trace.jsonl` has one line per event and `metrics.csv` one per evaluation. `checkpoint` holds the
state of the simulation and the lengths of these two files. It omits what the clock can compute
again. It is a NumPy .npz file: the global model, the models and sums of updates under way, with a
head start also the last update of each client, and a header in JSON.
"""

from __future__ import annotations

import json
import math
import time
import zipfile
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np
from pydantic import TypeAdapter, ValidationError

from flexpress.errors import InputError
from flexpress.files.disk import PLAN, SCENARIO, open_file, read_bytes, write_file
from flexpress.files.growing import REMEDY, GrowingFile
from flexpress.learning import Vector
from flexpress.simulation.deliveries import Delivery
from flexpress.simulation.events import Evaluation, Event, Visit
from flexpress.simulation.origin import Origin
from flexpress.simulation.simulate import Simulation
from flexpress.simulation.trace import Measurement

TRACE, METRICS, CHECKPOINT, MODEL = "trace.jsonl", "metrics.csv", "checkpoint", "model.npy"
RUN_FILES = (SCENARIO, PLAN, TRACE, METRICS, CHECKPOINT, MODEL)
COLUMNS = "slot,seconds,loss,accuracy\n"

_CHECKPOINT_SECONDS = 2.0
"""Time between checkpoints: at most this much work is lost, plus one group of training jobs."""
_LARGEST_SHARE = 0.05
"""Largest share of the time spent on checkpoints: large ones are written less often."""

_HEADER_ARRAY, MODEL_ARRAY = "header", "model"
_UPDATES_ARRAY, _TOURS_ARRAY = "last-updates", "last-tours"


@dataclass(frozen=True)
class Carried:
    """A delivery under way, and the array of the file that holds its vector."""

    transporter: int
    tour: int
    version: int
    array: str
    trained: bool


@dataclass(frozen=True)
class Header:
    """How far the simulation and the files of its run folder had come."""

    learner: str
    origin: Origin
    slot: int
    num_events: int
    trace_bytes: int
    trace_sha256: str
    metrics_bytes: int
    metrics_sha256: str
    diverged: bool = False
    carried: tuple[Carried, ...] = ()
    last_updates: bool = False


def _save_checkpoint(path: Path, simulation: Simulation, header: Header) -> None:
    """Replace the old checkpoint in one step, so that there is always a complete one."""
    arrays: dict[str, Any] = {MODEL_ARRAY: simulation.model}
    carried = []
    for (transporter, tour), delivery in simulation.deliveries.under_way.items():
        name = f"sum-{transporter}-{tour}" if delivery.trained else f"model-{delivery.version}"
        arrays[name] = delivery.vector
        carried.append(Carried(transporter, tour, delivery.version, name, delivery.trained))
    last = simulation.deliveries.last_updates
    if last is not None:
        arrays |= {_UPDATES_ARRAY: last.updates, _TOURS_ARRAY: last.tours}
    header = replace(header, carried=tuple(carried), last_updates=last is not None)
    arrays[_HEADER_ARRAY] = np.frombuffer(json.dumps(asdict(header)).encode(), np.uint8)
    write_file(path, lambda file: np.savez(file, **arrays))


def load_checkpoint(path: Path, *, last_updates: bool = False) -> tuple[Header, dict[str, Vector]]:
    """The header, and the arrays by name. InputError if the file is incomplete or damaged.

    The last updates of the clients can be gigabytes, so they are read only on request.
    """
    try:
        with open_file(path) as file, np.load(file, allow_pickle=False) as content:
            names = content.files
            wanted = [name for name in names if last_updates or name != _UPDATES_ARRAY]
            arrays = {name: content[name] for name in wanted}
        header = TypeAdapter(Header).validate_json(arrays.pop(_HEADER_ARRAY).tobytes())
        arrays[MODEL_ARRAY], *(arrays[entry.array] for entry in header.carried)
        if header.last_updates and not {_UPDATES_ARRAY, _TOURS_ARRAY} <= set(names):
            raise KeyError(_UPDATES_ARRAY)
    except (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile, ValidationError):
        raise InputError(
            f"{path}: damaged, or not a checkpoint; run into another folder without --resume"
        ) from None
    return header, arrays


def restore(simulation: Simulation, header: Header, arrays: dict[str, Vector]) -> None:
    """Put the simulation into the state of the checkpoint, whose arrays it takes over."""
    last = simulation.deliveries.last_updates
    if last is not None:
        last.updates = arrays.pop(_UPDATES_ARRAY)
        last.tours = arrays.pop(_TOURS_ARRAY).astype(np.int64)
    for vector in arrays.values():
        vector.flags.writeable = False
    simulation.model = arrays[MODEL_ARRAY]
    simulation.num_events, simulation.slot = header.num_events, header.slot
    simulation.deliveries.under_way = {
        (entry.transporter, entry.tour): Delivery(entry.version, arrays[entry.array], entry.trained)
        for entry in header.carried
    }


class RunWriter:
    """Appends a line for each event, and writes a checkpoint every few seconds.

    `saved_slot` is the slot of the last checkpoint, None before the first.
    """

    def __init__(self, folder: Path, simulation: Simulation, start: Header):
        self._simulation = simulation
        self._checkpoint = folder / CHECKPOINT
        self._header = start
        self.saved_slot: int | None = start.slot if start.num_events else None
        self._trace = GrowingFile(folder / TRACE, start.trace_bytes)
        self._metrics = GrowingFile(folder / METRICS, start.metrics_bytes)
        self._due = time.monotonic() + _CHECKPOINT_SECONDS

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._trace.close()
        self._metrics.close()

    def record(self, event: Event) -> None:
        """Add a line to the trace; for an evaluation also one to the metrics."""
        if isinstance(event, Evaluation):
            self._record_measurement(self._simulation.metrics[-1])
        else:
            self._record_event(type(event).__name__.lower(), event)
        if time.monotonic() > self._due:
            self.checkpoint()

    def finish(self) -> None:
        """Add the measurement at the horizon, which a run with a longer one would not make."""
        before = len(self._simulation.metrics)
        self._simulation.finish()
        for measured in self._simulation.metrics[before:]:
            self._record_measurement(measured)
        self._flush()

    def checkpoint(self, *, diverged: bool = False) -> None:
        """Write the lines first, then the checkpoint that counts them."""
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
        _save_checkpoint(self._checkpoint, self._simulation, header)
        self.saved_slot = header.slot
        now = time.monotonic()
        self._due = now + max(_CHECKPOINT_SECONDS, (now - begun) / _LARGEST_SHARE)

    def _record_event(self, name: str, event: Event | Measurement) -> None:
        fields = event._asdict() if isinstance(event, Visit) else vars(event)
        line = json.dumps({"event": name, **fields}, default=vars)
        self._trace.write(f"{line}\n")

    def _record_measurement(self, measured: Measurement) -> None:
        self._record_event("evaluation", measured)
        self._metrics.write(_metrics_line(measured))

    def _flush(self) -> None:
        self._trace.flush()
        self._metrics.flush()


def _metrics_line(measured: Measurement) -> str:
    return f"{measured.slot},{measured.seconds!r},{measured.loss!r},{measured.accuracy!r}\n"


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
