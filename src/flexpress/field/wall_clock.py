"""The wall clock: events as they happen, at the moment at which the server learns of them.

Of its visits it learns when the courier is home. FedEx-Async merges what a courier brings at once,
and releases it again. FedEx-Sync does so when nobody is out: a courier that has not departed yet
keeps nobody waiting. A courier that is released takes the newest model along when it departs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from msgspec.structs import replace as changed

from flexpress.field.due import (
    Courier,
    Due,
    Home,
    Key,
    Progress,
    Release,
    Situation,
    origins,
)
from flexpress.simulation.events import (
    Contribution,
    Departure,
    Evaluation,
    Event,
    Landing,
    Update,
    Visit,
)
from flexpress.simulation.timetable import Timetable


class WallClock:
    """Time runs `speedup` times as fast as it is: a rehearsal need not take days."""

    def __init__(
        self,
        timetable: Timetable,
        horizon: int,
        eval_every: int,
        progress: Progress,
        *,
        speedup: float = 1.0,
    ) -> None:
        self._timetable = timetable
        self._horizon = horizon
        self._eval_every = eval_every
        self._speedup = speedup
        self._energies = {
            route.transporter: route.energy for c in timetable.convoys for route in c.routes
        }
        self.progress = progress

    def due(self, situation: Situation, now: float) -> Due | None:
        """What comes next; None: wait until somebody departs or comes home, or until `wakes`."""
        if self.progress.over:
            return None
        seconds = self._elapsed(now)
        return (
            self._evaluate(seconds, earlier=True)
            or self._depart(situation, seconds)
            or self._land(situation, seconds)
            or self._merge(situation, seconds)
            or self._release(situation, seconds)
            or self._evaluate(seconds)
            or self._close(seconds)
        )

    def passed(self, due: Due) -> None:
        """It is done, and stored."""
        self.progress = due.progress

    def wakes(self) -> float | None:
        """The moment of the next evaluation; None after the end."""
        if self.progress.over:
            return None
        slot = min(self.progress.next_evaluation, self._horizon)
        return self.progress.started + self._seconds_at(slot) / self._speedup

    def _elapsed(self, now: float) -> float:
        """Seconds of the mission: never fewer than before, never beyond the horizon."""
        passed = (now - self.progress.started) * self._speedup
        return max(self.progress.seconds, min(passed, self._seconds_at(self._horizon)))

    def _seconds_at(self, slot: int) -> float:
        return self._timetable.seconds(self._timetable.time(slot))

    def _when(self, seconds: float) -> tuple[int, float]:
        """Slot and seconds of an event."""
        return math.floor(seconds / self._timetable.slot), seconds

    def _step(
        self, happened: tuple[Event, ...], homes: tuple[Key, ...] = (), **changes: object
    ) -> Due:
        before = self.progress
        latest = max((event.seconds for event in happened), default=before.seconds)
        count = before.num_events + len(happened)
        progress = changed(before, num_events=count, seconds=latest, **changes)
        return Due(happened, progress, homes=homes)

    def _evaluate(self, seconds: float, *, earlier: bool = False) -> Due | None:
        """Every `eval_every` slots: before all that is later, after all that is not."""
        slot = self.progress.next_evaluation
        moment = self._seconds_at(slot)
        if slot > self._horizon or moment > seconds or (earlier and moment == seconds):
            return None
        return self._step((Evaluation(slot, moment),), next_evaluation=slot + self._eval_every)

    def _depart(self, situation: Situation, seconds: float) -> Due | None:
        known = self.progress.departed
        left = {
            k: courier
            for k, courier in sorted(situation.couriers.items())
            if courier and courier.state != "released" and courier.round > known.get(k, -1)
        }
        if not left:
            return None
        when = self._when(seconds)
        happened = tuple(Departure(*when, k, c.round, c.version) for k, c in left.items())
        return self._step(happened, departed=known | {k: c.round for k, c in left.items()})

    def _land(self, situation: Situation, seconds: float) -> Due | None:
        """A courier is home, and tells whom it has visited; of a void tour there is no event."""
        key = _first_after(self.progress.landed, situation.homes)
        if key is None:
            return None
        k, number = key
        home, when = situation.homes[key], self._when(seconds)
        happened: list[Event] = []
        if home.accepted:
            happened += self._visits(when, key, home)
            happened.append(Landing(*when, k, number, self._energies.get(k, 0.0), waiting=0.0))
        return self._step(tuple(happened), landed=self.progress.landed | {k: number})

    def _visits(self, when: tuple[int, float], key: Key, home: Home) -> list[Visit]:
        """One for each client that has handed something over."""
        newest = {each.client: each for each in sorted(home.brought, key=lambda b: b.round)}
        age = self.progress.version - home.version
        return [
            Visit(*when, *key, each.client, home.version, age, each.version, each.steps)
            for each in home.brought
            if newest[each.client] is each
        ]

    def _merge(self, situation: Situation, seconds: float) -> Due | None:
        """Homes that brought nothing are only ticked off; they go with the next that are merged."""
        keys = self._ready(situation)
        if not keys:
            return None
        taken, now = self.progress.taken | dict(keys), self.progress.version
        parts = tuple(
            Contribution(key[0], r, v, max(0, now - v))  # v may be lost: see `ServerBook.restored`
            for key in keys
            for r, v in origins([situation.homes[key]])
        )
        if not parts:
            return self._step((), taken=taken)
        before = tuple(k for k in sorted(situation.homes) if k not in keys and _is_in(k, taken))
        slot = math.ceil(seconds / self._timetable.slot)
        happened = Update(slot, seconds, now + 1, parts)
        return self._step((happened,), (*before, *keys), taken=taken, version=now + 1)

    def _ready(self, situation: Situation) -> tuple[Key, ...]:
        """The homes to be merged now: Async one, Sync all, once nobody is out."""
        taken = self.progress.taken
        if self._timetable.algorithm != "sync":
            key = _first_after(taken, situation.homes)
            return () if key is None else (key,)
        if _somebody_is_out(situation):
            return ()
        return tuple(key for key in sorted(situation.homes) if not _is_in(key, taken))

    def _release(self, situation: Situation, seconds: float) -> Due | None:
        """The next round of all that are home; the newest model for those yet to depart."""
        waits = self._timetable.algorithm == "sync" and _somebody_is_out(situation)
        if waits or seconds >= self._seconds_at(self._horizon):
            return None
        newest = self.progress.version
        possible = (
            Release(k, _next_round(courier), newest)
            for k, courier in sorted(situation.couriers.items())
            if courier is None or courier.state != "out"
        )
        new = tuple(each for each in possible if not _is_known(each, situation.couriers))
        return Due((), self.progress, new) if new else None

    def _close(self, seconds: float) -> Due | None:
        """Measure at the horizon, unless an evaluation fell there. It is not counted."""
        end = self._seconds_at(self._horizon)
        if seconds < end:
            return None
        measured = self._horizon % self._eval_every == 0
        last = () if measured else (Evaluation(self._horizon, end),)
        return Due(last, changed(self.progress, over=True))


def _first_after(done: Mapping[int, int], homes: Mapping[Key, Home]) -> Key | None:
    return min((key for key in homes if not _is_in(key, done)), default=None)


def _is_in(key: Key, done: Mapping[int, int]) -> bool:
    return key[1] <= done.get(key[0], -1)


def _somebody_is_out(situation: Situation) -> bool:
    return any(courier and courier.state == "out" for courier in situation.couriers.values())


def _next_round(courier: Courier | None) -> int:
    if courier is None:
        return 0
    return courier.round + (courier.state == "closed")


def _is_known(release: Release, couriers: Mapping[int, Courier | None]) -> bool:
    courier = couriers[release.courier]
    return courier is not None and (courier.round, courier.version) == release[1:]
