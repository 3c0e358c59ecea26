"""When a transporter meets whom: the plan's tours in slots, by either clock."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from flexpress.planning import Plan, Tour

Moment = int | Fraction
"""Slots since the first departure, or since that of the tour."""


@dataclass(frozen=True)
class Timetable:
    """One tour of one transporter that flies."""

    clients: tuple[int | str, ...]
    offsets: tuple[Moment, ...]  # of the visits, after departure
    round_trip: Moment  # Delta_k

    def visits(self) -> Iterator[tuple[int | str, Moment]]:
        """In the order of time."""
        return iter(sorted(zip(self.clients, self.offsets, strict=True), key=lambda pair: pair[1]))


def flying(plan: Plan) -> list[Tour]:
    """Tours of the transporters with clients; the others stay on the ground."""
    return [tour for tour in plan.transporters if tour.clients]


def in_slots(tour: Tour, offsets: Sequence[int] | None = None) -> Timetable:
    """Delta_k in whole slots, at least 1; visits at any slots of the tour, at first if not said."""
    delta = max(1, tour.round_trip_slots)
    offsets = [0] * len(tour.clients) if offsets is None else offsets
    assert all(0 <= offset < delta for offset in offsets)
    return Timetable(tour.clients, tuple(offsets), delta)


def drawn_in_slots(tour: Tour, rng: np.random.Generator, *, ordered: bool) -> Timetable:
    """Visits at random slots of the tour, in visiting order or in any."""
    offsets = rng.integers(0, max(1, tour.round_trip_slots), len(tour.clients)).tolist()
    return in_slots(tour, sorted(offsets) if ordered else offsets)


def exactly(tour: Tour, slot: float) -> Timetable:
    """The plan's seconds, not rounded."""
    unit = Fraction(slot)
    arrivals = tuple(Fraction(arrival) / unit for arrival in tour.arrivals)
    return Timetable(tour.clients, arrivals, Fraction(tour.round_trip) / unit)
