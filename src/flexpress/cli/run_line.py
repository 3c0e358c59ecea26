"""How far a simulation is, as a live line on the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from flexpress.cli.run_progress import accuracy_text
from flexpress.cli.terminal import console

if TYPE_CHECKING:
    from flexpress.simulation.events import Event
    from flexpress.simulation.simulate import Simulation


class StopNote(ProgressColumn):
    """Asked whenever the line is drawn: from one event to the next clients may train for long."""

    max_refresh = None

    def __init__(self, stopping: Callable[[], bool]) -> None:
        super().__init__()
        self._stopping = stopping

    def render(self, task: Task) -> Text:
        return Text("stopping; Ctrl-C again aborts" if self._stopping() else "")


class RunLine:
    """Algorithm, slot, accuracy, time left; gone when the run is done."""

    def __init__(self, simulation: Simulation, stopping: Callable[[], bool]) -> None:
        self._simulation = simulation
        self._live = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("slot {task.completed:,} of {task.total:,}", markup=False),
            TextColumn("{task.fields[accuracy]}", markup=False),
            TimeRemainingColumn(),
            StopNote(stopping),
            console=console(sys.stderr),
            transient=True,
        )
        run = simulation.scenario.run
        self._task = self._live.add_task(run.algorithm, total=run.horizon, accuracy="")

    def __enter__(self) -> RunLine:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def update(self, event: Event) -> None:
        accuracy = accuracy_text(self._simulation)
        self._live.update(self._task, completed=event.slot, accuracy=accuracy)
