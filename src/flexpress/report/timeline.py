"""A trace as rows of flights: who is out when, whom it meets, which model is aboard, who waits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

from flexpress.simulation import Trace
from flexpress.simulation.events import Departure, Event, Landing, Update, Visit


@dataclass(frozen=True)
class Flight:
    """One tour, in seconds; None where it lies beyond what is shown."""

    start: float
    version: int  # of the model aboard
    visits: tuple[float, ...]
    end: float | None  # when it lands
    leaves: float | None  # when it sets out again


@dataclass(frozen=True)
class Row:
    transporter: int  # 1, 2, ...
    flights: tuple[Flight, ...]


@dataclass(frozen=True)
class NewModel:
    """The server has a model of this version from this second on."""

    seconds: float
    version: int


@dataclass(frozen=True)
class Timeline:
    """The first so many slots of one run."""

    name: str
    slot_seconds: float
    slots: int
    rows: tuple[Row, ...]
    updates: tuple[NewModel, ...]


def timeline_of(trace: Trace, name: str, slots: int) -> Timeline:
    """Rows in the order of the transporters that fly; none for `direct`, which has no flights."""
    flights: defaultdict[int, dict[int, list[Event]]] = defaultdict(dict)
    updates = []
    for event in first_events(trace, slots):
        if isinstance(event, Departure | Visit | Landing):
            flights[event.transporter].setdefault(event.tour, []).append(event)
        elif isinstance(event, Update):
            updates.append(NewModel(event.seconds, event.version))
    rows = (
        Row(k, tuple(flight_of(told) for told in tours.values()))
        for k, tours in sorted(flights.items())
    )
    return Timeline(name, trace.timetable.slot, slots, tuple(rows), tuple(updates))


def first_events(trace: Trace, slots: int) -> Iterator[Event]:
    """Up to the end of so many slots. A long trace is not gone through."""
    end = slots * trace.timetable.slot
    begun = takewhile(lambda event: event.slot <= slots, trace.events())
    return (event for event in begun if event.seconds <= end)


def flight_of(told: list[Event]) -> Flight:
    """Out of what happened on one tour, in its order."""
    departure, *rest = told
    assert isinstance(departure, Departure)
    landing = next((event for event in rest if isinstance(event, Landing)), None)
    return Flight(
        start=departure.seconds,
        version=departure.version,
        visits=tuple(event.seconds for event in rest if isinstance(event, Visit)),
        end=landing.seconds if landing else None,
        leaves=landing.seconds + landing.waiting if landing else None,
    )


def slots_shown(trace: Trace, tours: int = 4) -> int:
    """As many as the slowest transporter needs for so many tours, if the run is as long."""
    convoys = trace.timetable.convoys
    longest = max(trace.timetable.seconds(convoy.period) for convoy in convoys)
    return max(1, min(trace.horizon, round(tours * longest / trace.timetable.slot + 0.5)))
