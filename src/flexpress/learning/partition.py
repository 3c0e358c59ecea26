"""Which client has which samples: the paper's i.i.d. case and its two kinds of non-i.i.d. data.

Clients draw from shuffled pools, one after another. A pool that is used up is shuffled and used
again: two clients share a sample only if there are too few for all.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from flexpress.arrays import BoolArray, FloatArray, IntArray
from flexpress.errors import InputError
from flexpress.scenario import Scenario

_STREAM = 1
"""The random stream of partitions, one of those that the scenario's seed gives."""

_MOST_SAMPLES = 500_000_000
"""For all clients together: 2 GB of indices."""

_LARGEST_ALPHA = 1e300
"""A larger alpha, or one below its inverse, changes nothing but would overflow."""


def make_shards(
    scenario: Scenario, labels: NDArray[np.int32], num_classes: int
) -> NDArray[np.int32]:
    """(clients, samples_per_client): training samples, rows in the order of `client_ids`."""
    settings = scenario.learning
    rng = np.random.default_rng(
        np.random.SeedSequence(scenario.learning_seed, spawn_key=(_STREAM,))
    )
    size = settings.samples_per_client
    _check_size(size, scenario.num_clients, len(labels))
    if settings.partition == "iid":
        pool = SamplePool(np.arange(len(labels)), rng)
        return _as_shards([pool.draw(size) for _ in range(scenario.num_clients)])
    present = np.bincount(labels, minlength=num_classes) > 0
    if settings.partition == "dirichlet":
        shares = _dirichlet_shares(rng, settings.alpha, present, scenario.num_clients)
    else:
        shares = _location_shares(scenario, present)
    pools = [SamplePool(np.flatnonzero(labels == label), rng) for label in range(num_classes)]
    counts = rng.multinomial(size, shares)  # (clients, classes)
    return _as_shards([_draw(pools, row) for row in counts])


def _check_size(size: int, num_clients: int, num_samples: int) -> None:
    """InputError if a client needs more samples than there are, or all need too much memory."""
    most = min(num_samples, _MOST_SAMPLES // num_clients)
    if size > most:
        why = f"the data set has {num_samples:,} training samples"
        if most < num_samples:
            why = f"{num_clients:,} clients may have {_MOST_SAMPLES:,} samples in all"
        raise InputError(
            f"learning.samples_per_client = {size}: must be at most {most:,}, since {why}"
        )


def _dirichlet_shares(
    rng: np.random.Generator, alpha: float, present: BoolArray, num_clients: int
) -> FloatArray:
    """Non-IID type 1: each client's shares of the labels, (clients, classes), ~ Dirichlet(alpha).

    A label without samples has no share. Shares are gamma variates over their sum, computed by
    logarithms: G(alpha) = G(alpha + 1) U^(1 / alpha), which underflows for small alpha.
    """
    alpha = min(max(alpha, 1 / _LARGEST_ALPHA), _LARGEST_ALPHA)
    shape = num_clients, int(present.sum())
    logs = np.log(rng.standard_gamma(alpha + 1, shape)) - rng.standard_exponential(shape) / alpha
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    shares = np.zeros((num_clients, len(present)))
    shares[:, present] = weights / weights.sum(axis=1, keepdims=True)
    return shares


def _location_shares(scenario: Scenario, present: BoolArray) -> FloatArray:
    """Non-IID type 2: shares of the labels, (clients, classes), the same within a block.

    The main label of block b, counted from 0 as the labels are, is b; after the last label comes
    the first again. The rest is uniform over the other labels that have samples.
    """
    probability = scenario.learning.main_label_probability
    num_blocks = len(scenario.blocks)
    shares = np.zeros((num_blocks, len(present)))
    for block in range(num_blocks):
        main = block % len(present)
        if not present[main]:
            raise InputError(
                f'learning.partition = "location": label {main}, the main one of block {block}, '
                "has no training samples; use iid or dirichlet"
            )
        others = present.copy()
        others[main] = False
        shares[block, others] = (1 - probability) / max(others.sum(), 1)
        shares[block, main] = 1 - shares[block, others].sum()
    return np.repeat(shares, scenario.num_clients // num_blocks, axis=0)


class SamplePool:
    """Samples in random order, each drawn once before any is drawn again."""

    def __init__(self, samples: IntArray, rng: np.random.Generator) -> None:
        self._samples = samples
        self._rng = rng
        self._left = samples[:0]

    def draw(self, count: int) -> IntArray:
        """`count` samples, none of them twice unless the pool has fewer."""
        drawn = self._left[:0]
        while len(drawn) < count:
            if len(self._left) == 0:
                self._left = self._shuffle(drawn)
            taken = count - len(drawn)
            drawn = np.concatenate([drawn, self._left[:taken]])
            self._left = self._left[taken:]
        return drawn

    def _shuffle(self, drawn: IntArray) -> IntArray:
        """The whole pool; what was already drawn in this call comes last."""
        samples = self._rng.permutation(self._samples)
        times = np.bincount(drawn, minlength=int(samples.max()) + 1)[samples]
        return samples[np.argsort(times, kind="stable")]


def _draw(pools: list[SamplePool], counts: IntArray) -> IntArray:
    """The given number of samples of each label."""
    return np.concatenate([pool.draw(int(n)) for pool, n in zip(pools, counts, strict=True)])


def _as_shards(rows: list[IntArray]) -> NDArray[np.int32]:
    return np.stack(rows).astype(np.int32)
