"""The seam between time and training: jobs go in, updates come out.

A job is a pure function of its fields and the scenario: mini-batches are drawn by (seed, client,
local step), so that the result does not depend on the order, the grouping, or the machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.floating[Any]]
"""A model or an update: its parameters, flat, in whatever precision the learner works."""


@dataclass(frozen=True, eq=False)
class Job:
    """Local steps first_step, first_step + 1, ... of one client, from the model it was handed."""

    client: int | str  # its id in the scenario and the plan
    model: Vector  # (params,)
    first_step: int  # local steps that this client has done before
    num_steps: int


class Metrics(NamedTuple):
    """Mean cross-entropy and the share of right answers on the test samples."""

    loss: float
    accuracy: float


class Learner(Protocol):
    """Anything that can train: a quadratic in a test, torch, or the fast engine."""

    def initial_model(self) -> Vector:
        """x^0 of the paper: (params,)."""

    def train(self, jobs: Sequence[Job]) -> Vector:
        """The cumulative local update m of each job, eta times the sum of its gradients.

        (jobs, params): the model handed over minus the model after the job's steps.
        """

    def evaluate(self, model: Vector) -> tuple[float, float]:
        """Loss and accuracy on the test samples."""
