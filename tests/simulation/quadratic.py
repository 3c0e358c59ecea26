"""Clients with quadratic losses and noisy gradients in float64: a learner without any secrets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from flexpress.learning import Job, Vector

FloatArray = NDArray[np.floating[Any]]

MOST_STEPS = 400
"""Local steps for which there is noise."""


@dataclass(frozen=True, eq=False)
class Quadratic:
    """f_i(x) = 1/2 (x - c_i)^T A_i (x - c_i); the noise belongs to (seed, client, local step)."""

    client_ids: Sequence[int | str]
    curvatures: FloatArray  # (clients, params, params)
    centres: FloatArray  # (clients, params)
    noise: FloatArray  # (clients, steps, params)
    learning_rate: float
    start: Vector  # (params,)

    @classmethod
    def drawn(
        cls,
        client_ids: Sequence[int | str],
        seed: int,
        *,
        num_params: int = 3,
        learning_rate: float = 0.1,
        dtype: DTypeLike = np.float64,
    ) -> Quadratic:
        """Eigenvalues of 0.1 to 1, centres far apart: with this rate no delay of 20 diverges."""
        rng = np.random.default_rng(seed)
        shape = (len(client_ids), num_params)
        rotations, _ = np.linalg.qr(rng.standard_normal((*shape, num_params)))
        eigenvalues = rng.uniform(0.1, 1.0, shape)
        curvatures = (rotations * eigenvalues[:, None, :]) @ rotations.transpose(0, 2, 1)
        noise = [
            np.random.default_rng([seed, i]).standard_normal((MOST_STEPS, num_params))
            for i in range(len(client_ids))
        ]
        return cls(
            client_ids,
            curvatures.astype(dtype),
            rng.normal(0.0, 10.0, shape).astype(dtype),
            np.array(noise, dtype=dtype),
            learning_rate,
            rng.normal(0.0, 10.0, num_params).astype(dtype),
        )

    def initial_model(self) -> Vector:
        return self.start.copy()

    def gradient(self, client: int | str, x: Vector, local_step: int) -> Vector:
        i = self.client_ids.index(client)
        g: Vector = self.curvatures[i] @ (x - self.centres[i]) + self.noise[i, local_step]
        return g

    def train(self, jobs: Sequence[Job]) -> Vector:
        return np.array([self._update(job) for job in jobs], dtype=self.start.dtype)

    def _update(self, job: Job) -> Vector:
        x = job.model
        for step in range(job.first_step, job.first_step + job.num_steps):
            x = x - self.learning_rate * self.gradient(job.client, x, step)
        return job.model - x

    def evaluate(self, model: Vector) -> tuple[float, float]:
        """The mean of all f_i, and as accuracy a number that grows as it falls."""
        offsets = model - self.centres  # (clients, params)
        losses = np.einsum("ip,ipq,iq->i", offsets, self.curvatures, offsets) / 2
        return float(losses.mean()), float(1 / (1 + losses.mean()))


@dataclass(frozen=True, eq=False)
class Regrouped(Quadratic):
    """Trains the same jobs in another order, in groups of its own; the results are in place."""

    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))

    def train(self, jobs: Sequence[Job]) -> Vector:
        order = self.rng.permutation(len(jobs))
        updates = np.empty((len(jobs), len(self.start)), dtype=self.start.dtype)
        for group in np.array_split(order, self.rng.integers(1, len(jobs) + 1)):
            updates[group] = super().train([jobs[j] for j in group])
        return updates


@dataclass(eq=False)
class Watched:
    """Passes everything on and keeps a copy of what was asked for."""

    learner: Quadratic
    calls: list[list[Job]] = field(default_factory=list)
    evaluated: list[Vector] = field(default_factory=list)

    def initial_model(self) -> Vector:
        return self.learner.initial_model()

    def train(self, jobs: Sequence[Job]) -> Vector:
        copies = [Job(job.client, job.model.copy(), job.first_step, job.num_steps) for job in jobs]
        self.calls.append(copies)
        return self.learner.train(jobs)

    def evaluate(self, model: Vector) -> tuple[float, float]:
        self.evaluated.append(model.copy())
        return self.learner.evaluate(model)

    @property
    def jobs(self) -> list[Job]:
        return [job for call in self.calls for job in call]
