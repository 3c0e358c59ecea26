"""A lower bound of the length of all tours together: Held and Karp's one-tree, in Numba.

The legs of any plan connect all nodes, and every client has two of them. Remove one client, and
one leg from the server of every other tour: the rest is still connected, so it is at least as long
as the shortest spanning tree. The removed client adds two legs. Weights on the clients (Held, Karp,
Operations Research 18(6), 1970) raise this bound without changing the length of a plan. It holds
for any number of tours and without the triangle inequality, as long as no weight makes a removed
leg from the server negative. For asymmetric distances the shorter direction counts, after the
slope is subtracted: a tour that climbs comes down again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from flexpress.arrays import FloatArray
from flexpress.callbacks import ShouldStop, never
from flexpress.planning.problem import Problem

_DISTANCES_READ = 4e9
"""In all ascents together: a few seconds."""

_MOST_ASCENTS, _FEWEST_ASCENTS = 400, 20


class _Nodes(NamedTuple):
    """Positions, or distances in their place, and the weight of each node."""

    x: FloatArray  # (nodes,)
    y: FloatArray  # (nodes,)
    matrix: FloatArray  # (nodes, nodes); (0, 0): straight lines
    weights: FloatArray  # (nodes,)


def least_length(problem: Problem, should_stop: ShouldStop = never) -> float:
    """A lower bound of the length of all tours together, in metres."""
    matrix = np.zeros((0, 0))
    if problem.matrix is not None:
        matrix = _shorter_ways(problem.matrix)
    x, y = problem.positions.T.copy()
    from_server = matrix[0, 1:] if len(matrix) else problem.distances_from_server()
    weights = np.append(0.0, np.maximum(-from_server, 0.0))
    apart = 1 + int(np.argmax(from_server))
    nodes = _Nodes(x, y, matrix, weights)
    ascents = int(np.clip(_DISTANCES_READ / len(x) ** 2, _FEWEST_ASCENTS, _MOST_ASCENTS))
    best, change = 0.0, np.zeros(len(x))
    for ascent in range(ascents):
        length, degrees = _one_tree(nodes, apart)
        best = max(best, length)
        slope = degrees - 2.0
        slope[0] = 0.0  # the server has any number of legs
        steepness = float((slope**2).sum())
        if steepness == 0 or should_stop():
            break
        change = slope + 0.6 * change
        weights += (1 - ascent / ascents) * 0.05 * max(best, length) / steepness * change
        weights[1:] = np.maximum(weights[1:], -from_server)
    return best * (1 - 1e-9)


def _shorter_ways(matrix: FloatArray) -> FloatArray:
    """The shorter of the ways there and back, after all nodes are brought to one level."""
    heights = np.median(matrix - matrix.T, axis=1) / 2
    level = matrix - heights[:, None] + heights[None, :]
    return np.ascontiguousarray(np.minimum(level, level.T))


@njit(cache=True)
def _one_tree(nodes: _Nodes, apart: int) -> tuple[float, FloatArray]:
    """Length of the shortest one-tree without what the weights add to any plan; node degrees."""
    weights, num_nodes = nodes.weights, len(nodes.x)
    degrees = np.zeros(num_nodes)
    nearest = np.full(num_nodes, np.inf)
    parent = np.zeros(num_nodes, np.int64)
    reached = np.zeros(num_nodes, np.bool_)
    reached[apart] = True
    total = -2.0 * (weights.sum() - weights[0])
    node = 0
    for _ in range(num_nodes - 2):
        reached[node] = True
        following = -1
        for j in range(num_nodes):
            if reached[j]:
                continue
            leg = _weighted(nodes, node, j)
            if leg < nearest[j]:
                nearest[j] = leg
                parent[j] = node
            if following < 0 or nearest[j] < nearest[following]:
                following = j
        total += nearest[following]
        degrees[following] += 1
        degrees[parent[following]] += 1
        node = following
    first, second = 0, -1  # the two legs of the client apart; the server's may be flown twice
    for j in range(1, num_nodes):
        if j == apart:
            continue
        leg = _weighted(nodes, apart, j)
        if leg < _weighted(nodes, apart, first):
            first, second = j, first
        elif second < 0 or leg < _weighted(nodes, apart, second):
            second = j
    if second < 0 or first == 0:
        second = 0
    for j in (first, second):
        total += _weighted(nodes, apart, j)
        degrees[apart] += 1
        degrees[j] += 1
    return total, degrees


@njit(cache=True)
def _weighted(nodes: _Nodes, i: int, j: int) -> float:
    """The length of a leg plus the weights of its ends."""
    x, y, matrix, weights = nodes
    if len(matrix):
        return matrix[i, j] + weights[i] + weights[j]
    dx, dy = x[i] - x[j], y[i] - y[j]
    return np.sqrt(dx * dx + dy * dy) + weights[i] + weights[j]
