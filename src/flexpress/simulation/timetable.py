"""Who leaves together, when each client is visited, and how many local steps lie in between.

All algorithms follow one rule. A convoy leaves the server every `period`, on tour r with the global
model x_r. At the end of the tour the server merges the updates that were trained from the model of
`lag` tours before the next departure:

    sync      one convoy of all transporters, period max_k Delta_k           lag 2
    async     a convoy for each transporter, period Delta_k                  lag 2
    direct    one convoy without flights, period max_k Delta_k               lag 1

With lag 2 a client receives x_r on tour r and hands over its update on tour r + 1; the server has
it at the end of that tour. With an ideal link it has it one period earlier. Clients that are
deployed with x^0 on board train before the first tour too: that is tour -1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from flexpress.errors import InputError
from flexpress.planning import Plan, Tour
from flexpress.planning.plan import ClientId
from flexpress.scenario import Algorithm, Clock, Scenario

Ticks = int
"""Ticks: whole slots, or nanoseconds by the exact clock. Integers, so that rounding cannot separate
simultaneous events or move an event into another slot."""

_TICKS_PER_SECOND = 10**9

_FLIGHT_LAG, _LINK_LAG = 2, 1


@dataclass(frozen=True)
class Route:
    """The tour of one transporter, in the time of the clock."""

    transporter: int  # 1, 2, ... in the order of the plan
    clients: tuple[ClientId, ...]
    offsets: tuple[Ticks, ...]  # from departure to the visit of each client
    arrivals: tuple[float, ...]  # the same in seconds
    duration: Ticks  # Delta_k of the paper
    energy: float  # joules


@dataclass(frozen=True)
class Convoy:
    """Transporters that leave together, and whose updates are merged together."""

    routes: tuple[Route, ...]
    period: Ticks
    lag: int


@dataclass(frozen=True)
class Timetable:
    """All times that are known before a model is trained."""

    algorithm: Algorithm
    clock: Clock
    slot: float  # seconds
    ticks_per_slot: int
    num_clients: int
    convoys: tuple[Convoy, ...]
    preloaded: bool = False  # clients have x^0 on board, and train from slot 0

    @classmethod
    def of(cls, scenario: Scenario, plan: Plan, algorithm: Algorithm) -> Timetable:
        clock, slot = scenario.run.clock, scenario.slot
        ticks_per_slot = 1 if clock == "slots" else max(1, _ticks(slot))
        flown = [(k, tour) for k, tour in enumerate(plan.transporters, start=1) if tour.clients]
        make = _in_slots if clock == "slots" else _in_ticks
        routes = tuple(make(k, tour, slot) for k, tour in flown)
        num_clients = sum(len(route.clients) for route in routes)
        convoys = _convoys(algorithm, routes)
        preloaded = scenario.run.preloaded and algorithm != "direct"
        return cls(algorithm, clock, slot, ticks_per_slot, num_clients, convoys, preloaded)

    @property
    def flies(self) -> bool:
        """Whether transporters carry the models; `direct` has an ideal link."""
        return self.algorithm != "direct"

    @property
    def first_tour(self) -> int:
        """The first tour whose model is trained; -1 is x^0 that clients have on board."""
        return -1 if self.preloaded else 0

    def time(self, slot: int) -> Ticks:
        """The beginning of a slot."""
        return slot * self.ticks_per_slot

    def slot_of(self, time: Ticks) -> int:
        """The slot that the time lies in."""
        return time // self.ticks_per_slot

    def slot_from(self, time: Ticks) -> int:
        """The first slot that begins at this time or later."""
        return -(-time // self.ticks_per_slot)

    def seconds(self, time: Ticks) -> float:
        return time / self.ticks_per_slot * self.slot

    def steps(self, convoy: Convoy, offset: Ticks, tour: int) -> tuple[int, int]:
        """Local steps of a client before the visit on this tour, and from then to the next visit.

        One step per slot that begins between two visits: Delta_k if slots are whole. Clients with
        x^0 on board begin at slot 0, on tour -1; the others at their first visit.
        """
        slot, met = self.ticks_per_slot, tour * convoy.period + offset
        now, then = max(0, met) // slot, (met + convoy.period) // slot
        before_first = 0 if self.preloaded else offset // slot
        return now - before_first, then - now


def _convoys(algorithm: Algorithm, routes: tuple[Route, ...]) -> tuple[Convoy, ...]:
    if algorithm == "async":
        return tuple(Convoy((route,), route.duration, _FLIGHT_LAG) for route in routes)
    longest = max(route.duration for route in routes)
    if algorithm == "sync":
        return (Convoy(routes, longest, _FLIGHT_LAG),)
    return (Convoy(tuple(map(_over_the_link, routes)), longest, _LINK_LAG),)


def _in_slots(transporter: int, tour: Tour, slot: float) -> Route:
    """Round trips in whole slots; a visit is in the slot that contains its time."""
    offsets = [math.floor(arrival / slot) for arrival in tour.arrivals]
    return _route(transporter, tour, offsets, tour.round_trip_slots)


def _in_ticks(transporter: int, tour: Tour, slot: float) -> Route:
    """Round trips as long as they are, but longer than 0: otherwise time would stand still."""
    if _ticks(tour.round_trip) == 0:
        raise InputError(
            f"transporter {transporter} takes 0 s for its round trip, which the exact clock cannot "
            'count; give link.transfer_time, or take run.clock = "slots"'
        )
    offsets = [_ticks(arrival) for arrival in tour.arrivals]
    return _route(transporter, tour, offsets, _ticks(tour.round_trip))


def _route(transporter: int, tour: Tour, offsets: list[Ticks], duration: Ticks) -> Route:
    """Delta_k is at least 1, and all clients are visited before its end."""
    duration = max(1, duration)
    met = tuple(min(offset, duration - 1) for offset in offsets)
    return Route(transporter, tour.clients, met, tour.arrivals, duration, tour.energy)


def _ticks(seconds: float) -> Ticks:
    return round(seconds * _TICKS_PER_SECOND)


def _over_the_link(route: Route) -> Route:
    """The same clients, reached all at once and without energy."""
    at_once = (0,) * len(route.clients)
    return Route(route.transporter, route.clients, at_once, at_once, 0, 0.0)
