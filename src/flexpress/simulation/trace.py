"""What a simulation tells: when everything happened, and how good the model was."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from flexpress.learning import Vector
from flexpress.simulation.clock import events
from flexpress.simulation.events import Departure, Event, Landing, Update, Visit
from flexpress.simulation.timetable import Timetable

Kind = TypeVar("Kind", bound=Event)


@dataclass(frozen=True)
class Measurement:
    """The global model's loss and accuracy on the test samples, at the beginning of a slot."""

    slot: int
    seconds: float
    loss: float
    accuracy: float


@dataclass(frozen=True, eq=False)
class Trace:
    """The outcome of a simulation up to its horizon, or until it ended early.

    Events are told anew from the timetable whenever they are asked for: none are stored.
    """

    timetable: Timetable
    horizon: int
    eval_every: int
    num_events: int  # that happened; fewer than there are up to the horizon if it ended early
    metrics: tuple[Measurement, ...]
    model: Vector  # the global model at the horizon

    @property
    def complete(self) -> bool:
        """Whether it reached its horizon."""
        return bool(self.metrics) and self.metrics[-1].slot == self.horizon

    def events(self) -> Iterator[Event]:
        """In the order in which they happened."""
        return islice(events(self.timetable, self.horizon, self.eval_every), self.num_events)

    def _all(self, kind: type[Kind]) -> tuple[Kind, ...]:
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
        """Joules of all tours that came home."""
        return sum(landing.energy for landing in self.landings)

    @property
    def waiting(self) -> float:
        """Seconds that transporters stood at the server, waiting for others."""
        return sum(landing.waiting for landing in self.landings)
