"""Recreate: put the clients back one by one, each where it costs least."""

from __future__ import annotations

import math

import numpy as np

from flexpress.planning.search.costs import cost_if, distance
from flexpress.planning.search.records import (
    Records,
    Weights,
    part,
    random_below,
    random_bits,
    random_unit,
)
from flexpress.planning.search.rings import link, unlink

BLINK_BITS = np.uint64(64 - 7)
"""One neighbour in 2^7 is overlooked, so that the greedy choice is not always the same."""


@part
def sort_removed(
    nodes: Records, removals: Records, search: Records, num_clients: int, taken: int
) -> None:
    """The order of return: random, farthest from the server first, or nearest first (4 : 2 : 2)."""
    rule = random_below(search, 8)
    for t in range(taken):
        i = removals[t].client
        if rule < 4:
            key = random_unit(search)
        else:
            key = distance(nodes, i, num_clients)
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
def offer(
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
def collect_offers(
    nodes: Records,
    tours: Records,
    neighbours: Records,
    near: Records,
    asked: Records,
    search: Records,
    i: int,
) -> int:
    """Detours to client i: beside its neighbours, and first in a random tour; how many tours offer.

    A neighbour j at distance r offers no detour below 2 (r - leg), its legs being shorter than r:
    that spares most of the distances.
    """
    search[0].asked += 1
    client = search[0].asked
    k = random_below(search, tours.shape[0])
    p = neighbours.shape[0] + k
    detour = distance(nodes, p, i) + distance(nodes, i, nodes[p].next) - nodes[p].leg
    num_asked = offer(tours, asked, 0, client, detour, p, k)
    bits = random_bits(search)
    for q in range(neighbours.shape[1]):
        j = int(neighbours[i, q])
        k = nodes[j].tour
        bits = bits * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        if k < 0 or bits >> BLINK_BITS == np.uint64(0):
            continue
        r = near[i, q]
        p = nodes[j].prev
        if (
            tours[k].asked == client
            and 2.0 * (r - max(nodes[p].leg, nodes[j].leg)) >= tours[k].detour
        ):
            continue
        before = r + distance(nodes, p, i) - nodes[p].leg
        after = r + distance(nodes, i, nodes[j].next) - nodes[j].leg
        if after < before:
            num_asked = offer(tours, asked, num_asked, client, after, j, k)
        else:
            num_asked = offer(tours, asked, num_asked, client, before, p, k)
    return num_asked


@part
def cheapest_place(tours: Records, asked: Records, weights: Weights, num_asked: int) -> int:
    """The node behind which the client costs least, of the places offered."""
    place = int(tours[asked[0]].after)
    lowest = math.inf
    for t in range(num_asked):
        k = int(asked[t])
        length = tours[k].length + tours[k].detour
        rise = cost_if(tours, weights, k, length, tours[k].count + 1) - tours[k].cost
        if rise < lowest:
            lowest = rise
            place = tours[k].after
    return place


@part
def recreate(
    nodes: Records,
    tours: Records,
    neighbours: Records,
    near: Records,
    removals: Records,
    asked: Records,
    search: Records,
    weights: Weights,
    taken: int,
) -> None:
    """Put the clients back in their order."""
    for t in range(taken):
        i = removals[t].inserted
        num_asked = collect_offers(nodes, tours, neighbours, near, asked, search, i)
        p = cheapest_place(tours, asked, weights, num_asked)
        k = nodes[p].tour
        link(nodes, tours, i, p)
        tours[k].cost = cost_if(tours, weights, k, tours[k].length, tours[k].count)


@part
def undo(nodes: Records, tours: Records, removals: Records, taken: int) -> None:
    for t in range(taken - 1, -1, -1):
        unlink(nodes, tours, removals[t].inserted)
    for t in range(taken - 1, -1, -1):
        link(nodes, tours, removals[t].client, removals[t].before)
    for k in range(tours.shape[0]):
        tours[k].cost = tours[k].old_cost
        tours[k].length = tours[k].old_length
