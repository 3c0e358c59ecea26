"""The clock: everything that happens up to the horizon, in order. No model is involved.

A heap of (time, rank, seconds, number) is a total order, so that ties are always resolved alike:
in one moment transporters land, the server merges what all of them brought, they leave again, the
model is evaluated, and then clients are met, each kind in the order of their numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush

from flexpress.simulation.events import (
    Broadcast,
    Contribution,
    Departure,
    Evaluation,
    Event,
    Landing,
    Update,
    Visit,
)
from flexpress.simulation.timetable import Convoy, Route, Time, Timetable

LAND, MERGE, EVALUATE, MEET = range(4)


def events(timetable: Timetable, horizon: int, eval_every: int) -> Iterator[Event]:
    """From slot 0 to the horizon, both included. A longer horizon only appends to them."""
    return Clock(timetable, horizon, eval_every).run()


class Tours:
    """The tours of a convoy: which one it is on, and the versions of the models that it carries."""

    def __init__(self, index: int, convoy: Convoy) -> None:
        self.index = index  # of the convoy
        self.convoy = convoy
        self.number = -1
        self.version = -1
        self.version_before = -1
        self.flying = 0

    @property
    def end(self) -> Time:
        return (self.number + 1) * self.convoy.period

    def leave(self, version: int) -> None:
        self.number += 1
        self.version_before, self.version = self.version, version
        self.flying = len(self.convoy.routes)


class Clock:
    """The heap, and the little that must be remembered from one event to the next."""

    def __init__(self, timetable: Timetable, horizon: int, eval_every: int) -> None:
        self._timetable = timetable
        self._horizon = timetable.time(horizon)
        self._eval_every = eval_every
        self._tours = [Tours(index, convoy) for index, convoy in enumerate(timetable.convoys)]
        self._routes: dict[int, tuple[Tours, Route]] = {
            route.transporter: (tours, route)
            for tours in self._tours
            for route in tours.convoy.routes
        }
        self._met = dict.fromkeys(self._routes, 0)  # clients met on the present tour
        self._version = 0
        self._heap: list[tuple[Time, int, float, int]] = []

    def run(self) -> Iterator[Event]:
        for tours in self._tours:
            yield from self._leave(tours, 0)
        self._push(self._timetable.time(0), EVALUATE, 0)
        while self._heap and self._heap[0][0] <= self._horizon:
            time, rank, seconds, number = heappop(self._heap)
            if rank == MEET:
                yield self._meet(time, seconds, number)
            elif rank == LAND:
                yield self._land(time, number)
            elif rank == MERGE:
                yield from self._merge(time, number)
            else:
                yield self._evaluate(time, number)

    def _push(self, time: Time, rank: int, number: int) -> None:
        heappush(self._heap, (time, rank, self._timetable.seconds(time), number))

    def _when(self, time: Time) -> tuple[int, float]:
        return self._timetable.slot_of(time), self._timetable.seconds(time)

    def _leave(self, tours: Tours, time: Time) -> Iterator[Event]:
        """The convoy takes the global model as it is now."""
        tours.leave(self._version)
        if not self._timetable.flies:
            yield Broadcast(*self._when(time), tours.number, self._version)
            self._push(tours.end, MERGE, tours.index)
            return
        for route in tours.convoy.routes:
            k = route.transporter
            yield Departure(*self._when(time), k, tours.number, self._version)
            self._met[k] = 0
            self._fly_on(k)

    def _fly_on(self, k: int) -> None:
        """To the next client, or home."""
        tours, route = self._routes[k]
        j = self._met[k]
        if j < len(route.clients):
            departure = tours.number * tours.convoy.period
            seconds = self._timetable.seconds(departure) + route.arrivals[j]
            heappush(self._heap, (departure + route.offsets[j], MEET, seconds, k))
        else:
            self._push(tours.end - (tours.convoy.period - route.duration), LAND, k)

    def _meet(self, time: Time, seconds: float, k: int) -> Visit:
        tours, route = self._routes[k]
        j = self._met[k]
        self._met[k] = j + 1
        self._fly_on(k)
        trained_from, steps = None, 0
        if tours.number > 0:
            trained_from = tours.version_before
            _, steps = self._timetable.steps(tours.convoy, route.offsets[j], tours.number - 1)
        return Visit(
            self._timetable.slot_of(time),
            seconds,
            k,
            tours.number,
            route.clients[j],
            tours.version,
            self._version - tours.version,
            trained_from,
            steps,
        )

    def _land(self, time: Time, k: int) -> Landing:
        tours, route = self._routes[k]
        tours.flying -= 1
        if tours.flying == 0:
            self._push(tours.end, MERGE, tours.index)
        waiting = self._timetable.seconds(tours.convoy.period - route.duration)
        return Landing(*self._when(time), k, tours.number, route.energy, waiting)

    def _merge(self, time: Time, number: int) -> Iterator[Event]:
        """All convoys whose time it is: one update of the global model, then they leave."""
        merged = [self._tours[number]]
        while self._heap and self._heap[0][:2] == (time, MERGE):
            merged.append(self._tours[heappop(self._heap)[3]])
        brought = tuple(c for tours in merged for c in self._contributions(tours))
        if brought:
            self._version += 1
            known_from = self._timetable.slot_from(time)
            yield Update(known_from, self._timetable.seconds(time), self._version, brought)
        for tours in merged:
            yield from self._leave(tours, time)

    def _contributions(self, tours: Tours) -> Iterator[Contribution]:
        """What a convoy brings: nothing from its first flight, when clients had no model yet."""
        origin = tours.number + 1 - tours.convoy.lag
        version = tours.version if origin == tours.number else tours.version_before
        for route in tours.convoy.routes if origin >= 0 else ():
            yield Contribution(route.transporter, origin, version, self._version - version)

    def _evaluate(self, time: Time, slot: int) -> Evaluation:
        following = slot + self._eval_every
        self._push(self._timetable.time(following), EVALUATE, following)
        return Evaluation(slot, self._timetable.seconds(time))
