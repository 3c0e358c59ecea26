"""A learner that keeps count: the final model says how often each local step was applied.

Each step of each client has a coordinate of its own, and takes 1 from it. So an update is 1 at its
steps, whatever it was trained from, and the global model is minus the count, divided by the number
of clients. With four clients, and a head start of one half, all of it is exact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from flexpress.field.training import Training
from flexpress.learning import Job, Metrics, Vector

MOST_STEPS = 256
"""Of each client; later ones leave no mark."""


class Ledger:
    """Rows of clients by their ids."""

    def __init__(self, rows: Mapping[int | str, int], num_clients: int) -> None:
        self._rows = rows
        self._size = num_clients * MOST_STEPS

    @classmethod
    def of(cls, clients: Sequence[int | str]) -> Ledger:
        return cls({client: row for row, client in enumerate(clients)}, len(clients))

    @classmethod
    def for_one(cls, training: Training) -> Ledger:
        """What a client needs that knows only itself."""
        return cls({training.client: training.number}, training.num_params // MOST_STEPS)

    def initial_model(self) -> Vector:
        return np.zeros(self._size)

    def local_model(self, job: Job) -> Vector:
        model = np.array(job.model, np.float64)
        first, last = (min(step, MOST_STEPS) for step in _span(job))
        row = self._rows[job.client] * MOST_STEPS
        model[row + first : row + last] -= 1.0
        return model

    def train(self, jobs: Sequence[Job]) -> Vector:
        return np.array([job.model - self.local_model(job) for job in jobs])

    def evaluate(self, model: Vector) -> Metrics:
        """Another number for any other model that counts differently."""
        weights = 1.0 + np.arange(self._size)
        return Metrics(float(weights @ model), float(np.mean(model != 0.0)))


def _span(job: Job) -> tuple[int, int]:
    return job.first_step, job.first_step + job.num_steps


def counts(model: Vector, num_clients: int) -> NDArray[np.int64]:
    """How often each step of each client was applied: (clients, steps)."""
    found = -model.reshape(num_clients, MOST_STEPS) * num_clients
    whole = np.rint(found).astype(np.int64)
    assert (found == whole).all(), "parts of updates were applied"
    return whole
