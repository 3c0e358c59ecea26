"""Polish: 2-opt within a tour and 2-opt* between two, downhill only.

For this the rings are laid out as paths with the way travelled so far, so that the length of any
recombination of two tours is known at once.
"""

from __future__ import annotations

from flexpress.planning.search.costs import cost_if, distance
from flexpress.planning.search.records import Records, Weights, part, random_below

NEAR = 8
"""Edges are tried to so many of the nearest neighbours."""

GAIN = 1e-9
"""Relative: what is gained less is rounding."""


@part
def lay_out(nodes: Records, tours: Records, paths: Records, travelled: Records) -> None:
    """The rings as paths: clients 1..R of tour k in row k, the server at both ends."""
    num_clients = nodes.shape[0] - tours.shape[0]
    for k in range(tours.shape[0]):
        i = num_clients + k
        for place in range(tours[k].count + 1):
            paths[k, place] = i
            i = nodes[i].next
        travelled[k, 0] = 0.0
        retrace(nodes, tours, paths, travelled, k, 1)


@part
def retrace(
    nodes: Records, tours: Records, paths: Records, travelled: Records, k: int, first: int
) -> None:
    """Links, places and the way travelled on tour k, anew from place `first` on."""
    num_clients = nodes.shape[0] - tours.shape[0]
    paths[k, tours[k].count + 1] = num_clients + k
    p = int(paths[k, first - 1])
    way = travelled[k, first - 1]
    for place in range(first, tours[k].count + 2):
        i = int(paths[k, place])
        way += distance(nodes, p, i)
        travelled[k, place] = way
        nodes[p].next = i
        nodes[i].prev = p
        nodes[i].place = place
        nodes[i].tour = k
        p = i
    tours[k].length = way


@part
def reverse(
    nodes: Records,
    tours: Records,
    paths: Records,
    travelled: Records,
    weights: Weights,
    k: int,
    first: int,
    last: int,
) -> bool:
    """2-opt: fly places first..last of tour k the other way round, if that is shorter."""
    a, b = paths[k, first - 1], paths[k, first]
    c, d = paths[k, last], paths[k, last + 1]
    longer = distance(nodes, a, c) + distance(nodes, b, d)
    longer -= distance(nodes, a, b) + distance(nodes, c, d)
    if longer >= -GAIN * tours[k].length:
        return False
    for t in range((last - first + 1) // 2):
        paths[k, first + t], paths[k, last - t] = paths[k, last - t], paths[k, first + t]
    retrace(nodes, tours, paths, travelled, k, first)
    tours[k].cost = cost_if(tours, weights, k, tours[k].length, tours[k].count)
    return True


@part
def cross(
    nodes: Records,
    tours: Records,
    paths: Records,
    travelled: Records,
    buffer: Records,
    weights: Weights,
    a: int,
    i: int,
    b: int,
    j: int,
    turned: bool,
) -> bool:
    """2-opt*: join place i of tour a to place j of tour b and what is left over to each other.

    Straight: a keeps 1..i and goes on with b's j..; b keeps ..j-1 and goes on with a's i+1...
    Turned: a keeps 1..i and goes home by b's j..1; b gets what is left of both, a's part reversed.
    """
    count_a, count_b = tours[a].count, tours[b].count
    home_a = tours[a].length - travelled[a, i + 1]  # from place i + 1 on
    joint = travelled[a, i] + distance(nodes, paths[a, i], paths[b, j])
    if turned:
        new_a = i + j
        length_a = joint + travelled[b, j]
        length_b = home_a + distance(nodes, paths[a, i + 1], paths[b, j + 1])
        length_b += tours[b].length - travelled[b, j + 1]
    else:
        new_a = i + count_b - j + 1
        length_a = joint + tours[b].length - travelled[b, j]
        length_b = travelled[b, j - 1] + distance(nodes, paths[b, j - 1], paths[a, i + 1]) + home_a
    new_b = count_a + count_b - new_a
    cost_a = cost_if(tours, weights, a, length_a, new_a)
    cost_b = cost_if(tours, weights, b, length_b, new_b)
    old = tours[a].cost + tours[b].cost
    if cost_a + cost_b >= old - GAIN * abs(old):
        return False
    # The new tour b goes to the buffer, the new end of tour a in place, then b over.
    if turned:
        for t in range(new_b):
            buffer[t] = (
                paths[a, count_a - t] if t < count_a - i else paths[b, j + 1 + t - count_a + i]
            )
        for t in range(j):
            paths[a, i + 1 + t] = paths[b, j - t]
    else:
        for t in range(new_b):
            buffer[t] = paths[b, 1 + t] if t < j - 1 else paths[a, i + 1 + t - j + 1]
        for t in range(count_b - j + 1):
            paths[a, i + 1 + t] = paths[b, j + t]
    for t in range(new_b):
        paths[b, 1 + t] = buffer[t]
    tours[a].count = new_a
    tours[b].count = new_b
    tours[a].cost = cost_a
    tours[b].cost = cost_b
    retrace(nodes, tours, paths, travelled, a, i + 1)
    retrace(nodes, tours, paths, travelled, b, 1)
    return True


@part
def polish(
    nodes: Records,
    tours: Records,
    neighbours: Records,
    paths: Records,
    travelled: Records,
    buffer: Records,
    search: Records,
    weights: Weights,
    proposals: int,
) -> None:
    """Try so many random edges between a client and a near neighbour; keep those that pay."""
    lay_out(nodes, tours, paths, travelled)
    near = min(NEAR, neighbours.shape[1])
    for _ in range(proposals):
        i = random_below(search, neighbours.shape[0])
        j = int(neighbours[i, random_below(search, near)])
        a, b = nodes[i].tour, nodes[j].tour
        turned = random_below(search, 2) == 1
        if a != b:
            place_i, place_j = nodes[i].place, nodes[j].place
            cross(nodes, tours, paths, travelled, buffer, weights, a, place_i, b, place_j, turned)
            continue
        first = min(nodes[i].place, nodes[j].place) + (0 if turned else 1)
        last = max(nodes[i].place, nodes[j].place) - (1 if turned else 0)
        if first < last:
            reverse(nodes, tours, paths, travelled, weights, a, first, last)
