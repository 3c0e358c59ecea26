"""Remove clients from rings and insert them."""

from __future__ import annotations

from flexpress.planning.search.costs import cost_if, distance
from flexpress.planning.search.records import Records, Weights, part


@part
def unlink(nodes: Records, matrix: Records, tours: Records, i: int) -> None:
    """Remove client i from its ring."""
    p, n, k = nodes[i].prev, nodes[i].next, nodes[i].tour
    gap = distance(nodes, matrix, p, n)
    tours[k].length += gap - nodes[p].leg - nodes[i].leg
    tours[k].count -= 1
    if tours[k].count == 0:
        tours[k].length = 0.0
    nodes[p].next = n
    nodes[n].prev = p
    nodes[p].leg = gap
    nodes[i].tour = -1


@part
def link(nodes: Records, matrix: Records, tours: Records, i: int, p: int) -> None:
    """Insert client i into the ring behind node p."""
    k, n = nodes[p].tour, nodes[p].next
    before = distance(nodes, matrix, p, i)
    after = distance(nodes, matrix, i, n)
    tours[k].length += before + after - nodes[p].leg
    tours[k].count += 1
    nodes[p].next = i
    nodes[i].prev = p
    nodes[i].next = n
    nodes[n].prev = i
    nodes[p].leg = before
    nodes[i].leg = after
    nodes[i].tour = k


@part
def measure(nodes: Records, matrix: Records, tours: Records, weights: Weights) -> float:
    """Compute lengths and costs from the links, so that rounding does not add up; total cost."""
    num_clients = nodes.shape[0] - tours.shape[0]
    total = 0.0
    for k in range(tours.shape[0]):
        length = 0.0
        count = -1
        i = num_clients + k
        while count < 0 or i < num_clients:
            n = nodes[i].next
            nodes[i].leg = distance(nodes, matrix, i, n)
            length += nodes[i].leg
            count += 1
            i = n
        tours[k].length = length
        tours[k].count = count
        tours[k].cost = cost_if(tours, weights, k, length, count)
        total += tours[k].cost
    return total
