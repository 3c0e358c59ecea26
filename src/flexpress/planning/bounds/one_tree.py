"""The least that all tours together must fly: Held and Karp's one-tree, in Numba.

The legs of any plan connect all nodes, and every client has two of them. Take out one client: what
is left is still connected, even without one leg from the server of each tour but the client's: at
least as long as the shortest spanning tree. The client itself has two legs more. Weights on the
clients that count the legs at each (Held, Karp, Operations Research 18(6), 1970) raise this bound
without changing the length of a plan. Holds for any number of tours and without the triangle
inequality, as long as no weight makes a leg from the server, which is left out, negative. Of
asymmetric distances the shorter direction counts, after the slope is taken out: a tour that climbs
comes down again.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from flexpress.arrays import FloatArray
from flexpress.planning.problem import Problem
from flexpress.planning.progress import ShouldStop, never

STEPS_OF_WORK = 4e9
"""Distances looked at in all: a few seconds."""

MOST_ASCENTS, FEWEST_ASCENTS = 400, 20


def least_length(problem: Problem, should_stop: ShouldStop = never) -> float:
    """Metres that the tours of no plan are below, taken together."""
    matrix = np.zeros((0, 0))
    if problem.matrix is not None:
        matrix = shorter_ways(problem.matrix)
    x, y = problem.positions.T.copy()
    from_server = matrix[0, 1:] if len(matrix) else problem.distances_from_server()
    weights = np.append(0.0, np.maximum(-from_server, 0.0))
    apart = 1 + int(np.argmax(from_server))
    ascents = int(np.clip(STEPS_OF_WORK / len(x) ** 2, FEWEST_ASCENTS, MOST_ASCENTS))
    best, change = 0.0, np.zeros(len(x))
    for ascent in range(ascents):
        length, degrees = one_tree(x, y, matrix, weights, apart)
        best = max(best, length)
        slope = degrees - 2.0
        slope[0] = 0.0  # the server may have any number of legs
        steepness = float((slope**2).sum())
        if steepness == 0 or should_stop():
            break
        change = slope + 0.6 * change
        weights += (1 - ascent / ascents) * 0.05 * max(best, length) / steepness * change
        weights[1:] = np.maximum(weights[1:], -from_server)
    return best * (1 - 1e-9)


def shorter_ways(matrix: FloatArray) -> FloatArray:
    """The shorter of the ways there and back, where all nodes are brought to one level."""
    heights = np.median(matrix - matrix.T, axis=1) / 2
    level = matrix - heights[:, None] + heights[None, :]
    return np.ascontiguousarray(np.minimum(level, level.T))


@njit(cache=True)
def one_tree(
    x: FloatArray, y: FloatArray, matrix: FloatArray, weights: FloatArray, apart: int
) -> tuple[float, FloatArray]:
    """Length of the shortest one-tree, less what the weights add to any plan; legs at each node."""
    nodes = len(x)
    degrees = np.zeros(nodes)
    nearest = np.full(nodes, np.inf)
    parent = np.zeros(nodes, np.int64)
    reached = np.zeros(nodes, np.bool_)
    reached[apart] = True
    total = -2.0 * (weights.sum() - weights[0])
    node = 0
    for _ in range(nodes - 2):
        reached[node] = True
        following = -1
        for j in range(nodes):
            if reached[j]:
                continue
            leg = weighted(x, y, matrix, weights, node, j)
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
    for j in range(1, nodes):
        if j == apart:
            continue
        if weighted(x, y, matrix, weights, apart, j) < weighted(
            x, y, matrix, weights, apart, first
        ):
            first, second = j, first
        elif second < 0 or (
            weighted(x, y, matrix, weights, apart, j)
            < weighted(x, y, matrix, weights, apart, second)
        ):
            second = j
    if second < 0 or first == 0:
        second = 0
    for j in (first, second):
        total += weighted(x, y, matrix, weights, apart, j)
        degrees[apart] += 1
        degrees[j] += 1
    return total, degrees


@njit(cache=True)
def weighted(
    x: FloatArray, y: FloatArray, matrix: FloatArray, weights: FloatArray, i: int, j: int
) -> float:
    if len(matrix):
        return matrix[i, j] + weights[i] + weights[j]
    dx, dy = x[i] - x[j], y[i] - y[j]
    return np.sqrt(dx * dx + dy * dy) + weights[i] + weights[j]
