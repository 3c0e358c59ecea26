"""How far a simulation is: a live line, or a plain one now and then if there is no terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from flexpress.cli.terminal import complain, console

if TYPE_CHECKING:
    from flexpress.simulation.events import Event
    from flexpress.simulation.simulate import Simulation

    Listener = Callable[[Event], None]

PLAIN_SECONDS = 30.0
"""From one plain line to the next."""


@contextmanager
def watch_run(simulation: Simulation, stopping: Callable[[], bool]) -> Iterator[Listener]:
    """A listener for the events of a simulation."""
    if not sys.stderr.isatty():
        yield PlainLines(simulation)
        return
    with RunLine(simulation, stopping) as line:
        yield line.update


def accuracy_text(simulation: Simulation) -> str:
    """Of the last evaluation."""
    metrics = simulation.metrics
    return f"accuracy {metrics[-1].accuracy:.1%}" if metrics else ""


class PlainLines:
    """For logs of long runs; short ones stay silent."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._told = time.monotonic()

    def __call__(self, event: Event) -> None:
        if time.monotonic() - self._told > PLAIN_SECONDS:
            self._told = time.monotonic()
            run = self._simulation.scenario.run
            accuracy = accuracy_text(self._simulation)
            complain(f"{run.algorithm}: slot {event.slot} of {run.horizon}, {accuracy}")


class RunLine:
    """Algorithm, slot, accuracy, time left; gone when the run is done."""

    def __init__(self, simulation: Simulation, stopping: Callable[[], bool]) -> None:
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        self._simulation = simulation
        self._stopping = stopping
        self._live = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("slot {task.completed:,} of {task.total:,}", markup=False),
            TextColumn("{task.fields[accuracy]}", markup=False),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}", markup=False),
            console=console(sys.stderr),
            transient=True,
        )
        run = simulation.scenario.run
        self._task = self._live.add_task(run.algorithm, total=run.horizon, accuracy="", note="")

    def __enter__(self) -> RunLine:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def update(self, event: Event) -> None:
        note = "stopping; Ctrl-C again aborts" if self._stopping() else ""
        accuracy = accuracy_text(self._simulation)
        self._live.update(self._task, completed=event.slot, accuracy=accuracy, note=note)
