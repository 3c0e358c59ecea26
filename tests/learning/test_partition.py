"""Who has which samples: exact sizes, no repeats, and the frequencies that the paper asks for."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from flexpress.errors import InputError
from flexpress.learning.partition import SamplePool, _dirichlet_shares, make_shards
from flexpress.scenario import Scenario

LABELS = np.random.default_rng(8).integers(0, 10, 6000).astype(np.int32)
PARTITIONS = ["iid", "dirichlet", "location"]


def paper(
    partition: str, clients_per_block: int = 4, seed: int = 0, **learning: object
) -> Scenario:
    return Scenario.preset("paper", seed).replace(
        network={"clients_per_block": clients_per_block},
        learning={"partition": partition, "batch_size": 1, **learning},
    )


def mixes(scenario: Scenario, labels: NDArray[np.int32] = LABELS) -> NDArray[np.int64]:
    """Samples of each label at each client: (clients, 10)."""
    rows = labels[make_shards(scenario, labels, 10)]
    return np.stack([np.bincount(row, minlength=10) for row in rows])


@pytest.mark.parametrize("partition", PARTITIONS)
def test_sizes_and_no_repeats(partition: str) -> None:
    shards = make_shards(paper(partition), LABELS, 10)
    assert shards.shape == (40, 60)
    assert shards.dtype == np.int32
    assert all(len(set(row)) == 60 for row in shards.tolist())
    if partition == "iid":  # there are enough for all
        assert len(np.unique(shards)) == 40 * 60


@pytest.mark.parametrize("partition", PARTITIONS)
def test_the_seed_decides(partition: str) -> None:
    once, again, other = (
        make_shards(paper(partition, seed=seed), LABELS, 10) for seed in (0, 0, 1)
    )
    assert np.array_equal(once, again)
    assert not np.array_equal(once, other)


@pytest.mark.parametrize("partition", PARTITIONS)
@pytest.mark.parametrize("samples", [1, 500, 3000])
def test_scarce_samples_are_shared(partition: str, samples: int) -> None:
    """with one pool for all, every sample is used floor or ceil of the mean number of times."""
    scenario = paper(partition, samples_per_client=samples)
    shards = make_shards(scenario, LABELS[:3000], 10)
    assert shards.shape == (40, samples)
    if partition == "iid":
        assert all(len(set(row)) == samples for row in shards.tolist())
        times = np.bincount(shards.ravel(), minlength=3000)
        assert times.max() - times.min() <= 1


def test_samples_of_a_label_are_repeated_only_when_used_up() -> None:
    shards = make_shards(paper("location", samples_per_client=100), LABELS, 10)
    times = np.bincount(shards.ravel(), minlength=len(LABELS))
    for label in range(10):
        used = times[label == LABELS]
        assert used.max() - used.min() <= 1


def test_iid_mix() -> None:
    counts = mixes(paper("iid", samples_per_client=1000))
    expected = 1000 * np.bincount(LABELS, minlength=10) / len(LABELS)
    assert np.abs(counts - expected).max() < 5 * np.sqrt(100)
    assert np.abs(counts - expected).std() > 1


@pytest.mark.parametrize("probability", [0.7, 0.5, 0.0, 1.0])
def test_location_mix(probability: float) -> None:
    """Blocks of 30 clients with 100 samples: 3000 samples each, main label first."""
    scenario = paper("location", 30, samples_per_client=100, main_label_probability=probability)
    by_block = mixes(scenario).reshape(10, 30, 10).sum(axis=1)
    rolled = np.stack([np.roll(by_block[b], -b) for b in range(10)])
    expected = 3000 * np.array([probability] + [(1 - probability) / 9] * 9)
    assert (np.abs(rolled - expected) <= 4.5 * np.sqrt(expected)).all()


def test_main_labels_begin_again_after_the_last() -> None:
    scenario = paper("location", main_label_probability=1.0).replace(network={"blocks": [4, 3]})
    mains = mixes(scenario).argmax(axis=1).reshape(12, 4)
    assert mains.tolist() == [[b % 10] * 4 for b in range(12)]


@pytest.mark.parametrize("alpha", [0.05, 0.3, 0.5, 5.0])
def test_dirichlet_moments(alpha: float) -> None:
    """Var of a share: m (1 - m) / (10 alpha + 1); a count adds the multinomial's own."""
    counts = mixes(paper("dirichlet", 100, samples_per_client=50, alpha=alpha))
    assert counts.shape == (1000, 10)
    variance = 0.09 / (10 * alpha + 1)
    expected = 50 * 0.09 + 50 * 49 * variance
    assert counts.mean(axis=0) == pytest.approx([5.0] * 10, abs=5 * np.sqrt(expected / 1000))
    assert counts.var() == pytest.approx(expected, rel=0.08)


def test_dirichlet_shares_are_beta_distributed() -> None:
    """Against NumPy's own, by the distance of Kolmogorov and Smirnov."""
    rng = np.random.default_rng(5)
    ours = np.sort(_dirichlet_shares(rng, 0.3, np.ones(10, bool), 20_000)[:, 3])
    theirs = np.sort(np.random.default_rng(6).beta(0.3, 2.7, 20_000))
    both = np.concatenate([ours, theirs])
    gaps = np.searchsorted(ours, both, "right") - np.searchsorted(theirs, both, "right")
    assert np.abs(gaps).max() / 20_000 < 1.95 * np.sqrt(2 / 20_000)  # probability 0.001


@pytest.mark.parametrize("alpha", [5e-324, 1e-300, 1e-3])
def test_tiny_alpha_gives_one_label_a_client(alpha: float) -> None:
    counts = mixes(paper("dirichlet", 30, alpha=alpha))
    assert (counts.max(axis=1) == 60).mean() > 0.9
    assert len(set(counts.argmax(axis=1))) == 10


@pytest.mark.parametrize("alpha", [1e6, 1e308])
def test_large_alpha_gives_every_label_alike(alpha: float) -> None:
    counts = mixes(paper("dirichlet", alpha=alpha, samples_per_client=1000))
    assert np.abs(counts - 100).max() < 5 * np.sqrt(90)


def test_labels_without_samples() -> None:
    gap = LABELS[LABELS != 3]
    assert mixes(paper("dirichlet"), gap)[:, 3].sum() == 0
    with pytest.raises(InputError, match="label 3, the main one of block 3, has no training"):
        make_shards(paper("location"), gap, 10)
    scenario = paper("location", 30).replace(network={"blocks": [3, 1]})
    counts = mixes(scenario, gap).sum(axis=0)
    assert counts[3] == 0
    assert counts.sum() == 3 * 30 * 60


def test_a_draw_repeats_no_sample_before_the_pool_is_used_up() -> None:
    pool = SamplePool(np.arange(100, 107), np.random.default_rng(0))
    for _ in range(200):
        assert len(set(pool.draw(5).tolist())) == 5
    times = np.bincount(pool.draw(17), minlength=107)[100:]
    assert set(times.tolist()) == {2, 3}
    assert pool.draw(0).tolist() == []
