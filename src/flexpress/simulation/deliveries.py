"""Updates under way. They are trained as late as possible, so that many are trained together.

An update is needed when the server merges it, up to two tours after the client received the
model. By then more models are known, and the jobs that start from them are trained in the same
call. Nothing is kept per client: updates are added to their transporter's sum, u of the paper, in
the order of the visits.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np

from flexpress.callbacks import ShouldStop
from flexpress.learning import Job, Learner, Vector
from flexpress.learning.summing import train_sums
from flexpress.simulation.timetable import Convoy, Route, Timetable

Key = tuple[int, int]
"""Transporter, and the tour on which its clients received the model."""


@dataclass(frozen=True, eq=False)
class Delivery:
    """A model for the clients of one transporter; once trained, the sum of their updates."""

    version: int  # of the model
    vector: Vector  # (params,): the model, then the sum
    trained: bool = False


class Deliveries:
    """All deliveries under way. They are trained on demand, and only if merged by the horizon."""

    def __init__(self, timetable: Timetable, learner: Learner, horizon: int) -> None:
        self.timetable = timetable
        self._learner = learner
        self._end = timetable.time(horizon)
        self._routes: dict[int, tuple[Convoy, Route]] = {
            route.transporter: (convoy, route)
            for convoy in timetable.convoys
            for route in convoy.routes
        }
        self.under_way: dict[Key, Delivery] = {}

    @property
    def transporters(self) -> list[int]:
        return list(self._routes)

    def hand_out(self, transporter: int, tour: int, model: Vector, version: int) -> None:
        """The transporter hands the model to its clients on this tour."""
        key = transporter, tour
        self.under_way[key] = Delivery(version, model)
        convoy, _ = self._routes[transporter]
        within_a_slot = convoy.period < self.timetable.ticks_per_slot
        if within_a_slot and not self._jobs(key):
            self.under_way[key] = Delivery(version, np.zeros_like(model), trained=True)

    def total(self, keys: list[Key], should_stop: ShouldStop) -> Vector:
        """sum_k u_k: the sum of the updates that these transporters bring."""
        if not all(self.under_way[key].trained for key in keys):
            self._train(should_stop)
        return reduce(add, [self.under_way[key].vector for key in keys])

    def forget(self, keys: list[Key]) -> None:
        """Remove deliveries that were merged."""
        for key in keys:
            del self.under_way[key]

    def _train(self, should_stop: ShouldStop) -> None:
        """Train everything that can be trained now and is merged by the horizon."""
        jobs = {key: self._jobs(key) for key in self.under_way if self._is_due(key)}
        sums = train_sums(self._learner, list(jobs.values()), should_stop)
        for key, total in zip(jobs, sums, strict=True):
            version = self.under_way[key].version
            self.under_way[key] = Delivery(version, total, trained=True)

    def _is_due(self, key: Key) -> bool:
        transporter, tour = key
        convoy, _ = self._routes[transporter]
        merged = (tour + convoy.lag) * convoy.period
        return merged <= self._end and not self.under_way[key].trained

    def _jobs(self, key: Key) -> list[Job]:
        """One job per client of the tour; none for clients visited twice within one slot."""
        transporter, tour = key
        convoy, route = self._routes[transporter]
        model = self.under_way[key].vector
        jobs = []
        for client, offset in zip(route.clients, route.offsets, strict=True):
            first, num_steps = self.timetable.steps(convoy, offset, tour)
            if num_steps:
                jobs.append(Job(client, model, first, num_steps))
        return jobs
