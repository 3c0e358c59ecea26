"""The plan's clock: the events of the simulator in their order, whatever the real time.

Landings wait until the tour is closed in the field, and so do all events after them: updates and
the departures with new models. Everything else happens in the trace as it was planned.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice

from msgspec.structs import replace as changed

from flexpress.field.due import Due, Home, Key, Progress, Release, Situation, origins
from flexpress.simulation.clock import events
from flexpress.simulation.events import (
    Contribution,
    Departure,
    Evaluation,
    Event,
    Landing,
    Update,
)
from flexpress.simulation.timetable import Timetable

_MOST_EVENTS = 10_000
"""In one step: they are written and committed together."""


class PlanClock:
    """Without disturbance, all that it leads to is as simulated, bit for bit."""

    def __init__(
        self, timetable: Timetable, horizon: int, eval_every: int, progress: Progress
    ) -> None:
        self._timetable = timetable
        self._horizon = horizon
        self._ends_with_an_evaluation = horizon % eval_every == 0
        self._coming = islice(events(timetable, horizon, eval_every), progress.num_events, None)
        self._seen: deque[Event] = deque()  # of those to come
        self.progress = progress

    def due(self, situation: Situation, now: float = 0.0) -> Due | None:
        """What comes next; None: wait until another tour is closed. The time does not matter."""
        if self.progress.over:
            return None
        found = list(islice(self._possible(situation.homes), _MOST_EVENTS))
        if not found:
            return self._close() if self._peek() is None else None
        first = found[0]
        if isinstance(first, Update):
            return self._merge(first, situation.homes)
        if isinstance(first, Evaluation):
            return Due((first,), self._after(1))
        plain = [event for event in found if not isinstance(event, Update | Evaluation)]
        leaving = (event for event in plain if isinstance(event, Departure))
        releases = (Release(each.transporter, each.tour, each.version) for each in leaving)
        return Due(tuple(plain), self._after(len(plain)), tuple(releases))

    def passed(self, due: Due) -> None:
        """It is done, and stored."""
        for _ in range(due.progress.num_events - self.progress.num_events):
            self._seen.popleft()
        self.progress = due.progress

    def wakes(self) -> float | None:
        """Never: something is due only when somebody comes home."""
        return None

    def _possible(self, homes: Mapping[Key, Home]) -> Iterator[Event]:
        """The events that can happen now, up to the first that changes or tests the model."""
        place = 0
        while (event := self._peek(place)) is not None:
            if isinstance(event, Landing) and (event.transporter, event.tour) not in homes:
                return
            yield event
            if isinstance(event, Update | Evaluation):
                return
            place += 1

    def _peek(self, place: int = 0) -> Event | None:
        while len(self._seen) <= place:
            event = next(self._coming, None)
            if event is None:
                return None
            self._seen.append(event)
        return self._seen[place]

    def _after(self, number: int) -> Progress:
        return changed(self.progress, num_events=self.progress.num_events + number)

    def _merge(self, event: Update, homes: Mapping[Key, Home]) -> Due:
        """A void tour contributes nothing; leftovers are contributions of their own."""
        keys: list[Key] = []
        parts: list[Contribution] = []
        for part in event.contributions:
            last = part.tour + 1
            own = sorted(key for key in homes if key[0] == part.transporter and key[1] <= last)
            keys += own
            parts += _contributions(part, [homes[key] for key in own])
        progress = changed(self._after(1), version=event.version)
        return Due((replace(event, contributions=tuple(parts)),), progress, homes=tuple(keys))

    def _close(self) -> Due:
        """Measure at the horizon, unless an evaluation falls there. It is not counted."""
        seconds = self._timetable.seconds(self._timetable.time(self._horizon))
        last = () if self._ends_with_an_evaluation else (Evaluation(self._horizon, seconds),)
        return Due(last, changed(self.progress, over=True))


def _contributions(planned: Contribution, homes: list[Home]) -> list[Contribution]:
    """That of the plan, and those of leftovers. The last of the homes is that of the plan.

    Clients without a step to do bring nothing, and yet the plan has their contribution.
    """
    usual, found = (planned.tour, planned.trained_from), origins(homes)
    as_planned = homes[-1].accepted and (usual in found or not found)
    now, k = planned.trained_from + planned.staleness, planned.transporter
    others = [Contribution(k, r, v, now - v) for r, v in found if (r, v) != usual]
    return [*([planned] if as_planned else []), *others]
