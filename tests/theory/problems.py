"""Learning problems that satisfy Assumptions 1 to 4 everywhere, with the smallest constants.

A problem is a learner whose model is M models side by side, each of d parameters: one simulation
is M runs that differ only in their noise, so that expectations can be estimated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from noises import Noise
from numpy.typing import NDArray
from shapes import Array, Shapes

from flexpress.learning import Job, Vector
from flexpress.theory import Constants


@dataclass(frozen=True, eq=False)
class Problem:
    shapes: Shapes
    axes: Array  # (axes, parameters), linearly independent
    noise: Noise
    start: Array  # x^0: (parameters,)
    learning_rate: float
    num_replicates: int
    seed: int
    client_ids: tuple[int | str, ...]

    @property
    def num_clients(self) -> int:
        return len(self.client_ids)

    def initial_model(self) -> Vector:
        return np.tile(self.start, self.num_replicates)

    def train(self, jobs: Sequence[Job]) -> Vector:
        clients = np.array([self.client_ids.index(job.client) for job in jobs])
        first = np.array([job.first_step for job in jobs])
        left = np.array([job.num_steps for job in jobs])
        models = np.stack([self.replicates(job.model) for job in jobs])
        updates = np.zeros_like(models)
        for step in range(left.max(initial=0)):
            at_work = np.flatnonzero(left > step)
            here = models[at_work] - updates[at_work]
            gradients = self.estimates(clients[at_work], first[at_work] + step, here)
            updates[at_work] += self.learning_rate * gradients
        return updates.reshape(len(jobs), -1)

    def estimates(self, clients: NDArray[np.intp], steps: NDArray[np.intp], models: Array) -> Array:
        """g_i^s, with the noise of client and step, whoever asks: (jobs, replicates, params)."""
        num = self.num_clients, self.num_replicates
        drawn = {
            s: self.noise.draw(np.random.default_rng([self.seed, s]), num, self.axes)
            for s in set(steps.tolist())
        }
        noise = np.stack([drawn[s][c] for c, s in zip(clients, steps.tolist(), strict=True)])
        slopes = self.shapes.slope(clients, models @ self.axes.T)
        return self.noise.gradients(noise, slopes, self.axes)

    def evaluate(self, model: Vector) -> tuple[float, float]:
        return float(self.loss(self.replicates(model)).mean()), 0.0

    def replicates(self, model: Vector) -> Array:
        """A flat model, or more of them, as models of their own: (.., replicates, parameters)."""
        shape = (*model.shape[:-1], self.num_replicates, len(self.start))
        return np.asarray(model, dtype=np.float64).reshape(shape)

    def loss(self, models: Array) -> Array:
        """f: (.., parameters) -> (..)."""
        u = models @ self.axes.T
        values = np.zeros_like(u)
        for i in range(self.num_clients):
            values += self.shapes.value(slice(i, i + 1), u[np.newaxis])[0] / self.num_clients
        total: Array = values.sum(axis=-1)
        return total

    def gradient(self, models: Array) -> Array:
        """Of f, at models of any number: (.., parameters)."""
        u = models @ self.axes.T
        slopes = np.zeros_like(u)
        for i in range(self.num_clients):
            slopes += self.shapes.slope(slice(i, i + 1), u[np.newaxis])[0] / self.num_clients
        return slopes @ self.axes

    @cached_property
    def constants(self) -> Constants:
        steepest = self.shapes.steepest
        moments, variances = zip(
            *(self.noise.spreads(row, self.axes) for row in steepest), strict=True
        )
        lowest = self.shapes.lowest()
        return Constants(
            smoothness=self.smoothness,
            gradient=max(moments) ** 0.5,
            noise=max(0.0, *variances) ** 0.5,
            start_gap=max(0.0, float(self.loss(self.start)) - lowest),
            start_gradient=float(np.sum(self.gradient(self.start) ** 2)),
            dissimilarity=self.dissimilarity,
        )

    @property
    def dissimilarity(self) -> float:
        """zeta: exact for orthonormal axes, else an upper bound."""
        stretch = float(np.linalg.eigvalsh(self.axes @ self.axes.T)[-1])
        return float(np.sqrt(stretch * self.shapes.widest().sum()))

    @cached_property
    def smoothness(self) -> float:
        """L: where all curvatures are largest at once, as they are somewhere."""
        hessians = [self.axes.T * row @ self.axes for row in self.shapes.sharpest]
        return max(float(np.linalg.eigvalsh(hessian)[-1]) for hessian in hessians)
