"""The inner level of CARP: a short route through given nodes by multi-start 2-OPT, in Numba.

All compiled code of the inner level is in this file: Numba's cache on disk notices changes in the
file of the cached function only.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from flexpress.arrays import FloatArray, IntArray

_RandomState = NDArray[np.uint64]

_MIN_GAIN = 1e-12
"""Relative to the two edges given up: a smaller gain is rounding, and could be had forever."""


@njit(cache=True)
def shortest_route(
    distances: FloatArray, nodes: IntArray, num_starts: int, seed: int
) -> tuple[float, IntArray]:
    """The best of `num_starts` runs of 2-OPT, each from a random route through `nodes`.

    The paper's inner level: "we run 2-OPT multiple times using different initial routes in order
    to escape from the local optimum". The route begins with `nodes[0]`, and the length returned is
    that of the closed tour. The result is a pure function of the arguments.
    """
    state = np.array([seed], dtype=np.uint64)
    one_way = _differ_by_direction(distances, nodes)
    best = nodes.copy()
    best_length = np.inf
    for _ in range(num_starts):
        route = nodes.copy()
        _shuffle(route[1:], state)
        _two_opt(distances, route, state, one_way)
        length = route_length(distances, route)
        if length < best_length:
            best_length = length
            best = route
    return best_length, best


@njit(cache=True)
def _two_opt(distances: FloatArray, route: IntArray, state: _RandomState, one_way: bool) -> None:
    """Switch pairs of edges in `route`, in place, as long as some switch shortens it.

    The paper: "it randomly selects two edges and checks if switching their connections can shorten
    the overall route. The process terminates if no improvement can be made". Here each pass draws
    all pairs in a new random order, so that the end is certain rather than likely. If ways
    there and back differ, reversing a piece rarely helps: then single nodes are moved too.
    """
    pairs = _edge_pairs(len(route))
    improved = True
    while improved:
        improved = False
        _shuffle(pairs, state)
        for pair in pairs:
            first, second = pair // len(route), pair % len(route)
            if one_way:
                improved |= _turn_if_shorter(distances, route, first + 1, second)
                improved |= _move_if_shorter(distances, route, first + 1, second)
                improved |= _move_if_shorter(distances, route, second, first + 1)
            else:
                improved |= _switch_if_shorter(distances, route, first, second)
        if one_way:
            improved |= _turn_if_shorter(distances, route, 1, len(route) - 1)


@njit(cache=True)
def _edge_pairs(n: int) -> IntArray:
    """Every pair of edges without a common node, coded as first * n + second."""
    pairs = np.empty(max(n * (n - 3) // 2, 0), dtype=np.int64)
    count = 0
    for first in range(n):
        for second in range(first + 2, n if first else n - 1):
            pairs[count] = first * n + second
            count += 1
    return pairs


@njit(cache=True)
def _switch_if_shorter(distances: FloatArray, route: IntArray, first: int, second: int) -> bool:
    """Replace edges (a, b) and (c, d) by (a, c) and (b, d) if that is shorter: b..c turns round."""
    a, b = route[first], route[first + 1]
    c, d = route[second], route[(second + 1) % len(route)]
    given_up = distances[a, b] + distances[c, d]
    if distances[a, c] + distances[b, d] >= given_up * (1 - _MIN_GAIN):
        return False
    _turn(route, first + 1, second)
    return True


@njit(cache=True)
def _differ_by_direction(distances: FloatArray, nodes: IntArray) -> bool:
    """Whether some way between these nodes is longer than the way back."""
    for i in nodes:
        for j in nodes:
            if distances[i, j] != distances[j, i]:
                return True
    return False


@njit(cache=True)
def _turn_if_shorter(distances: FloatArray, route: IntArray, left: int, right: int) -> bool:
    """The same switch if the ways inside b..c change too: compares the whole length."""
    length = route_length(distances, route)
    _turn(route, left, right)
    if route_length(distances, route) < length * (1 - _MIN_GAIN):
        return True
    _turn(route, left, right)
    return False


@njit(cache=True)
def _move_if_shorter(distances: FloatArray, route: IntArray, old: int, new: int) -> bool:
    """Visit the node at place `old` at place `new` instead, if that is shorter."""
    length = route_length(distances, route)
    _move(route, old, new)
    if route_length(distances, route) < length * (1 - _MIN_GAIN):
        return True
    _move(route, new, old)
    return False


@njit(cache=True)
def _move(route: IntArray, old: int, new: int) -> None:
    """Move the node at place `old` to place `new`; the nodes between shift."""
    step = 1 if new > old else -1
    for place in range(old, new, step):
        route[place], route[place + step] = route[place + step], route[place]


@njit(cache=True)
def _turn(route: IntArray, left: int, right: int) -> None:
    """Reverse the order of the places left..right."""
    while left < right:
        route[left], route[right] = route[right], route[left]
        left += 1
        right -= 1


@njit(cache=True)
def route_length(distances: FloatArray, route: IntArray) -> float:
    """Length of the closed tour."""
    length: float = distances[route[-1], route[0]]
    for position in range(len(route) - 1):
        length += distances[route[position], route[position + 1]]
    return length


@njit(cache=True)
def _shuffle(items: IntArray, state: _RandomState) -> None:
    """Fisher-Yates, in place."""
    for last in range(len(items) - 1, 0, -1):
        chosen = _random_below(last + 1, state)
        items[last], items[chosen] = items[chosen], items[last]


@njit(cache=True)
def _random_below(limit: int, state: _RandomState) -> np.int64:
    """A random number in 0..limit - 1 from SplitMix64, whose whole state is one integer."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    mixed = state[0]
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return np.int64((mixed >> np.uint64(32)) * np.uint64(limit) >> np.uint64(32))
