"""Quadratic losses as an objective, by the formula: the oracle of what is estimated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False)
class Bowls:
    """Client i is row i. Mini-batch gradients are off by a vector of the length `noise`."""

    curvatures: Array  # (clients, params, params)
    centres: Array  # (clients, params)
    noise: float = 0.0

    @property
    def client_ids(self) -> Sequence[int]:
        return range(len(self.centres))

    def loss(self, model: Array) -> float:
        offsets = model - self.centres
        return float(np.einsum("ip,ipq,iq->i", offsets, self.curvatures, offsets).mean() / 2)

    def gradients(self, clients: Sequence[int | str], models: Array) -> Array:
        rows = [int(client) for client in clients]
        offsets = models - self.centres[rows]
        return np.asarray(np.einsum("ipq,iq->ip", self.curvatures[rows], offsets))

    def sampled(self, clients: Sequence[int | str], models: Array, steps: Sequence[int]) -> Array:
        keys = zip(clients, steps, strict=True)
        found = self.gradients(clients, models)
        for row, (client, step) in zip(found, keys, strict=True):
            drawn = np.random.default_rng([int(client), step]).standard_normal(self.size)
            row += self.noise * drawn / np.linalg.norm(drawn)
        return found

    @property
    def size(self) -> int:
        return int(self.centres.shape[1])


def random_bowls(
    seed: int, *, clients: int = 5, params: int = 4, noise: float = 0.3, lowest: float = 0.2
) -> Bowls:
    """Eigenvalues from `lowest` to 3."""
    rng = np.random.default_rng(seed)
    rotations, _ = np.linalg.qr(rng.standard_normal((clients, params, params)))
    eigenvalues = rng.uniform(lowest, 3.0, (clients, 1, params))
    curvatures = (rotations * eigenvalues) @ rotations.transpose(0, 2, 1)
    return Bowls(curvatures, rng.standard_normal((clients, params)), noise)
