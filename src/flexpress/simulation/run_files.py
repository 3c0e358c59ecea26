"""The checkpoint of a run, and the writer of the files of a run that is under way.

`checkpoint` holds the state of the simulation and the lengths of `trace.jsonl` and `metrics.csv`
(`run_lines`). It omits what the clock can compute again. It is a NumPy .npz file: the global model,
the models and sums of updates under way, with a head start also the last update of each client, and
a header in JSON.
"""

from __future__ import annotations

import json
import time
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from pydantic import TypeAdapter, ValidationError

from flexpress.errors import InputError
from flexpress.files.disk import PLAN, SCENARIO, open_file, write_file
from flexpress.learning import Vector
from flexpress.simulation.deliveries import Delivery
from flexpress.simulation.events import Evaluation, Event
from flexpress.simulation.origin import Origin
from flexpress.simulation.run_lines import METRICS, TRACE, RunLines
from flexpress.simulation.simulate import Simulation
from flexpress.simulation.trace import Measurement

CHECKPOINT, MODEL = "checkpoint", "model.npy"
RUN_FILES = (SCENARIO, PLAN, TRACE, METRICS, CHECKPOINT, MODEL)

_CHECKPOINT_SECONDS = 2.0
"""Time between checkpoints: at most this much work is lost, plus one group of training jobs."""
_LARGEST_SHARE = 0.05
"""Largest share of the time spent on checkpoints: large ones are written less often."""

_HEADER_ARRAY, MODEL_ARRAY = "header", "model"
_UPDATES_ARRAY, _TOURS_ARRAY = "last-updates", "last-tours"

_NO_CHECKPOINT = (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile, ValidationError)
"""What reading something else raises."""


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
    clock: Literal["", "plan", "wall"] = ""  # of a mission: its events are those of its trace


def write_checkpoint(path: Path, header: Header, arrays: Mapping[str, Any]) -> None:
    """Replace the old checkpoint in one step, so that there is always a complete one."""
    text = np.frombuffer(json.dumps(asdict(header)).encode(), np.uint8)
    write_file(path, lambda file: np.savez(file, **{**arrays, _HEADER_ARRAY: text}))


def _save_checkpoint(path: Path, simulation: Simulation, header: Header) -> None:
    """The whole state of the simulation."""
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
    write_checkpoint(path, header, arrays)


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
    except _NO_CHECKPOINT:
        raise _not_a_checkpoint(path) from None
    return header, arrays


def _not_a_checkpoint(path: Path) -> InputError:
    return InputError(
        f"{path}: damaged, or not a checkpoint; run into another folder without --resume"
    )


def load_header(path: Path) -> Header:
    """How far the run was, without its arrays."""
    try:
        with open_file(path) as file, np.load(file, allow_pickle=False) as content:
            return TypeAdapter(Header).validate_json(content[_HEADER_ARRAY].tobytes())
    except _NO_CHECKPOINT:
        raise _not_a_checkpoint(path) from None


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


class CheckpointPace:
    """When the next checkpoint is due."""

    def __init__(self) -> None:
        self._due = time.monotonic() + _CHECKPOINT_SECONDS

    def is_due(self) -> bool:
        return time.monotonic() > self._due

    @contextmanager
    def work(self) -> Iterator[None]:
        """Writing one takes its time, by which the next is put off."""
        begun = time.monotonic()
        yield
        now = time.monotonic()
        self._due = now + max(_CHECKPOINT_SECONDS, (now - begun) / _LARGEST_SHARE)


class RunWriter:
    """Appends a line for each event, and writes a checkpoint every few seconds.

    `saved_slot` is the slot of the last checkpoint, None before the first.
    """

    def __init__(self, folder: Path, simulation: Simulation, start: Header):
        self._simulation = simulation
        self._checkpoint = folder / CHECKPOINT
        self._header = start
        self.saved_slot: int | None = start.slot if start.num_events else None
        self._lines = RunLines(folder, start.trace_bytes, start.metrics_bytes)
        self._pace = CheckpointPace()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._lines.close()

    def record(self, event: Event) -> None:
        """Add a line to the trace; for an evaluation also one to the metrics."""
        if isinstance(event, Evaluation):
            self._record_measurement(self._simulation.metrics[-1])
        else:
            self._lines.event(event)
        if self._pace.is_due():
            self.checkpoint()

    def finish(self) -> None:
        """Add the measurement at the horizon, which a run with a longer one would not make."""
        before = len(self._simulation.metrics)
        self._simulation.finish()
        for measured in self._simulation.metrics[before:]:
            self._record_measurement(measured)
        self._lines.flush()

    def checkpoint(self, *, diverged: bool = False) -> None:
        """Write the lines first, then the checkpoint that counts them."""
        with self._pace.work():
            self._lines.flush()
            header = replace(
                self._header,
                slot=self._simulation.slot,
                num_events=self._simulation.num_events,
                **vars(self._lines.written),
                diverged=diverged,
            )
            _save_checkpoint(self._checkpoint, self._simulation, header)
        self.saved_slot = header.slot

    def _record_measurement(self, measured: Measurement) -> None:
        self._lines.measurement(measured)
