"""Pricing: the cheapest tours for given prizes, among ng-routes, by labels in Numba.

An ng-route may visit a client again once it has left that client's neighbourhood: a relaxation of
tours that keeps the labels few (Baldacci, Mingozzi, Roberti, Operations Research 59(5), 2011). A
label is a path from the server: its last client, its length, the prizes collected, and which
neighbours of the last client it must not visit again. Labels are compared with others of the same
number of clients R only, so that dominance holds for every cost that grows with the length.

What prunes most is a table of completions: the most prizes that any way home can collect, by its
number of clients and its length. Whatever stays above the best known value is dropped.

All compiled code of the bound is in this file: Numba's cache on disk notices changes in the file of
the cached function only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from flexpress.arrays import FloatArray, IntArray

SetArray = NDArray[np.uint64]

FREE, TOTAL, SWS = 0, 1, 2
"""What a tour of R clients and round trip T costs: nothing, T, R T^2."""


class Ground(NamedTuple):
    """What all tours share."""

    distances: FloatArray  # (nodes, nodes)
    home: FloatArray  # (nodes,), length of the shortest way to the server
    bit_of: NDArray[np.int8]  # (nodes, nodes): the bit that stands for j in i's memory, or -1
    remap: NDArray[np.int16]  # (nodes, nodes, memories): i's memory as j has it, j added


class Flyer(NamedTuple):
    """What tours of one kind of transporter cost, and how long they may be."""

    cost: int
    time_per_metre: float
    time_per_client: float
    longest: FloatArray  # (most + 1,), metres that a tour of R clients may have, falling in R
    reach: float  # the largest of these


class Labels(NamedTuple):
    """Room for the labels of all layers."""

    client: NDArray[np.int16]
    parent: NDArray[np.int32]
    length: FloatArray
    prize: FloatArray
    memory: NDArray[np.int16]


@njit(cache=True)
def tour_cost(flyer: Flyer, count: int, length: float) -> float:
    round_trip = flyer.time_per_metre * length + flyer.time_per_client * count
    if flyer.cost == TOTAL:
        return round_trip
    if flyer.cost == SWS:
        return count * round_trip * round_trip
    return 0.0


@njit(cache=True)
def most_prizes(ground: Ground, flyer: Flyer, prizes: FloatArray, steps: int) -> FloatArray:
    """Entry (r, j, q): the most prizes on a way from j through r clients home, at most q steps.

    Each leg is rounded down to whole steps, and clients may be visited again, but not at once
    (i -> j -> i): more than any tour collects. For this the best way from j is kept together with
    its first client, and the best one that begins with another.
    """
    nodes, most = len(prizes), len(flyer.longest) - 1
    best = np.full((most, nodes, steps), -np.inf)
    first = np.zeros((nodes, steps), np.int16)
    second = np.full((nodes, steps), -np.inf)
    legs = np.minimum(ground.distances / flyer.reach * steps, steps).astype(np.int64)
    for j in range(1, nodes):
        best[0, j, legs[j, 0] :] = 0.0
    for r in range(1, most):
        new_first = np.zeros((nodes, steps), np.int16)
        new_second = np.full((nodes, steps), -np.inf)
        for j in range(1, nodes):
            row, others, begins = best[r, j], new_second[j], new_first[j]
            for i in range(1, nodes):
                if i == j:
                    continue
                leg = legs[j, i]
                for q in range(leg, steps):
                    value = best[r - 1, i, q - leg]
                    if first[i, q - leg] == j:
                        value = second[i, q - leg]
                    value += prizes[i]
                    if value > row[q]:
                        others[q] = row[q]
                        row[q] = value
                        begins[q] = i
                    elif value > others[q]:
                        others[q] = value
        first, second = new_first, new_second
    return best


@njit(cache=True, fastmath={"nnan", "nsz", "contract", "reassoc"})
def completion_values(flyer: Flyer, table: FloatArray, count: int, values: FloatArray) -> None:
    """Entry (j, u): the least cost - prizes of a tour that reaches j as client `count` on u steps.

    The prizes up to j are not counted. All lengths are rounded down, so that the values are too low
    and never too high. The steps of u are twice as long as those of the table.
    """
    steps, coarse = table.shape[2], values.shape[1]
    step = flyer.reach / steps
    values[:] = np.inf
    for total in range(count, len(flyer.longest)):
        most = int(min(flyer.longest[total] / step, steps - 1))
        stay = flyer.time_per_client * total
        for j in range(1, table.shape[1]):
            row = table[total - count, j]
            if row[steps - 1] < 0.0:
                continue
            for u in range(coarse):
                left = most - 2 * u
                if left < 0:
                    break
                low = np.inf
                time = stay + flyer.time_per_metre * step * 2 * u
                if flyer.cost == FREE:
                    low = -row[left]
                elif flyer.cost == TOTAL:
                    for q in range(left + 1):
                        low = min(low, time + flyer.time_per_metre * step * q - row[q])
                else:
                    for q in range(left + 1):
                        longer = time + flyer.time_per_metre * step * q
                        low = min(low, total * longer * longer - row[q])
                values[j, u] = min(values[j, u], low)


@njit(cache=True)
def price(
    ground: Ground,
    flyer: Flyer,
    prizes: FloatArray,
    labels: Labels,
    width: int,
    steps: int,
    below: float,
    num_routes: int,
) -> tuple[float, bool, IntArray, int]:
    """The least cost - prizes of all tours, if under `below`; whether it is proven; routes; labels.

    `width` > 0 keeps only so many labels per layer and client, the most promising: then nothing is
    proven, nor if there is no room for all labels. Routes are padded with 0 to the longest.
    """
    nodes, most = len(prizes), len(flyer.longest) - 1
    table = most_prizes(ground, flyer, prizes, steps)
    values = np.empty((nodes, steps // 2 + 1))
    best = np.full((most + 1, nodes), np.inf)
    best_label = np.zeros((most + 1, nodes), np.int64)
    start, end = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    parents, ways = np.empty(1024, np.int64), np.empty(1024)
    richest = np.empty(len(labels.length), np.int32)
    proven = width == 0
    used = 0
    for count in range(1, most + 1):
        completion_values(flyer, table, count, values)
        first = used
        new_start, new_end = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
        for j in range(1, nodes):
            new_start[j] = used
            parents, ways, found = extend(
                ground, flyer, prizes, labels, values[j], below, start, end, count, j, parents, ways
            )
            if 0 < width < found:
                found = most_promising(labels, values[j], flyer.reach, parents, ways, found, width)
            used, complete = undominated(
                ground, prizes, labels, richest, parents[:found], ways[:found], j, used
            )
            proven &= complete
            new_end[j] = used
            for p in range(new_start[j], used):
                way = labels.length[p] + ground.distances[j, 0]
                if way <= flyer.longest[count]:
                    value = tour_cost(flyer, count, way) - labels.prize[p]
                    if value < best[count, j]:
                        best[count, j] = value
                        best_label[count, j] = p
        start, end = new_start, new_end
        if used == first:
            break
    ranks = np.argsort(best.ravel())
    routes = np.zeros((num_routes, most), np.int64)
    for t in range(min(num_routes, len(ranks))):
        if best.ravel()[ranks[t]] < below:
            trace(labels, best_label.ravel()[ranks[t]], routes[t])
    return min(best.min(), below), proven, routes, used


@njit(cache=True)
def extend(
    ground: Ground,
    flyer: Flyer,
    prizes: FloatArray,
    labels: Labels,
    values: FloatArray,
    below: float,
    start: IntArray,
    end: IntArray,
    count: int,
    j: int,
    parents: IntArray,
    ways: FloatArray,
) -> tuple[IntArray, FloatArray, int]:
    """All ways to j as client `count` that may still become tours under `below`: parent, length."""
    found = 0
    limit = flyer.longest[count] - ground.home[j]
    per_step = (len(values) - 1) / flyer.reach
    if count == 1:
        way = ground.distances[0, j]
        if way <= limit and values[int(way * per_step)] - prizes[j] < below:
            parents[0], ways[0] = -1, way
            found = 1
        return parents, ways, found
    for i in range(1, len(prizes)):
        if i == j:
            continue
        leg = ground.distances[i, j]
        bit = ground.bit_of[i, j]
        for p in range(start[i], end[i]):
            way = labels.length[p] + leg
            if way > limit:
                break  # labels with the same last client are sorted by length
            if bit >= 0 and (labels.memory[p] >> bit) & 1:
                continue
            if values[int(way * per_step)] - labels.prize[p] - prizes[j] >= below:
                continue
            if found == len(parents):
                parents = np.append(parents, np.empty_like(parents))
                ways = np.append(ways, np.empty_like(ways))
            parents[found], ways[found] = p, way
            found += 1
    return parents, ways, found


@njit(cache=True)
def most_promising(
    labels: Labels,
    values: FloatArray,
    reach: float,
    parents: IntArray,
    ways: FloatArray,
    found: int,
    width: int,
) -> int:
    """Move those with the lowest values, if completed at best, to the front."""
    scores = np.empty(found)
    per_step = (len(values) - 1) / reach
    for t in range(found):
        p = parents[t]
        scores[t] = values[int(ways[t] * per_step)] - (labels.prize[p] if p >= 0 else 0.0)
    chosen = np.argsort(scores)[:width]
    parents[:width], ways[:width] = parents[chosen], ways[chosen]
    return width


@njit(cache=True)
def undominated(
    ground: Ground,
    prizes: FloatArray,
    labels: Labels,
    richest: NDArray[np.int32],
    parents: IntArray,
    ways: FloatArray,
    j: int,
    used: int,
) -> tuple[int, bool]:
    """Labels at j for those ways that no other is better than in every respect, shortest first.

    Returns how much room is used then, and whether it was enough.
    """
    kept = 0
    for t in np.argsort(ways):
        p = parents[t]
        prize, memory = prizes[j], np.int16(1)
        if p >= 0:
            prize += labels.prize[p]
            memory = ground.remap[labels.client[p], j, labels.memory[p]]
        dominated = False
        for s in range(kept):  # all of them are as short: is one as rich, and as free to go on?
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
        labels.length[used], labels.prize[used] = ways[t], prize
        labels.memory[used] = memory
        s = kept
        while s > 0 and labels.prize[richest[s - 1]] < prize:
            richest[s] = richest[s - 1]
            s -= 1
        richest[s] = used
        kept += 1
        used += 1
    return used, True


@njit(cache=True)
def trace(labels: Labels, label: int, route: IntArray) -> None:
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


class Paths(NamedTuple):
    """Room for paths from the server that visit no client twice.

    A set of clients is an integer whose bit i - 1 stands for client i: at most 64 of them.
    """

    clients: SetArray
    last: NDArray[np.int16]
    length: FloatArray
    prize: FloatArray


@njit(cache=True)
def enumerate_tours(
    ground: Ground, flyer: Flyer, prizes: FloatArray, steps: int, below: float, room: int
) -> tuple[SetArray, FloatArray, bool]:
    """All sets of clients whose shortest tour has cost - prizes below this; whether they are all.

    Paths with the same clients and the same end are kept once, the shortest.
    """
    table = most_prizes(ground, flyer, prizes, steps)
    values = np.empty((len(prizes), steps // 2 + 1))
    paths, longer = room_for_paths(room), room_for_paths(room)
    sets, lengths = np.empty(room, np.uint64), np.empty(room)
    paths.clients[0], paths.last[0], paths.length[0], paths.prize[0] = 0, 0, 0.0, 0.0
    known, found = 1, 0
    for count in range(1, len(flyer.longest)):
        completion_values(flyer, table, count, values)
        new = lengthen(ground, flyer, prizes, values, below, count, paths, known, longer)
        if new > room:
            return sets[:0], lengths[:0], False
        known = keep_shortest(longer, new, paths, len(prizes))
        found = close(ground, flyer, below, count, paths, known, sets, lengths, found)
        if found > room:
            return sets[:0], lengths[:0], False
    return sets[:found].copy(), lengths[:found].copy(), True


@njit(cache=True)
def room_for_paths(room: int) -> Paths:
    return Paths(
        np.empty(room, np.uint64), np.empty(room, np.int16), np.empty(room), np.empty(room)
    )


@njit(cache=True)
def lengthen(
    ground: Ground,
    flyer: Flyer,
    prizes: FloatArray,
    values: FloatArray,
    below: float,
    count: int,
    paths: Paths,
    known: int,
    longer: Paths,
) -> int:
    """Paths with one client more, `count`, that may still become tours below this: how many.

    More than there is room for, if they do not fit.
    """
    new, room = 0, len(longer.length)
    per_step = (values.shape[1] - 1) / flyer.reach
    for p in range(known):
        for j in range(1, len(prizes)):
            bit = np.uint64(1) << np.uint64(j - 1)
            way = paths.length[p] + ground.distances[paths.last[p], j]
            if paths.clients[p] & bit or way > flyer.longest[count] - ground.home[j]:
                continue
            prize = paths.prize[p] + prizes[j]
            if values[j, int(way * per_step)] - prize >= below:
                continue
            if new == room:
                return room + 1
            longer.clients[new], longer.last[new] = paths.clients[p] | bit, j
            longer.length[new], longer.prize[new] = way, prize
            new += 1
    return new


@njit(cache=True)
def keep_shortest(paths: Paths, known: int, kept: Paths, nodes: int) -> int:
    """Of paths with the same clients and the same end the shortest, by clients: how many."""
    order = np.argsort(paths.clients[:known])
    shortest = np.full(nodes, np.inf)
    num_kept, t = 0, 0
    while t < known:
        first = order[t]
        while t < known and paths.clients[order[t]] == paths.clients[first]:
            p = order[t]
            shortest[paths.last[p]] = min(shortest[paths.last[p]], paths.length[p])
            t += 1
        for j in range(1, nodes):
            if shortest[j] < np.inf:
                kept.clients[num_kept], kept.last[num_kept] = paths.clients[first], j
                kept.length[num_kept], kept.prize[num_kept] = shortest[j], paths.prize[first]
                num_kept += 1
                shortest[j] = np.inf
    return num_kept


@njit(cache=True)
def close(
    ground: Ground,
    flyer: Flyer,
    below: float,
    count: int,
    paths: Paths,
    known: int,
    sets: SetArray,
    lengths: FloatArray,
    found: int,
) -> int:
    """Add the sets that paths of `count` clients, sorted by them, make tours of: how many in all.

    More than there is room for, if they do not fit.
    """
    closed = np.inf
    for p in range(known):
        closed = min(closed, paths.length[p] + ground.distances[paths.last[p], 0])
        if p + 1 < known and paths.clients[p + 1] == paths.clients[p]:
            continue
        value = tour_cost(flyer, count, closed) - paths.prize[p]
        if closed <= flyer.longest[count] and value < below:
            if found == len(sets):
                return found + 1
            sets[found], lengths[found] = paths.clients[p], closed
            found += 1
        closed = np.inf
    return found
