"""The compiled step that the schedule repeats: ruin and recreate, then polish."""

from __future__ import annotations

from numba import njit

from flexpress.planning.search.costs import cost_if, keep_if_best, price
from flexpress.planning.search.polish import polish
from flexpress.planning.search.records import (
    FLAGS,
    Records,
    Weights,
    accepts,
    index,
    part,
    random_below,
)
from flexpress.planning.search.recreate import recreate, sort_removed, undo
from flexpress.planning.search.rings import measure
from flexpress.planning.search.ruin import ruin

_EXCHANGE_EVERY = index(16)


@part
def _swap_owners(tours: Records, a: int, b: int) -> None:
    x, y = tours[a], tours[b]
    x.time_per_metre, y.time_per_metre = y.time_per_metre, x.time_per_metre
    x.time_per_client, y.time_per_client = y.time_per_client, x.time_per_client
    x.energy_per_metre, y.energy_per_metre = y.energy_per_metre, x.energy_per_metre
    x.energy_per_client, y.energy_per_client = y.energy_per_client, x.energy_per_client
    x.budgets, y.budgets = y.budgets, x.budgets
    x.owner, y.owner = y.owner, x.owner


@part
def _exchange_tours(
    tours: Records, search: Records, weights: Weights, slope: float, temperature: float
) -> float:
    """Let two transporters fly each other's tours, if Metropolis' rule agrees; the rise in cost."""
    a = random_below(search, tours.shape[0])
    b = random_below(search, tours.shape[0])
    if a == b:
        return 0.0
    _swap_owners(tours, a, b)
    cost_a = cost_if(tours, weights, a, tours[a].length, tours[a].count)
    cost_b = cost_if(tours, weights, b, tours[b].length, tours[b].count)
    rise = cost_a + cost_b - tours[a].cost - tours[b].cost
    if not accepts(search, rise * slope, temperature):
        _swap_owners(tours, a, b)
        return 0.0
    tours[a].cost = cost_a
    tours[b].cost = cost_b
    return rise


@njit(cache=True, nogil=True, **FLAGS)
def anneal(
    nodes: Records,
    matrix: Records,
    tours: Records,
    neighbours: Records,
    near: Records,
    removals: Records,
    asked: Records,
    paths: Records,
    travelled: Records,
    returned: Records,
    buffer: Records,
    search: Records,
    weights: Weights,
    temperature: float,
    ruins: int,
    proposals: int,
    unequal: bool,
) -> None:
    """Ruin and recreate `ruins` times at this temperature, then polish; keep the best.

    It is compiled once for matrices, and once for many clients in the plane, where `matrix` is
    None: a test at every distance would take a quarter more time. The arrays are separate
    arguments: as one tuple they would cost a tenth more, for counting references.
    """
    num_clients = neighbours.shape[0]
    pause = num_clients // 64  # copying takes N steps: not at every small gain
    wait = 0
    total = measure(nodes, matrix, tours, weights)
    keep_if_best(nodes, tours, search, weights)
    slope = price(weights, total)
    for _ in range(ruins):
        if unequal and random_below(search, _EXCHANGE_EVERY) == 0:
            total += _exchange_tours(tours, search, weights, slope, temperature)
        for k in range(tours.shape[0]):
            tours[k].old_cost = tours[k].cost
            tours[k].old_length = tours[k].length
            tours[k].ruined = 0
        taken = ruin(nodes, matrix, tours, neighbours, removals, search, weights)
        sort_removed(nodes, matrix, removals, search, num_clients, taken)
        recreate(nodes, matrix, tours, neighbours, near, removals, asked, search, weights, taken)
        new_total = 0.0
        for k in range(tours.shape[0]):
            new_total += tours[k].cost
        wait -= 1
        if not accepts(search, (new_total - total) * slope, temperature):
            undo(nodes, matrix, tours, removals, taken)
            continue
        total = new_total
        slope = price(weights, total)
        if wait < 0 and keep_if_best(nodes, tours, search, weights):
            wait = pause
    if proposals > 0:
        polish(
            nodes,
            matrix,
            tours,
            neighbours,
            paths,
            travelled,
            returned,
            buffer,
            search,
            weights,
            proposals,
        )
    keep_if_best(nodes, tours, search, weights)
