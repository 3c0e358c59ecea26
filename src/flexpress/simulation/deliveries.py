"""Updates under way: trained as late as they can be, so that many are trained together.

What a transporter brings is needed when it is merged, up to two tours after its clients were
handed the model. By then more models are known, and the jobs that start from them are trained
with it, together. Nothing is kept for each client: updates are added to their transporter's sum, u
of the paper, in the order of the visits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np

from flexpress.learning import Job, Learner, Vector
from flexpress.learning.summing import train_sums
from flexpress.simulation.timetable import Convoy, Route, Timetable

Key = tuple[int, int]
"""Transporter, and the tour on which its clients were handed the model."""


@dataclass(frozen=True, eq=False)
class Delivery:
    """A model handed to the clients of one transporter; in the end the sum of their updates."""

    version: int  # of the model
    vector: Vector  # (params,): the model, then the sum
    trained: bool = False


class Deliveries:
    """All that is under way; trains what is due up to the horizon, and not before it must."""

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
        """The clients of this transporter will start from the model on this tour."""
        key = transporter, tour
        self.under_way[key] = Delivery(version, model)
        convoy, _ = self._routes[transporter]
        within_a_slot = convoy.period < self.timetable.ticks_per_slot
        if within_a_slot and not self._jobs(key):
            self.under_way[key] = Delivery(version, np.zeros_like(model), trained=True)

    def total(self, keys: list[Key], should_stop: Callable[[], bool]) -> Vector:
        """The sum of what these transporters bring, sum_k u_k."""
        if not all(self.under_way[key].trained for key in keys):
            self._train(should_stop)
        return reduce(add, [self.under_way[key].vector for key in keys])

    def forget(self, keys: list[Key]) -> None:
        """It is merged, and under way no more."""
        for key in keys:
            del self.under_way[key]

    def _train(self, should_stop: Callable[[], bool]) -> None:
        """Everything that can be trained now and will be merged before the horizon."""
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
        """One for each client of the tour; none for those that are met again within one slot."""
        transporter, tour = key
        convoy, route = self._routes[transporter]
        model = self.under_way[key].vector
        jobs = []
        for client, offset in zip(route.clients, route.offsets, strict=True):
            first, num_steps = self.timetable.steps(convoy, offset, tour)
            if num_steps:
                jobs.append(Job(client, model, first, num_steps))
        return jobs
