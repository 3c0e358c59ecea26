"""The result of a simulation: when everything happened, and how good the model was."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from flexpress.learning import Vector
from flexpress.simulation.clock import events
from flexpress.simulation.events import Departure, Event, Landing, Update, Visit
from flexpress.simulation.run_names import RunName, run_label, run_name
from flexpress.simulation.timetable import Timetable

_E = TypeVar("_E", bound=Event)

_TARGET_STEP = 5
"""Per cent: common targets are multiples of this."""

_ROUNDING = 1e-9


@dataclass(frozen=True)
class Measurement:
    """The global model's loss and accuracy on the test samples, at the beginning of a slot."""

    slot: int
    seconds: float
    loss: float
    accuracy: float


def first_with(accuracy: float, metrics: Iterable[Measurement]) -> Measurement | None:
    """The first measurement of at least this accuracy."""
    return next((each for each in metrics if each.accuracy >= accuracy - _ROUNDING), None)


def common_target(best_accuracies: Iterable[float | None]) -> float | None:
    """The highest multiple of 5 % that all runs reached; None if that is 0."""
    lowest = min((best or 0.0 for best in best_accuracies), default=0.0)
    steps = math.floor(100 * lowest / _TARGET_STEP + _ROUNDING)
    return steps * _TARGET_STEP / 100 if steps > 0 else None


@dataclass(frozen=True, eq=False)
class Trace:
    """The result of a simulation up to its horizon, or to where it ended early.

    Events are not stored: the clock computes them again on every request. But what happened on a
    mission in the field nobody can compute: those events are `recorded`.
    """

    timetable: Timetable
    horizon: int
    eval_every: int
    num_events: int  # that happened: not all up to the horizon if the run ended early
    metrics: tuple[Measurement, ...]
    model: Vector  # the global model at the horizon
    head_start: float = 0.0  # gamma
    recorded: tuple[Event, ...] | None = None  # of a mission

    @property
    def name(self) -> RunName:
        """What the run is called among those of a comparison."""
        return run_name(self.timetable.algorithm, self.head_start)

    @property
    def label(self) -> str:
        """The algorithm and its head start, as pictures show it."""
        return run_label(self.timetable.algorithm, self.head_start)

    @property
    def complete(self) -> bool:
        """Whether it reached its horizon."""
        return bool(self.metrics) and self.metrics[-1].slot == self.horizon

    def events(self) -> Iterator[Event]:
        """In the order in which they happened."""
        if self.recorded is not None:
            return iter(self.recorded)
        return islice(events(self.timetable, self.horizon, self.eval_every), self.num_events)

    def slots_to(self, accuracy: float | None) -> int | None:
        """The slot of the first measurement of at least this accuracy; None if there is none."""
        found = None if accuracy is None else first_with(accuracy, self.metrics)
        return found.slot if found else None

    def _all(self, kind: type[_E]) -> tuple[_E, ...]:
        return tuple(event for event in self.events() if isinstance(event, kind))

    @property
    def departures(self) -> tuple[Departure, ...]:
        return self._all(Departure)

    @property
    def visits(self) -> tuple[Visit, ...]:
        return self._all(Visit)

    @property
    def landings(self) -> tuple[Landing, ...]:
        return self._all(Landing)

    @property
    def updates(self) -> tuple[Update, ...]:
        return self._all(Update)

    @property
    def energy(self) -> float:
        """Joules, over all completed tours."""
        return sum(landing.energy for landing in self.landings)

    @property
    def waiting(self) -> float:
        """Seconds that transporters waited at the server for others."""
        return sum(landing.waiting for landing in self.landings)
