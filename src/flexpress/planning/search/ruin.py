"""Ruin: remove strings of clients that lie close together.

After Christiaens & Vanden Berghe, "Slack Induction by String Removals for Vehicle Routing
Problems", Transportation Science 54(2), 2020. Differs: strings may pass the server, and a long tour
may lose several.
"""

from __future__ import annotations

from flexpress.planning.search.costs import cost_if
from flexpress.planning.search.records import (
    MINMAX,
    Records,
    Weights,
    index,
    part,
    random_below,
    random_unit,
)
from flexpress.planning.search.rings import unlink

_RUINED_MEAN, _RUINED_LEAST = 14.0, 8.0
"""Clients removed in one step: about a quarter of all, within these limits."""

_LONGEST_STRING, _SHORT_TOUR = 12.0, 5.0
_LONGEST_GAP = 8
_LONG_TOUR = 30
"""A tour with more clients may lose more than one string in a step."""


@part
def _first_client(nodes: Records, tours: Records, search: Records, objective: int) -> int:
    """Where to ruin: anywhere, but for `minmax` in the costliest tour one time in four."""
    num_clients = nodes.shape[0] - tours.shape[0]
    i = random_below(search, num_clients)
    if objective != MINMAX or random_below(search, index(4)) > 0:
        return i
    worst = 0
    for k in range(1, tours.shape[0]):
        if tours[k].cost > tours[worst].cost:
            worst = k
    for _ in range(16):
        if nodes[i].tour == worst:
            break
        i = random_below(search, num_clients)
    return i


@part
def _neighbour_in_ring(nodes: Records, num_clients: int, i: int, forward: bool) -> int:
    """The next client in this direction; the server is skipped."""
    i = nodes[i].next if forward else nodes[i].prev
    if i >= num_clients:
        i = nodes[i].next if forward else nodes[i].prev
    return i


@part
def _longest_string(num_clients: int, num_tours: int) -> float:
    """No string is longer than a tour of mean size, unless tours are very short."""
    return min(_LONGEST_STRING, max(_SHORT_TOUR, num_clients / num_tours))


@part
def _take_string(
    nodes: Records,
    matrix: Records,
    tours: Records,
    removals: Records,
    search: Records,
    i: int,
    taken: int,
) -> int:
    """Remove a string of clients around client i from its ring, every second time with a gap."""
    num_clients = nodes.shape[0] - tours.shape[0]
    count = int(tours[nodes[i].tour].count)
    longest = min(_longest_string(num_clients, tours.shape[0]), float(count))
    size = min(int(random_unit(search) * longest) + 1, count)
    gap = 0
    gap_at = -1
    if 1 < size < count and random_below(search, index(2)) == 0:
        gap = min(1 + random_below(search, index(_LONGEST_GAP)), count - size)
        gap_at = 1 + random_below(search, size - 1)
    for _ in range(random_below(search, size + gap)):
        i = _neighbour_in_ring(nodes, num_clients, i, False)
    for t in range(size):
        if t == gap_at:
            for _ in range(gap):
                i = _neighbour_in_ring(nodes, num_clients, i, True)
        following = _neighbour_in_ring(nodes, num_clients, i, True)
        removals[taken].client = i
        removals[taken].before = nodes[i].prev
        unlink(nodes, matrix, tours, i)
        taken += 1
        i = following
    return taken


@part
def ruin(
    nodes: Records,
    matrix: Records,
    tours: Records,
    neighbours: Records,
    removals: Records,
    search: Records,
    weights: Weights,
) -> int:
    """Remove strings of clients that lie close together; how many clients."""
    longest = _longest_string(neighbours.shape[0], tours.shape[0])
    mean = min(_RUINED_MEAN, max(_RUINED_LEAST, neighbours.shape[0] / 4))
    most = 4.0 * mean / (1.0 + longest) - 1.0
    strings = int(random_unit(search) * most) + 1
    seed = _first_client(nodes, tours, search, weights.objective)
    taken = index(0)
    i = seed
    for q in range(neighbours.shape[1] + 1):
        k = nodes[i].tour
        if k >= 0 and (tours[k].ruined == 0 or tours[k].count > _LONG_TOUR):
            tours[k].ruined = 1
            taken = _take_string(nodes, matrix, tours, removals, search, i, taken)
            strings -= 1
        if strings == 0 or q == neighbours.shape[1]:
            break
        i = index(neighbours[seed, q])
    for k in range(tours.shape[0]):
        if tours[k].ruined > 0:
            tours[k].cost = cost_if(tours, weights, k, tours[k].length, tours[k].count)
    return taken
