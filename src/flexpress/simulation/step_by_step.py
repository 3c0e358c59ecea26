"""A learner around a learner: every job is done in single steps, each of which is kept."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from flexpress.learning import Job, Learner, Vector
from flexpress.learning.job import first_model
from flexpress.learning.summing import returned
from flexpress.simulation.timetable import ClientId


class StepByStep:
    """Keeps the local model before each step, and what it lost in it.

    Nobody is asked for a step of the horizon or later: what lands by then was done before.
    """

    def __init__(self, learner: Learner, clients: tuple[ClientId, ...], horizon: int) -> None:
        self._learner = learner
        self._columns = {client: i for i, client in enumerate(clients)}
        model = first_model(learner)
        shape = horizon, len(clients), model.size
        self.steps: Vector = np.empty(shape, model.dtype)  # eta g_i^s
        self.local: Vector = np.empty(shape, model.dtype)  # x_i^s

    def initial_model(self) -> Vector:
        return self._learner.initial_model()

    def evaluate(self, model: Vector) -> tuple[float, float]:
        return self._learner.evaluate(model)

    def train(self, jobs: Sequence[Job]) -> Vector:
        """All jobs in lockstep: x_i <- x_i - eta g, Eq. (10), for those that are not yet done."""
        models = [job.model for job in jobs]
        for done in range(max((job.num_steps for job in jobs), default=0)):
            running = [j for j, job in enumerate(jobs) if job.num_steps > done]
            singles = [
                Job(jobs[j].client, models[j], jobs[j].first_step + done, 1) for j in running
            ]
            for j, step in zip(running, self._step(singles), strict=True):
                models[j] = models[j] - step
        return np.array([job.model - model for job, model in zip(jobs, models, strict=True)])

    def _step(self, singles: list[Job]) -> Vector:
        """One step of each: (jobs, params)."""
        found = returned("train", self._learner.train(singles), (len(singles), self.steps.shape[2]))
        steps = found.astype(self.steps.dtype, copy=False)
        for job, step in zip(singles, steps, strict=True):
            place = job.first_step, self._columns[job.client]
            self.steps[place], self.local[place] = step, job.model
        return steps
