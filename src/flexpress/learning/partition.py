"""Who has which samples: the paper's i.i.d. case and its two kinds of non-i.i.d. data.

Samples are dealt from shuffled decks, to one client after another. A deck that is used up is
shuffled and dealt anew: a sample is at two clients only if there are not enough for all.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from flexpress.errors import InputError
from flexpress.scenario import Scenario

Indices = NDArray[np.int64]

STREAM = 1
"""Of the random numbers that the seed gives."""

MOST_DEALT = 500_000_000
"""Samples of all clients together: 2 GB of indices."""

MOST_EXTREME = 1e300
"""Beyond it, or below its inverse, another alpha changes nothing but overflows."""


def deal(scenario: Scenario, labels: NDArray[np.int32], num_classes: int) -> NDArray[np.int32]:
    """(clients, samples_per_client): training samples, rows in the order of `client_ids`."""
    settings = scenario.learning
    rng = np.random.default_rng(np.random.SeedSequence(scenario.learning_seed, spawn_key=(STREAM,)))
    size = settings.samples_per_client
    check_size(size, scenario.num_clients, len(labels))
    if settings.partition == "iid":
        deck = Deck(np.arange(len(labels)), rng)
        return as_shards([deck.deal(size) for _ in range(scenario.num_clients)])
    present = np.bincount(labels, minlength=num_classes) > 0
    if settings.partition == "dirichlet":
        shares = dirichlet_shares(rng, settings.alpha, present, scenario.num_clients)
    else:
        shares = location_shares(scenario, present)
    decks = [Deck(np.flatnonzero(labels == label), rng) for label in range(num_classes)]
    counts = rng.multinomial(size, shares)  # (clients, classes)
    return as_shards([deal_hand(decks, row) for row in counts])


def check_size(size: int, num_clients: int, num_samples: int) -> None:
    """More than there are would be the same samples over and over, for minutes."""
    most = min(num_samples, MOST_DEALT // num_clients)
    if size > most:
        why = f"the data set has {num_samples:,} training samples"
        if most < num_samples:
            why = f"{num_clients:,} clients may have {MOST_DEALT:,} samples in all"
        raise InputError(
            f"learning.samples_per_client = {size}: must be at most {most:,}, since {why}"
        )


def dirichlet_shares(
    rng: np.random.Generator, alpha: float, present: NDArray[np.bool_], num_clients: int
) -> NDArray[np.float64]:
    """Non-IID type 1: each client's shares of the labels, (clients, classes), ~ Dirichlet(alpha).

    A label without samples has no share. Shares are gamma variates over their sum, by logarithms:
    G(alpha) = G(alpha + 1) U^(1 / alpha), which for small alpha is too small for a float.
    """
    alpha = min(max(alpha, 1 / MOST_EXTREME), MOST_EXTREME)
    shape = num_clients, int(present.sum())
    logs = np.log(rng.standard_gamma(alpha + 1, shape)) - rng.standard_exponential(shape) / alpha
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    shares = np.zeros((num_clients, len(present)))
    shares[:, present] = weights / weights.sum(axis=1, keepdims=True)
    return shares


def location_shares(scenario: Scenario, present: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Non-IID type 2: shares of the labels, (clients, classes), the same for all of a block.

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
                "has no training samples; take iid or dirichlet"
            )
        others = present.copy()
        others[main] = False
        shares[block, others] = (1 - probability) / max(others.sum(), 1)
        shares[block, main] = 1 - shares[block, others].sum()
    return np.repeat(shares, scenario.num_clients // num_blocks, axis=0)


class Deck:
    """Samples in random order, dealt from the top."""

    def __init__(self, samples: Indices, rng: np.random.Generator) -> None:
        self._samples = samples
        self._rng = rng
        self._left = samples[:0]

    def deal(self, count: int) -> Indices:
        """So many samples, none of them twice unless the deck has fewer."""
        hand = self._left[:0]
        while len(hand) < count:
            if len(self._left) == 0:
                self._left = self._shuffle(hand)
            taken = count - len(hand)
            hand = np.concatenate([hand, self._left[:taken]])
            self._left = self._left[taken:]
        return hand

    def _shuffle(self, hand: Indices) -> Indices:
        """The whole deck; what the hand has already comes last."""
        cards = self._rng.permutation(self._samples)
        times = np.bincount(hand, minlength=int(cards.max()) + 1)[cards]
        return cards[np.argsort(times, kind="stable")]


def deal_hand(decks: list[Deck], counts: Indices) -> Indices:
    """So many samples of each label."""
    return np.concatenate([deck.deal(int(n)) for deck, n in zip(decks, counts, strict=True)])


def as_shards(hands: list[Indices]) -> NDArray[np.int32]:
    return np.stack(hands).astype(np.int32)
