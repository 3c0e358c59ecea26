"""The nearest clients of every client, without a matrix of all distances."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from flexpress.arrays import FloatArray

_Indices = NDArray[np.intp]

_LEAF = 48
"""Clients per leaf: few enough to compare each with each, enough to keep the leaves few."""


def nearest_clients(positions: FloatArray, num_neighbours: int) -> NDArray[np.int32]:
    """For every point the others, nearest first: (points, num_neighbours), indices from 0.

    Points are cut into boxes of equal count; a box is compared only with the boxes that can hold
    a neighbour. Points at equal distance are ordered by index.
    """
    m = min(num_neighbours, len(positions) - 1)
    leaves = _split(positions, np.arange(len(positions)))
    low = np.array([positions[leaf].min(axis=0) for leaf in leaves])  # (leaves, 2)
    high = np.array([positions[leaf].max(axis=0) for leaf in leaves])  # (leaves, 2)
    nearest = np.empty((len(positions), m), dtype=np.int32)
    for number, leaf in enumerate(leaves):
        gaps = np.maximum(0, np.maximum(low - high[number], low[number] - high))
        away = np.hypot(gaps[:, 0], gaps[:, 1])  # from this box to every box
        nearest[leaf] = _nearest_of_leaf(positions, leaf, leaves, away, m)
    return nearest


def _split(positions: FloatArray, points: _Indices) -> list[_Indices]:
    """Halve the points along their wider side until a leaf is small."""
    if len(points) <= _LEAF:
        return [points]
    spread = np.ptp(positions[points], axis=0)
    order = points[np.argsort(positions[points, int(spread.argmax())], kind="stable")]
    middle = len(points) // 2
    return _split(positions, order[:middle]) + _split(positions, order[middle:])


def _nearest_of_leaf(
    positions: FloatArray, leaf: _Indices, leaves: list[_Indices], away: FloatArray, m: int
) -> _Indices:
    """Neighbours of the points of one leaf: look in the closest boxes, then in all within reach."""
    by_distance = np.argsort(away, kind="stable")
    counts = np.cumsum([len(leaves[box]) for box in by_distance])
    enough = int(np.searchsorted(counts, m + 1)) + 1
    candidates = np.concatenate([leaves[box] for box in by_distance[:enough]])
    reach = np.partition(_distances_between(positions, leaf, candidates), m, axis=1)[:, m].max()
    candidates = np.sort(np.concatenate([leaves[box] for box in np.flatnonzero(away <= reach)]))
    distances = _distances_between(positions, leaf, candidates)
    distances[candidates[None, :] == leaf[:, None]] = -1.0  # itself comes first and is dropped
    order = np.argsort(distances, axis=1, kind="stable")[:, 1 : m + 1]
    return candidates[order]


def _distances_between(positions: FloatArray, rows: _Indices, columns: _Indices) -> FloatArray:
    offsets = positions[rows, None, :] - positions[None, columns, :]
    return np.hypot(offsets[..., 0], offsets[..., 1])


def nearest_by_matrix(ways: FloatArray, num_neighbours: int) -> NDArray[np.int32]:
    """For every client the others, nearest first, by the shorter of the ways there and back.

    Before they are compared, the slope is subtracted: if every way up is as much longer as the
    way down is shorter, as wind nearly makes it, a closed tour gets back what it pays.
    """
    n = len(ways)
    m = min(num_neighbours, n - 1)
    height = (ways.sum(axis=0) - ways.sum(axis=1)) / (2 * n)
    nearest = np.empty((n, m), dtype=np.int32)
    for i in range(n):
        climb = height - height[i]
        away = np.minimum(ways[i] - climb, ways[:, i] + climb)
        away[i] = -np.inf  # itself comes first and is dropped
        near = np.sort(np.argpartition(away, m)[: m + 1])
        nearest[i] = near[np.argsort(away[near], kind="stable")[1:]]
    return nearest
