"""What is made small, as far as the theory asks about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from flexpress.arguments import refusal

Array = NDArray[np.floating[Any]]


class Objective(Protocol):
    """f = (1/N) sum_i f_i over the clients, with its gradients."""

    @property
    def client_ids(self) -> Sequence[int | str]: ...

    def loss(self, model: Array) -> float:
        """f(x)."""

    def gradients(self, clients: Sequence[int | str], models: Array) -> Array:
        """(clients, params): grad f_i, each at its row of models, or all at the one model."""

    def sampled(self, clients: Sequence[int | str], models: Array, steps: Sequence[int]) -> Array:
        """The same for the mini-batch that the client draws in that local step."""


def check_objective(objective: object) -> None:
    """InputError for what cannot be asked: `Objective` itself is for mypy."""
    needed = ("client_ids", "loss", "gradients", "sampled")
    if isinstance(objective, type) or not all(hasattr(objective, name) for name in needed):
        raise refusal("objective", objective, "an Objective; take a TrainingLoss or a Quadratic")
