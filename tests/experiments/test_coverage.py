"""The interval over networks and seeds covers as often as it says, on data with known variances."""

from __future__ import annotations

import numpy as np
import pytest

from flexpress.experiments.protocol import protocol, seeds_of
from flexpress.experiments.statistics import over_networks

DRAWS = 1000
TRUTH = 0.3


def covered(networks: int, seeds: int, of_networks: float, of_seeds: float) -> float:
    """The share of draws whose interval has the true difference."""
    rng = np.random.default_rng([networks, seeds])
    inside = 0
    for _ in range(DRAWS):
        means = rng.normal(TRUTH, of_networks, networks)
        values = {
            (network, seed): float(means[network] + rng.normal(0.0, of_seeds))
            for network in range(networks)
            for seed in seeds_of(network, seeds)
        }
        found = over_networks(values)
        assert found.low is not None
        assert found.high is not None
        inside += found.low <= TRUTH <= found.high
    return inside / DRAWS


@pytest.mark.parametrize(("of_networks", "of_seeds"), [(1.0, 0.5), (0.2, 1.0), (0.0, 1.0)])
@pytest.mark.parametrize(("networks", "seeds"), [(protocol().full.networks, 1), (5, 4)])
def test_it_covers_in_93_to_97_of_100_draws(
    networks: int, seeds: int, of_networks: float, of_seeds: float
) -> None:
    assert 0.93 <= covered(networks, seeds, of_networks, of_seeds) <= 0.97


def test_seeds_alone_would_not_do() -> None:
    """All values taken as independent: far too narrow where networks differ."""
    rng = np.random.default_rng(0)
    inside = 0
    for _ in range(DRAWS):
        values = np.repeat(rng.normal(TRUTH, 1.0, 5), 4) + rng.normal(0.0, 0.2, 20)
        found = over_networks({(0, seed): float(value) for seed, value in enumerate(values)})
        assert found.low is not None
        assert found.high is not None
        inside += found.low <= TRUTH <= found.high
    assert inside / DRAWS < 0.8


def test_one_network_is_judged_by_its_seeds() -> None:
    found = over_networks({(0, 1): 0.1, (0, 2): 0.3})
    assert found.values == (0.1, 0.3)
