"""The table that prunes most: the most prizes that any way home can collect.

It is computed by number of clients and length. A path whose completion stays above the best known
value is dropped. Pricing and enumeration both use it, in Numba.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from flexpress.arrays import FloatArray
from flexpress.planning.bounds.pricing_data import (
    FREE,
    SLOTS_GUARD,
    SWS,
    TOTAL,
    PricingTask,
    TourRules,
)


@njit(cache=True)
def tour_cost(rules: TourRules, count: int, length: float) -> float:
    round_trip = rules.time_per_metre * length + rules.time_per_client * count
    if rules.slot > 0.0:
        round_trip = np.ceil(round_trip / rules.slot * (1 - SLOTS_GUARD))
    if rules.cost == TOTAL:
        return round_trip
    if rules.cost == SWS:
        return count * round_trip * round_trip
    return 0.0


@njit()
def most_prizes(task: PricingTask, steps: int) -> FloatArray:
    """Entry (r, j, q): the most prizes on a way from j through r clients home, at most q steps.

    Each leg is rounded down to whole steps, and clients may be visited again, but not at once
    (i -> j -> i): this is more than any tour collects. For this the best way from j is kept
    together with its first client, and so is the best one that begins with another client.
    """
    data, rules, prizes, _ = task
    nodes, most = len(prizes), len(rules.longest) - 1
    best = np.full((most, nodes, steps), -np.inf)
    first = np.zeros((nodes, steps), np.int16)
    second = np.full((nodes, steps), -np.inf)
    legs = np.minimum(data.distances / rules.reach * steps, steps).astype(np.int64)
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


@njit(fastmath={"nnan", "nsz", "contract", "reassoc"})
def _least_in_slots(
    rules: TourRules, prizes: FloatArray, time: float, step: float, total: int
) -> float:
    """The least cost - prizes of ways home of all lengths, if tours cost whole slots."""
    low = np.inf
    per_slot = (1 - SLOTS_GUARD) / rules.slot
    begun, per_step = time * per_slot, rules.time_per_metre * step * per_slot
    for q in range(len(prizes)):
        slots = np.ceil(begun + per_step * q)
        cost = total * slots * slots if rules.cost == SWS else slots
        low = min(low, cost - prizes[q])
    return low


@njit(fastmath={"nnan", "nsz", "contract", "reassoc"})
def completion_values(rules: TourRules, table: FloatArray, count: int, values: FloatArray) -> None:
    """Entry (j, u): the least cost - prizes of a tour that reaches j as client `count` on u steps.

    The prizes up to j are not counted. All lengths are rounded down, so a value may be too low but
    never too high. The steps of u are twice as long as those of the table.
    """
    steps, coarse = table.shape[2], values.shape[1]
    step = rules.reach / steps
    values[:] = np.inf
    for total in range(count, len(rules.longest)):
        most = int(min(rules.longest[total] / step, steps - 1))
        stay = rules.time_per_client * total
        for j in range(1, table.shape[1]):
            row = table[total - count, j]
            if row[steps - 1] < 0.0:
                continue
            for u in range(coarse):
                left = most - 2 * u
                if left < 0:
                    break
                low = np.inf
                time = stay + rules.time_per_metre * step * 2 * u
                if rules.cost == FREE:
                    low = -row[left]
                elif rules.slot > 0.0:
                    low = _least_in_slots(rules, row[: left + 1], time, step, total)
                elif rules.cost == TOTAL:
                    for q in range(left + 1):
                        low = min(low, time + rules.time_per_metre * step * q - row[q])
                else:
                    for q in range(left + 1):
                        longer = time + rules.time_per_metre * step * q
                        low = min(low, total * longer * longer - row[q])
                values[j, u] = min(values[j, u], low)
