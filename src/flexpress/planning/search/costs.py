"""What a tour costs while searching, and what the plan really costs."""

from __future__ import annotations

import math

import numpy as np

from flexpress.planning.problem import BUDGET_TOLERANCE
from flexpress.planning.search.records import MINMAX, SWS, TOTAL, Records, Weights, part
from flexpress.scenario.physics import ROUNDING_GUARD


@part
def distance(nodes: Records, matrix: Records, i: int, j: int) -> float:
    """Metres from node i to node j: in a straight line if there is no matrix.

    Indices are unsigned: else Numba would test whether they are negative.
    """
    if matrix is None:
        dx = nodes[i].x - nodes[j].x
        dy = nodes[i].y - nodes[j].y
        return math.sqrt(dx * dx + dy * dy)
    return matrix[np.uint64(i), np.uint64(j)]


@part
def _slots(weights: Weights, round_trip: float) -> float:
    """Whole slots of a round trip, as `physics.slots` counts them."""
    return math.ceil(round_trip / weights.slot * (1.0 - ROUNDING_GUARD))


@part
def cost_if(tours: Records, weights: Weights, k: int, length: float, count: int) -> float:
    """The cost of tour k if it had this length and number of clients.

    A tour over its budget counts as if it took longer. Slots are added to seconds, which lead
    downhill where slots are equal. For `minmax` the sum of
    (Delta_k / unit)^(2^doublings) replaces the maximum, so that every tour matters, the longest
    by far the most.
    """
    tour = tours[k]
    round_trip = tour.time_per_metre * length + tour.time_per_client * count
    excess = tour.energy_per_metre * length + tour.energy_per_client * count - tour.budgets
    if excess > BUDGET_TOLERANCE * tour.budgets:
        round_trip += weights.penalty * (excess + weights.step)
    if weights.slot > 0.0:
        stairs = weights.slot * _slots(weights, round_trip)
        if weights.objective == SWS:
            return count * (round_trip * round_trip + weights.steps * stairs * stairs)
        return round_trip + weights.steps * stairs
    if weights.objective == SWS:
        return count * round_trip * round_trip
    if weights.objective == TOTAL:
        return round_trip
    power = min(round_trip * weights.per_time_unit, 3.9)  # 3.9^512 is still a number
    for _ in range(weights.doublings):
        power *= power
    return power


@part
def price(weights: Weights, total: float) -> float:
    """Change of the objective per change of the summed costs: 1, but for `minmax` the slope of

    unit * total^(1/p), the p-norm of the round trips, with p = 2^doublings.
    """
    if weights.objective != MINMAX or total == 0.0:
        return 1.0
    root = total
    for _ in range(weights.doublings):
        root = math.sqrt(root)
    return root / (weights.per_time_unit * total * 2.0**weights.doublings)


@part
def _true_cost(tours: Records, weights: Weights) -> tuple[float, float]:
    """The objective itself, infinite if a budget is exceeded; and the same in seconds."""
    worst = 0.0
    total = 0.0
    slots = 0.0
    for k in range(tours.shape[0]):
        tour = tours[k]
        round_trip = tour.time_per_metre * tour.length + tour.time_per_client * tour.count
        energy = tour.energy_per_metre * tour.length + tour.energy_per_client * tour.count
        if energy > tour.budgets * (1.0 + BUDGET_TOLERANCE):
            return math.inf, math.inf
        worst = max(worst, round_trip)
        sws = weights.objective == SWS
        total += tour.count * round_trip * round_trip if sws else round_trip
        if weights.slot > 0.0:
            own = _slots(weights, round_trip)
            slots += tour.count * own * own if sws else own
    seconds = worst if weights.objective == MINMAX else total
    return (slots if weights.slot > 0.0 else seconds), seconds


@part
def keep_if_best(nodes: Records, tours: Records, search: Records, weights: Weights) -> bool:
    """Keep the plan if it has a lower cost, or the same in slots and a lower one in seconds."""
    cost, seconds = _true_cost(tours, weights)
    best = search[0].best_cost * (1.0 - 1e-12)
    shorter = seconds < search[0].best_seconds * (1.0 - 1e-12)
    if cost >= best and not (weights.slot > 0.0 and cost == search[0].best_cost and shorter):
        return False
    search[0].best_cost = cost
    search[0].best_seconds = seconds
    for i in range(nodes.shape[0]):
        nodes[i].best_next = nodes[i].next
    for k in range(tours.shape[0]):
        tours[k].best_owner = tours[k].owner
    return True
