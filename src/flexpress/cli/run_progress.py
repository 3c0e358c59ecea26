"""How far a simulation is: a live line, or a plain one now and then if there is no terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from flexpress.cli.terminal import complain

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
    from flexpress.cli.run_line import RunLine

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
