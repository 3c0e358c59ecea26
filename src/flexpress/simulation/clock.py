"""The clock: all events up to the horizon, in order. No model is involved.

A heap of (time, rank, seconds, number) is a total order, so that ties are always resolved in the
same way: at one moment transporters land, the server merges what all of them brought, they leave
again, the model is evaluated, and then clients are visited, each kind in the order of numbers.
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
from flexpress.simulation.timetable import Convoy, Route, Ticks, Timetable

_LAND, _MERGE, _EVALUATE, _VISIT = range(4)


def events(timetable: Timetable, horizon: int, eval_every: int) -> Iterator[Event]:
    """The events from slot 0 to the horizon, both included. A longer horizon appends to them."""
    return _EventQueue(timetable, horizon, eval_every).run()


class _ConvoyState:
    """The present tour of a convoy, and the versions of the models on this tour and the last."""

    def __init__(self, index: int, convoy: Convoy) -> None:
        self.index = index  # of the convoy
        self.convoy = convoy
        self.tour = -1
        self.version = 0
        self.version_before = -1
        self.flying = 0

    @property
    def end(self) -> Ticks:
        return (self.tour + 1) * self.convoy.period

    def leave(self, version: int) -> None:
        self.tour += 1
        self.version_before, self.version = self.version, version
        self.flying = len(self.convoy.routes)


class _EventQueue:
    """The heap, and the state that one event leaves to the next."""

    def __init__(self, timetable: Timetable, horizon: int, eval_every: int) -> None:
        self._timetable = timetable
        self._horizon = timetable.time(horizon)
        self._eval_every = eval_every
        self._convoys = [
            _ConvoyState(index, convoy) for index, convoy in enumerate(timetable.convoys)
        ]
        self._routes: dict[int, tuple[_ConvoyState, Route]] = {
            route.transporter: (state, route)
            for state in self._convoys
            for route in state.convoy.routes
        }
        self._visited = dict.fromkeys(self._routes, 0)  # clients visited on the present tour
        self._version = 0
        self._heap: list[tuple[Ticks, int, float, int]] = []

    def run(self) -> Iterator[Event]:
        for state in self._convoys:
            yield from self._leave(state, 0)
        self._push(self._timetable.time(0), _EVALUATE, 0)
        while self._heap and self._heap[0][0] <= self._horizon:
            time, rank, seconds, number = heappop(self._heap)
            if rank == _VISIT:
                yield self._visit(time, seconds, number)
            elif rank == _LAND:
                yield self._land(time, number)
            elif rank == _MERGE:
                yield from self._merge(time, number)
            else:
                yield self._evaluate(time, number)

    def _push(self, time: Ticks, rank: int, number: int) -> None:
        heappush(self._heap, (time, rank, self._timetable.seconds(time), number))

    def _when(self, time: Ticks) -> tuple[int, float]:
        return self._timetable.slot_of(time), self._timetable.seconds(time)

    def _leave(self, state: _ConvoyState, time: Ticks) -> Iterator[Event]:
        """The convoy departs with the present global model."""
        state.leave(self._version)
        if not self._timetable.flies:
            yield Broadcast(*self._when(time), state.tour, self._version)
            self._push(state.end, _MERGE, state.index)
            return
        for route in state.convoy.routes:
            k = route.transporter
            yield Departure(*self._when(time), k, state.tour, self._version)
            self._visited[k] = 0
            self._fly_on(k)

    def _fly_on(self, k: int) -> None:
        """Schedule the next visit, or the landing."""
        state, route = self._routes[k]
        j = self._visited[k]
        if j < len(route.clients):
            departure = state.tour * state.convoy.period
            seconds = self._timetable.seconds(departure) + route.arrivals[j]
            heappush(self._heap, (departure + route.offsets[j], _VISIT, seconds, k))
        else:
            self._push(state.end - (state.convoy.period - route.duration), _LAND, k)

    def _visit(self, time: Ticks, seconds: float, k: int) -> Visit:
        state, route = self._routes[k]
        j = self._visited[k]
        self._visited[k] = j + 1
        self._fly_on(k)
        trained_from, steps = None, 0
        if state.tour > self._timetable.first_tour:
            trained_from = state.version_before
            _, steps = self._timetable.steps(state.convoy, route.offsets[j], state.tour - 1)
        return Visit(
            self._timetable.slot_of(time),
            seconds,
            k,
            state.tour,
            route.clients[j],
            state.version,
            self._version - state.version,
            trained_from,
            steps,
        )

    def _land(self, time: Ticks, k: int) -> Landing:
        state, route = self._routes[k]
        state.flying -= 1
        if state.flying == 0:
            self._push(state.end, _MERGE, state.index)
        waiting = self._timetable.seconds(state.convoy.period - route.duration)
        return Landing(*self._when(time), k, state.tour, route.energy, waiting)

    def _merge(self, time: Ticks, number: int) -> Iterator[Event]:
        """Merge all convoys that are due now in one update; then they depart."""
        merged = [self._convoys[number]]
        while self._heap and self._heap[0][:2] == (time, _MERGE):
            merged.append(self._convoys[heappop(self._heap)[3]])
        brought = tuple(c for state in merged for c in self._contributions(state))
        if brought:
            self._version += 1
            known_from = self._timetable.slot_from(time)
            yield Update(known_from, self._timetable.seconds(time), self._version, brought)
        for state in merged:
            yield from self._leave(state, time)

    def _contributions(self, state: _ConvoyState) -> Iterator[Contribution]:
        """What a convoy brings. The first tour brings nothing if clients had no model before it."""
        origin = state.tour + 1 - state.convoy.lag
        version = state.version if origin == state.tour else state.version_before
        trained = origin >= self._timetable.first_tour
        for route in state.convoy.routes if trained else ():
            yield Contribution(route.transporter, origin, version, self._version - version)

    def _evaluate(self, time: Ticks, slot: int) -> Evaluation:
        following = slot + self._eval_every
        self._push(self._timetable.time(following), _EVALUATE, following)
        return Evaluation(slot, self._timetable.seconds(time))
