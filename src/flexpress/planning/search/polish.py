"""Polish: 2-opt within a tour and 2-opt* between two, downhill only.

The rings are laid out as paths with the way travelled so far, so that the length of any
recombination of two tours is known at once. The same holds for the way back. Without a matrix it is
as long: then `returned` is the same array as `travelled`.
"""

from __future__ import annotations

from flexpress.planning.search.costs import cost_if, distance
from flexpress.planning.search.records import Records, Weights, index, part, random_below

_NEAR = 8
"""Nearest neighbours to which edges are tried."""

_GAIN = 1e-9
"""Relative: a smaller gain is rounding."""


@part
def _lay_out(
    nodes: Records,
    matrix: Records,
    tours: Records,
    paths: Records,
    travelled: Records,
    returned: Records,
) -> None:
    """The rings as paths: clients 1..R of tour k in row k, the server at both ends."""
    num_clients = nodes.shape[0] - tours.shape[0]
    for k in range(tours.shape[0]):
        i = num_clients + k
        for place in range(tours[k].count + 1):
            paths[k, place] = i
            i = nodes[i].next
        travelled[k, 0] = 0.0
        returned[k, 0] = 0.0
        _retrace(nodes, matrix, tours, paths, travelled, returned, k, index(1))


@part
def _retrace(
    nodes: Records,
    matrix: Records,
    tours: Records,
    paths: Records,
    travelled: Records,
    returned: Records,
    k: int,
    first: int,
) -> None:
    """Compute links, places and the way travelled on tour k and back, from place `first` on."""
    num_clients = nodes.shape[0] - tours.shape[0]
    paths[k, tours[k].count + 1] = num_clients + k
    p = index(paths[k, first - 1])
    way = travelled[k, first - 1]
    back = returned[k, first - 1]
    for place in range(first, tours[k].count + 2):
        i = index(paths[k, place])
        way += distance(nodes, matrix, p, i)
        travelled[k, place] = way
        if matrix is not None:
            back += distance(nodes, matrix, i, p)
            returned[k, place] = back
        nodes[p].next = i
        nodes[i].prev = p
        nodes[i].place = place
        nodes[i].tour = k
        p = i
    tours[k].length = way


@part
def _reverse(
    nodes: Records,
    matrix: Records,
    tours: Records,
    paths: Records,
    travelled: Records,
    returned: Records,
    weights: Weights,
    k: int,
    first: int,
    last: int,
) -> bool:
    """2-opt: fly places first..last of tour k the other way round, if that is shorter."""
    a, b = index(paths[k, first - 1]), index(paths[k, first])
    c, d = index(paths[k, last]), index(paths[k, last + 1])
    longer = distance(nodes, matrix, a, c) + distance(nodes, matrix, b, d)
    longer -= distance(nodes, matrix, a, b) + distance(nodes, matrix, c, d)
    longer += returned[k, last] - returned[k, first] - (travelled[k, last] - travelled[k, first])
    if longer >= -_GAIN * tours[k].length:
        return False
    for t in range((last - first + 1) // 2):
        paths[k, first + t], paths[k, last - t] = paths[k, last - t], paths[k, first + t]
    _retrace(nodes, matrix, tours, paths, travelled, returned, k, first)
    tours[k].cost = cost_if(tours, weights, k, tours[k].length, tours[k].count)
    return True


@part
def _cross(
    nodes: Records,
    matrix: Records,
    tours: Records,
    paths: Records,
    travelled: Records,
    returned: Records,
    buffer: Records,
    weights: Weights,
    client: int,
    other: int,
    turned: bool,
) -> bool:
    """2-opt*: join two clients, at place i of tour a and place j of tour b, and the rest likewise.

    Straight: a keeps 1..i and continues with b's j..; b keeps ..j-1 and continues with a's i+1...
    Turned: a keeps 1..i and flies home by b's j..1; b gets the rest of both, a's part reversed.
    """
    a, i = nodes[client].tour, nodes[client].place
    b, j = nodes[other].tour, nodes[other].place
    count_a, count_b = tours[a].count, tours[b].count
    joint = travelled[a, i] + distance(nodes, matrix, client, other)
    if turned:
        new_a = i + j
        length_a = joint + returned[b, j]
        length_b = returned[a, count_a + 1] - returned[a, i + 1]
        length_b += distance(nodes, matrix, nodes[client].next, nodes[other].next)
        length_b += tours[b].length - travelled[b, j + 1]
    else:
        new_a = i + count_b - j + 1
        length_a = joint + tours[b].length - travelled[b, j]
        length_b = travelled[b, j - 1] + distance(
            nodes, matrix, nodes[other].prev, nodes[client].next
        )
        length_b += tours[a].length - travelled[a, i + 1]
    new_b = count_a + count_b - new_a
    cost_a = cost_if(tours, weights, a, length_a, new_a)
    cost_b = cost_if(tours, weights, b, length_b, new_b)
    old = tours[a].cost + tours[b].cost
    if cost_a + cost_b >= old - _GAIN * abs(old):
        return False
    # The new tour b goes to the buffer, the new end of tour a in place, then the buffer to b.
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
    _retrace(nodes, matrix, tours, paths, travelled, returned, a, i + 1)
    _retrace(nodes, matrix, tours, paths, travelled, returned, b, 1)
    return True


@part
def polish(
    nodes: Records,
    matrix: Records,
    tours: Records,
    neighbours: Records,
    paths: Records,
    travelled: Records,
    returned: Records,
    buffer: Records,
    search: Records,
    weights: Weights,
    proposals: int,
) -> None:
    """Try `proposals` random edges between a client and a near neighbour; keep those that pay."""
    _lay_out(nodes, matrix, tours, paths, travelled, returned)
    for k in range(tours.shape[0]):
        if tours[k].count > 1:
            _reverse(
                nodes,
                matrix,
                tours,
                paths,
                travelled,
                returned,
                weights,
                k,
                index(1),
                tours[k].count,
            )
    near = min(_NEAR, neighbours.shape[1])
    for _ in range(proposals):
        i = random_below(search, neighbours.shape[0])
        j = index(neighbours[i, random_below(search, near)])
        a, b = nodes[i].tour, nodes[j].tour
        turned = random_below(search, index(2)) == 1
        if a != b:
            _cross(nodes, matrix, tours, paths, travelled, returned, buffer, weights, i, j, turned)
            continue
        first = min(nodes[i].place, nodes[j].place) + (0 if turned else 1)
        last = max(nodes[i].place, nodes[j].place) - (1 if turned else 0)
        if first < last:
            _reverse(nodes, matrix, tours, paths, travelled, returned, weights, a, first, last)
