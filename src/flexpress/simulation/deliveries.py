"""Updates under way. They are trained as late as possible, so that many are trained together.

An update is needed when the server merges it, up to two tours after the client received the
model. By then more models are known, and the jobs that start from them are trained in the same
call. Nothing is kept per client, unless it has a head start: updates are added to their
transporter's sum, u of the paper, in the order of the visits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from flexpress.callbacks import ShouldStop
from flexpress.learning import Job, Learner, Vector
from flexpress.learning.summing import train_sums
from flexpress.simulation.head_start import LastUpdates
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

    def __init__(
        self,
        timetable: Timetable,
        learner: Learner,
        horizon: int,
        model: Vector,
        head_start: float = 0.0,
    ) -> None:
        """`model` is x^0, which clients may have on board."""
        self.timetable = timetable
        self._learner = learner
        self._end = timetable.time(horizon)
        self._routes: dict[int, tuple[Convoy, Route]] = {
            route.transporter: (convoy, route)
            for convoy in timetable.convoys
            for route in convoy.routes
        }
        self.under_way: dict[Key, Delivery] = {}
        self.last_updates: LastUpdates | None = None
        if head_start and timetable.flies:  # with a link the model contains their updates already
            clients = [i for _, route in self._routes.values() for i in route.clients]
            self.last_updates = LastUpdates(head_start, clients, model)
        if timetable.preloaded:
            for transporter in self._routes:
                self.hand_out(transporter, timetable.first_tour, model, 0)

    @property
    def transporters(self) -> list[int]:
        return list(self._routes)

    def hand_out(self, transporter: int, tour: int, model: Vector, version: int) -> None:
        """The transporter hands the model to its clients on this tour."""
        key = transporter, tour
        self.under_way[key] = Delivery(version, model)
        convoy, _ = self._routes[transporter]
        short = tour < 0 or convoy.period < self.timetable.ticks_per_slot
        if self.last_updates is not None or not short:
            return
        if not any(job.num_steps for job in self.jobs(key)):
            self.under_way[key] = Delivery(version, np.zeros_like(model), trained=True)

    def sums(self, keys: list[Key], should_stop: ShouldStop) -> list[Vector]:
        """u_k: the sums of the updates that these transporters bring."""
        if not all(self.under_way[key].trained for key in keys):
            with np.errstate(over="ignore", invalid="ignore"):  # checked when they are merged
                self._train(should_stop)
        return [self.under_way[key].vector for key in keys]

    def num_clients(self, keys: list[Key]) -> int:
        """The clients whose updates these transporters bring."""
        return sum(len(self._routes[transporter][1].clients) for transporter, _ in keys)

    def forget(self, keys: list[Key]) -> None:
        """Remove deliveries that were merged."""
        for key in keys:
            del self.under_way[key]

    def jobs(self, key: Key) -> Iterator[Job]:
        """One job per client of the tour; clients visited twice within one slot have no steps."""
        transporter, tour = key
        convoy, route = self._routes[transporter]
        model = self.under_way[key].vector
        for client, offset in zip(route.clients, route.offsets, strict=True):
            first, num_steps = self.timetable.steps(convoy, offset, tour)
            yield Job(client, model, first, num_steps)

    def _train(self, should_stop: ShouldStop) -> None:
        """Train everything that can be trained now and is merged by the horizon."""
        due = [key for key in self.under_way if self._is_due(key)]
        if self.last_updates is not None:
            self._train_in_turn(self.last_updates, due, should_stop)
            return
        jobs = [[job for job in self.jobs(key) if job.num_steps] for key in due]
        sums = train_sums(self._learner, jobs, should_stop)
        for key, total in zip(due, sums, strict=True):
            self._is_trained(key, total)

    def _train_in_turn(self, last: LastUpdates, due: list[Key], should_stop: ShouldStop) -> None:
        """The first tour of each transporter that is due, then the second, and so on."""
        while due:
            first = dict(sorted(due, reverse=True))  # of several tours the first one stays
            jobs = ((key[1], job) for key in first.items() for job in self.jobs(key))
            last.train(self._learner, jobs, should_stop)
            for key in first.items():
                _, route = self._routes[key[0]]
                self._is_trained(key, last.total(route.clients))
            due = [key for key in due if not self.under_way[key].trained]

    def _is_trained(self, key: Key, total: Vector) -> None:
        self.under_way[key] = Delivery(self.under_way[key].version, total, trained=True)

    def _is_due(self, key: Key) -> bool:
        transporter, tour = key
        convoy, _ = self._routes[transporter]
        merged = (tour + convoy.lag) * convoy.period
        return merged <= self._end and not self.under_way[key].trained
