"""Pricing: the cheapest tours for given prizes, among ng-routes, by labels in Numba.

An ng-route may visit a client again once it has left that client's neighbourhood: a relaxation of
tours that keeps the labels few (Baldacci, Mingozzi, Roberti, Operations Research 59(5), 2011). A
label is a path from the server: its last client, its length, the prizes collected, and which
neighbours of the last client it must not visit again. Labels are compared only with others of the
same number of clients R, so that dominance holds for every cost that grows with the length.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from flexpress.arrays import FloatArray, IntArray
from flexpress.planning.bounds.completions import completion_values, most_prizes, tour_cost
from flexpress.planning.bounds.pricing_data import PricingTask

_NUM_LABELS = 1_500_000


class PathLabels(NamedTuple):
    """Memory for the labels of all layers."""

    client: NDArray[np.int16]
    parent: NDArray[np.int32]
    length: FloatArray
    prize: FloatArray
    memory: NDArray[np.int16]


class Layer(NamedTuple):
    """The labels of one number of clients: those that end at i are first[i]..last[i] - 1."""

    first: IntArray  # (nodes,)
    last: IntArray  # (nodes,)


class Ways(NamedTuple):
    """Labels that may be extended to a client, and the length of the path when it gets there."""

    parent: IntArray
    length: FloatArray


def make_labels(num_labels: int = _NUM_LABELS) -> PathLabels:
    return PathLabels(
        client=np.zeros(num_labels, np.int16),
        parent=np.zeros(num_labels, np.int32),
        length=np.zeros(num_labels),
        prize=np.zeros(num_labels),
        memory=np.zeros(num_labels, np.int16),
    )


@njit(cache=True)
def price(
    task: PricingTask, labels: PathLabels, width: int, steps: int, num_routes: int
) -> tuple[float, bool, IntArray, int]:
    """The least cost - prizes of all tours; whether it is proven; routes; labels used.

    The first is `task.below` if no tour is below it. `width` > 0 keeps only this number of labels
    per layer and client, the most promising: then nothing is proven. Nor is it if the labels do
    not fit into memory. Routes are padded with 0 to the longest.
    """
    data, rules, prizes, below = task
    nodes, most = len(prizes), len(rules.longest) - 1
    table = most_prizes(task, steps)
    values = np.empty((nodes, steps // 2 + 1))
    best = np.full((most + 1, nodes), np.inf)
    best_label = np.zeros((most + 1, nodes), np.int64)
    layer = Layer(np.zeros(nodes, np.int64), np.zeros(nodes, np.int64))
    ways = Ways(np.empty(1024, np.int64), np.empty(1024))
    richest = np.empty(len(labels.length), np.int32)
    proven = width == 0
    used = 0
    for count in range(1, most + 1):
        completion_values(rules, table, count, values)
        before = used
        new = Layer(np.zeros(nodes, np.int64), np.zeros(nodes, np.int64))
        for j in range(1, nodes):
            new.first[j] = used
            ways, found = _extend(task, labels, layer, values[j], count, j, ways)
            if 0 < width < found:
                found = _most_promising(labels, values[j], rules.reach, ways, found, width)
            used, complete = _undominated(task, labels, richest, ways, found, j, used)
            proven &= complete
            new.last[j] = used
            for p in range(new.first[j], used):
                way = labels.length[p] + data.distances[j, 0]
                if way <= rules.longest[count]:
                    value = tour_cost(rules, count, way) - labels.prize[p]
                    if value < best[count, j]:
                        best[count, j] = value
                        best_label[count, j] = p
        layer = new
        if used == before:
            break
    ranks = np.argsort(best.ravel())
    routes = np.zeros((num_routes, most), np.int64)
    for t in range(min(num_routes, len(ranks))):
        if best.ravel()[ranks[t]] < below:
            _trace(labels, best_label.ravel()[ranks[t]], routes[t])
    return min(best.min(), below), proven, routes, used


@njit()
def _extend(
    task: PricingTask,
    labels: PathLabels,
    layer: Layer,
    values: FloatArray,
    count: int,
    j: int,
    ways: Ways,
) -> tuple[Ways, int]:
    """All ways to j as client `count` that may still become tours below the limit: how many."""
    data, rules, prizes, below = task
    found = 0
    limit = rules.longest[count] - data.home[j]
    per_step = (len(values) - 1) / rules.reach
    if count == 1:
        way = data.distances[0, j]
        if way <= limit and values[int(way * per_step)] - prizes[j] < below:
            ways.parent[0], ways.length[0] = -1, way
            found = 1
        return ways, found
    for i in range(1, len(prizes)):
        if i == j:
            continue
        leg = data.distances[i, j]
        bit = data.bit_of[i, j]
        for p in range(layer.first[i], layer.last[i]):
            way = labels.length[p] + leg
            if way > limit:
                break  # labels with the same last client are sorted by length
            if bit >= 0 and (labels.memory[p] >> bit) & 1:
                continue
            if values[int(way * per_step)] - labels.prize[p] - prizes[j] >= below:
                continue
            if found == len(ways.parent):
                ways = _twice_the_memory(ways)
            ways.parent[found], ways.length[found] = p, way
            found += 1
    return ways, found


@njit()
def _twice_the_memory(ways: Ways) -> Ways:
    return Ways(
        np.append(ways.parent, np.empty_like(ways.parent)),
        np.append(ways.length, np.empty_like(ways.length)),
    )


@njit()
def _most_promising(
    labels: PathLabels, values: FloatArray, reach: float, ways: Ways, found: int, width: int
) -> int:
    """Move the ways with the lowest values, if completed best, to the front."""
    scores = np.empty(found)
    per_step = (len(values) - 1) / reach
    for t in range(found):
        p = ways.parent[t]
        scores[t] = values[int(ways.length[t] * per_step)] - (labels.prize[p] if p >= 0 else 0.0)
    chosen = np.argsort(scores)[:width]
    ways.parent[:width], ways.length[:width] = ways.parent[chosen], ways.length[chosen]
    return width


@njit()
def _undominated(
    task: PricingTask,
    labels: PathLabels,
    richest: NDArray[np.int32],
    ways: Ways,
    found: int,
    j: int,
    used: int,
) -> tuple[int, bool]:
    """Labels at j for the ways that no other way beats in every respect, shortest first.

    Returns the number of labels used then, and whether all of them had room.
    """
    kept = 0
    for t in np.argsort(ways.length[:found]):
        p = ways.parent[t]
        prize, memory = task.prizes[j], np.int16(1)
        if p >= 0:
            prize += labels.prize[p]
            memory = task.data.remap[labels.client[p], j, labels.memory[p]]
        dominated = False
        for s in range(kept):  # all of them are as short: is one as rich, and as free to continue?
            other = richest[s]
            if labels.prize[other] < prize:
                break
            if labels.memory[other] & memory == labels.memory[other]:
                dominated = True
                break
        if dominated:
            continue
        if used == len(labels.length):
            return used, False
        labels.client[used], labels.parent[used] = j, p
        labels.length[used], labels.prize[used] = ways.length[t], prize
        labels.memory[used] = memory
        s = kept
        while s > 0 and labels.prize[richest[s - 1]] < prize:
            richest[s] = richest[s - 1]
            s -= 1
        richest[s] = used
        kept += 1
        used += 1
    return used, True


@njit()
def _trace(labels: PathLabels, label: int, route: IntArray) -> None:
    """The clients of a label in visiting order, padded with 0."""
    length = 0
    p = label
    while p >= 0:
        length += 1
        p = labels.parent[p]
    while label >= 0:
        length -= 1
        route[length] = labels.client[label]
        label = labels.parent[label]
