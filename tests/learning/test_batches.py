"""Mini-batches: the generator is NumPy's Philox, the samples are fair, and nothing else matters."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import comb

import numpy as np
import pytest
from numba import njit
from numpy.typing import NDArray

from flexpress.learning.batches import _STREAM, _block, batches, draw_batch

LARGE = 2**64 - 1, 2**62 + 1, 2**63 - 1


def numpys_words(seed: int, client: int, step: int, count: int) -> list[int]:
    """NumPy counts up before it draws, so it starts one below."""
    counter = (step << 64) + (client << 128) - 1
    philox = np.random.Philox(key=seed + (int(_STREAM) << 64), counter=counter % 2**256)
    return [int(word) for word in philox.random_raw(count)]


@pytest.mark.parametrize(("seed", "client", "step"), [(0, 0, 0), (1, 2, 3), (5, 39, 10**9), LARGE])
def test_words_are_those_of_numpy(seed: int, client: int, step: int) -> None:
    words = [word for i in range(3) for word in _block(np.uint64(seed), client, step, i)]
    assert words == numpys_words(seed, client, step, 12)


@pytest.mark.parametrize(("seed", "client", "step"), [(0, 0, 0), (1, 2, 3), LARGE])
@pytest.mark.parametrize(("num_samples", "size"), [(60, 20), (7, 7), (10**12, 9), (1, 1)])
def test_batch_is_floyds_of_these_words(
    seed: int, client: int, step: int, num_samples: int, size: int
) -> None:
    expected: list[int] = []
    for i, word in enumerate(numpys_words(seed, client, step, size)):
        last = num_samples - size + i
        position = word * (last + 1) >> 64
        expected.append(last if position in expected else position)
    (drawn,) = batches(seed, client, step, 1, num_samples, size)
    assert drawn.tolist() == expected
    assert len(set(expected)) == size


def test_every_set_of_samples_is_as_likely() -> None:
    drawn = batches(0, 3, 0, 14_000, 8, 4)
    counts = Counter(frozenset(batch) for batch in drawn.tolist())
    expected = len(drawn) / comb(8, 4)
    assert set(counts) == {frozenset(some) for some in combinations(range(8), 4)}
    chi_square = sum((count - expected) ** 2 for count in counts.values()) / expected
    assert 36 < chi_square < 112  # of 69 degrees of freedom: outside with probability 0.001


def test_clients_steps_and_seeds_have_batches_of_their_own() -> None:
    drawn = [batches(seed, i, 0, 50, 1000, 8) for seed in range(3) for i in range(4)]
    rows = np.concatenate(drawn)
    assert len({tuple(row) for row in rows.tolist()}) == len(rows)
    assert abs(np.corrcoef(drawn[0].ravel(), drawn[1].ravel())[0, 1]) < 0.2


def test_steps_may_be_drawn_in_any_grouping() -> None:
    whole = batches(4, 2, 10, 6, 60, 20)
    parts = [batches(4, 2, 10, 2, 60, 20), batches(4, 2, 12, 4, 60, 20)]
    assert np.array_equal(whole, np.concatenate(parts))


def test_compiled_code_draws_the_same() -> None:
    @njit()
    def draw(seed: int, client: int, step: int, batch: NDArray[np.int64]) -> None:
        draw_batch(seed, client, step, 60, batch)

    drawn = np.empty(20, dtype=np.int64)
    draw(5, 1, 2, drawn)  # a seed that is an int64 there is the same seed
    assert np.array_equal(drawn, batches(5, 1, 2, 1, 60, 20)[0])
