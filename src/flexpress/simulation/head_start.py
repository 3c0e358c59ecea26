"""Head start: a client that hands over its update u and is handed x starts from x - gamma u.

x does not contain u yet: its courier merges it a tour later. With gamma = 0, as in the paper, the
client throws its progress away and covers the same stretch again; with a head start its own update
stands in for what everybody's will have done to x by then. docs/head_start.md has the algebra.

A start depends on the update before it, so the last update of each client is kept: clients x
parameters, in the learner's precision. Tours of one transporter are trained one after another.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from flexpress.arrays import IntArray
from flexpress.callbacks import ShouldStop
from flexpress.errors import InputError
from flexpress.learning import Job, Learner, Vector
from flexpress.learning.summing import MOST_BYTES, StopRequestedError, add_up, returned
from flexpress.planning.plan import ClientId

_NO_TOUR = -2
"""Of clients without an update; -1 is that of x^0 on board."""

_MUCH = 2**30
"""Bytes of last updates that are worth a note."""


class LastUpdates:
    """The update that each client trained last, and the tour on which it received the model."""

    def __init__(self, gamma: float, clients: Sequence[ClientId], model: Vector) -> None:
        self._gamma = gamma
        self._rows = {client: row for row, client in enumerate(clients)}
        try:
            self.updates: Vector = np.zeros((len(clients), model.size), model.dtype)
        except MemoryError:
            size = _size_text(len(clients), model)
            raise InputError(
                f"run.head_start = {gamma:g} keeps the last update of each client: {size}, more "
                "than there is here; use run.head_start = 0, which keeps none"
            ) from None
        self.tours: IntArray = np.full(len(clients), _NO_TOUR, np.int64)

    def train(
        self, learner: Learner, tour_jobs: Iterable[tuple[int, Job]], should_stop: ShouldStop
    ) -> None:
        """Train each job, of the tour beside it, from its head start.

        At most one job per client. What is trained stays when it is stopped.
        """
        size, model_bytes = self.updates.shape[1], self.updates[:1].nbytes
        missing = ((r, job) for r, job in tour_jobs if self.tours[self._rows[job.client]] != r)
        while portion := list(islice(missing, max(1, MOST_BYTES // model_bytes))):
            if should_stop():
                raise StopRequestedError
            jobs = [replace(job, model=self._start(job)) for _, job in portion if job.num_steps]
            if jobs:
                rows = [self._rows[job.client] for job in jobs]
                self.updates[rows] = returned("train", learner.train(jobs), (len(jobs), size))
            for tour, job in portion:
                row = self._rows[job.client]
                self.tours[row] = tour
                if not job.num_steps:
                    self.updates[row] = 0

    def total(self, clients: Sequence[ClientId]) -> Vector:
        """The sum of their updates, in this order."""
        return add_up(self.updates[0], (self.updates[self._rows[client]] for client in clients))

    def _start(self, job: Job) -> Vector:
        """At its first visit a client has no u: it is 0."""
        return head_start(job.model, self._gamma, self.updates[self._rows[job.client]])


def head_start(model: Vector, gamma: float, update: Vector) -> Vector:
    """x - gamma u: where a client starts that is handed x, and hands over u."""
    start: Vector = model - gamma * update
    return start


def memory_note(gamma: float, num_clients: int, model: Vector) -> str:
    """What a run with this head start keeps in memory; empty if that is little."""
    if num_clients * model.nbytes < _MUCH:
        return ""
    size = _size_text(num_clients, model)
    return f"run.head_start = {gamma:g} keeps the last update of each client: {size}; 0 keeps none"


def _size_text(num_clients: int, model: Vector) -> str:
    gigabytes = num_clients * model.nbytes / 2**30
    return f"{gigabytes:,.1f} GiB for {num_clients:,} clients with {model.size:,} parameters"
