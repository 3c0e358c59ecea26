"""The nearest clients against sorting all distances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flexpress.arrays import FloatArray
from flexpress.planning.search.neighbours import _LEAF, nearest_clients


def all_distances(positions: FloatArray) -> FloatArray:
    offsets = positions[:, None, :] - positions[None, :, :]
    distances: FloatArray = np.hypot(offsets[..., 0], offsets[..., 1])
    return distances


def check(positions: FloatArray, num_neighbours: int) -> None:
    """Every list holds the nearest others, nearest first, ties by index."""
    n = len(positions)
    found = nearest_clients(positions, num_neighbours)
    assert found.shape == (n, min(num_neighbours, n - 1))
    distances = all_distances(positions)
    for i in range(n):
        others = [j for j in range(n) if j != i]
        expected = sorted(others, key=lambda j, i=i: (distances[i, j], j))  # type: ignore[misc]  # mypy cannot infer the default's type
        assert found[i].tolist() == expected[:num_neighbours]


def scatter(rng: np.random.Generator, num_clients: int, layout: str) -> FloatArray:
    positions = 1000.0 * rng.random((num_clients, 2))
    if layout == "grid":
        return np.round(positions / 100.0) * 100.0
    if layout == "line":
        positions[:, 1] = 7.0
    if layout == "one spot":
        positions[:] = positions[0]
    if layout == "shared spots":
        return positions[rng.integers(0, 1 + num_clients // 40, num_clients)]
    if layout == "groups":
        return 1e6 * rng.random((5, 2))[rng.integers(0, 5, num_clients)] + positions / 1000.0
    if layout == "one far away":
        positions[-1] = 1e9
    return positions


LAYOUTS = ["uniform", "grid", "line", "one spot", "shared spots", "groups", "one far away"]


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    num_clients=st.integers(1, 400),
    num_neighbours=st.integers(1, 60),
    layout=st.sampled_from(LAYOUTS),
)
def test_equals_sorting_all_distances(
    seed: int, num_clients: int, num_neighbours: int, layout: str
) -> None:
    check(scatter(np.random.default_rng(seed), num_clients, layout), num_neighbours)


@pytest.mark.parametrize("num_clients", [1, 2, _LEAF, _LEAF + 1, 2 * _LEAF, 2 * _LEAF + 1])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_around_the_size_of_a_leaf(num_clients: int, layout: str) -> None:
    check(scatter(np.random.default_rng(0), num_clients, layout), 30)


def test_many_clients() -> None:
    positions = scatter(np.random.default_rng(0), 8000, "uniform")  # a matrix would be 0.5 GB
    found = nearest_clients(positions, 10)
    some = np.random.default_rng(1).integers(0, 8000, 50)
    for i in some:
        away = np.hypot(*(positions - positions[i]).T)
        assert found[i].tolist() == np.argsort(away, kind="stable")[1:11].tolist()
