"""Recreate: insert the removed clients one by one, each where it costs least."""

from __future__ import annotations

import math

import numpy as np

from flexpress.planning.search.costs import cost_if, distance
from flexpress.planning.search.records import (
    Records,
    Weights,
    index,
    part,
    random_below,
    random_bits,
    random_unit,
)
from flexpress.planning.search.rings import link, unlink

_BLINK_BITS = np.uint64(64 - 7)
"""One neighbour in 2^7 is skipped, so that the greedy choice is not always the same."""


@part
def sort_removed(
    nodes: Records,
    matrix: Records,
    removals: Records,
    search: Records,
    num_clients: int,
    taken: int,
) -> None:
    """The order of return: random, farthest from the server first, or nearest first (4 : 2 : 2)."""
    rule = random_below(search, index(8))
    for t in range(taken):
        i = removals[t].client
        if rule < 4:
            key = random_unit(search)
        else:
            key = distance(nodes, matrix, i, num_clients)
            if rule < 6:
                key = -key
        u = t
        while u > 0 and removals[u - 1].key > key:
            removals[u].key = removals[u - 1].key
            removals[u].inserted = removals[u - 1].inserted
            u -= 1
        removals[u].key = key
        removals[u].inserted = i


@part
def _offer(
    tours: Records, asked: Records, num_asked: int, client: int, detour: float, after: int, k: int
) -> int:
    """Tour k offers a place to the client; the number of tours that have made an offer."""
    if tours[k].asked != client:
        tours[k].asked = client
        tours[k].detour = math.inf
        asked[num_asked] = k
        num_asked += 1
    if detour < tours[k].detour:
        tours[k].detour = detour
        tours[k].after = after
    return num_asked


@part
def _both_ways(
    nodes: Records, matrix: Records, near: Records, i: int, j: int, q: int
) -> tuple[float, float]:
    """Metres from client i to its q-th neighbour j, and back."""
    if matrix is None:
        return near[i, q], near[i, q]
    return distance(nodes, matrix, i, j), distance(nodes, matrix, j, i)


@part
def _least_detour(
    matrix: Records, plane: int, there: float, back: float, leg_before: float, leg_behind: float
) -> float:
    """A lower bound of the detour before or behind the neighbour, which saves most distances.

    In the plane its legs are two sides of triangles. For other distances it is only known that
    the third side is not negative.
    """
    if matrix is None or plane:
        return 2.0 * (there - max(leg_before, leg_behind))
    return min(there - leg_before, back - leg_behind)


@part
def _collect_offers(
    nodes: Records,
    matrix: Records,
    tours: Records,
    neighbours: Records,
    near: Records,
    asked: Records,
    search: Records,
    i: int,
) -> int:
    """Detours to client i: beside neighbours, and first in a random tour; how many tours offer."""
    search[0].asked += 1
    client = search[0].asked
    k = random_below(search, tours.shape[0])
    p = neighbours.shape[0] + k
    n = nodes[p].next
    detour = distance(nodes, matrix, p, i) + distance(nodes, matrix, i, n) - nodes[p].leg
    num_asked = _offer(tours, asked, index(0), client, detour, p, k)
    bits = random_bits(search)
    for q in range(neighbours.shape[1]):
        j = index(neighbours[i, q])
        k = nodes[j].tour
        bits = bits * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        if k < 0 or bits >> _BLINK_BITS == np.uint64(0):
            continue
        p = nodes[j].prev
        there, back = _both_ways(nodes, matrix, near, i, j, q)
        least = _least_detour(matrix, search[0].plane, there, back, nodes[p].leg, nodes[j].leg)
        if tours[k].asked == client and least >= tours[k].detour:
            continue
        before = there + distance(nodes, matrix, p, i) - nodes[p].leg
        after = back + distance(nodes, matrix, i, nodes[j].next) - nodes[j].leg
        if after < before:
            num_asked = _offer(tours, asked, num_asked, client, after, j, k)
        else:
            num_asked = _offer(tours, asked, num_asked, client, before, p, k)
    return num_asked


@part
def _cheapest_place(tours: Records, asked: Records, weights: Weights, num_asked: int) -> int:
    """The node behind which the client costs least, of the places offered."""
    place = tours[asked[0]].after
    lowest = math.inf
    for t in range(num_asked):
        k = index(asked[t])
        length = tours[k].length + tours[k].detour
        rise = cost_if(tours, weights, k, length, tours[k].count + 1) - tours[k].cost
        if rise < lowest:
            lowest = rise
            place = tours[k].after
    return place


@part
def recreate(
    nodes: Records,
    matrix: Records,
    tours: Records,
    neighbours: Records,
    near: Records,
    removals: Records,
    asked: Records,
    search: Records,
    weights: Weights,
    taken: int,
) -> None:
    """Insert the removed clients again, in their order."""
    for t in range(taken):
        i = removals[t].inserted
        num_asked = _collect_offers(nodes, matrix, tours, neighbours, near, asked, search, i)
        p = _cheapest_place(tours, asked, weights, num_asked)
        k = nodes[p].tour
        link(nodes, matrix, tours, i, p)
        tours[k].cost = cost_if(tours, weights, k, tours[k].length, tours[k].count)


@part
def undo(nodes: Records, matrix: Records, tours: Records, removals: Records, taken: int) -> None:
    for t in range(taken - 1, -1, -1):
        unlink(nodes, matrix, tours, removals[t].inserted)
    for t in range(taken - 1, -1, -1):
        link(nodes, matrix, tours, removals[t].client, removals[t].before)
    for k in range(tours.shape[0]):
        tours[k].cost = tours[k].old_cost
        tours[k].length = tours[k].old_length
