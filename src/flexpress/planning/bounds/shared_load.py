"""Bounds for any number of clients: the farthest client, and the load that all tours share.

All tours together must fly at least L metres and visit N clients; the bound splits both in the best
possible way. Transporter k needs a_k seconds per metre and c_k seconds per client.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from flexpress.arrays import FloatArray
from flexpress.planning.bounds.pricing_data import in_slots, kinds_of, shortest_tours, ways_home
from flexpress.planning.problem import Problem
from flexpress.scenario import Objective
from flexpress.scenario.physics import slots

_ROUNDING = 1e-9
_MOST_IN_MATRIX = 2000
_GOLDEN_STEPS = 30
"""Steps of a _golden-section search."""


def farthest_client(problem: Problem, objective: Objective) -> float:
    """Some transporter must fly to each client and back."""
    alone = _times_alone(problem)
    if problem.slot:
        alone = np.array([slots(time * (1 - _ROUNDING), problem.slot) for time in alone])
        return float((alone**2).sum() if objective == "sws" else alone.max())
    if objective == "sws":
        return float((alone**2).sum()) * (1 - _ROUNDING)
    return float(alone.max()) * (1 - _ROUNDING)


def _times_alone(problem: Problem) -> FloatArray:
    """Seconds to each client and back, with the fastest transporter: (clients,)."""
    there_and_back = ways_there(problem) + ways_back(problem)
    per_kind = [
        kind.time_per_metre * there_and_back + kind.time_per_client for kind in kinds_of(problem)
    ]
    times: FloatArray = np.min(per_kind, axis=0)
    return times


def ways_there(problem: Problem) -> FloatArray:
    if problem.matrix is None:
        return problem.distances_from_server()
    return ways_home(problem.matrix.T)[1:]


def ways_back(problem: Problem) -> FloatArray:
    if problem.matrix is None:
        return problem.distances_from_server()
    return ways_home(problem.matrix)[1:]


def shared_load(problem: Problem, objective: Objective, length: float) -> float:
    """The bound that follows from a lower bound of the length of all tours together."""
    kinds, n = kinds_of(problem), problem.num_clients
    if objective == "total":
        bound = min(k.time_per_metre for k in kinds) * length
        bound += min(k.time_per_client for k in kinds) * n
    elif objective == "minmax":
        # If all are back within z, then sum (z - c_k R_k) / a_k >= L.
        per_client = min(k.time_per_client / k.time_per_metre for k in kinds)
        metres_per_second = sum(k.number / k.time_per_metre for k in kinds)
        bound = (length + per_client * n) / metres_per_second
    else:
        bound = _SwsLoad(problem, length).bound()
    return in_slots(problem, objective, bound * (1 - _ROUNDING))


class _SwsLoad:
    """min sum R_k Delta_k^2 over R_k and L_k with sum R_k = N and sum L_k >= L, by its dual.

    For any prices of a metre and of a client, the optima of the separate transporters give a
    bound. A tour of R clients is at least as long as the R + 1 shortest legs, and no longer than
    the shortest tour of any R clients.
    """

    def __init__(self, problem: Problem, length: float) -> None:
        kinds = kinds_of(problem)
        self._numbers = np.array([kind.number for kind in kinds])
        self._per_metre = np.array([[kind.time_per_metre] for kind in kinds])
        self._per_client = np.array([[kind.time_per_client] for kind in kinds])
        self._length = length
        self._counts = np.arange(1.0, problem.num_clients + 1)
        there_and_back = ways_there(problem) + ways_back(problem)
        self._shortest = _least_of_all(problem, there_and_back)
        self._longest = _most_of_all(problem, there_and_back)

    def bound(self) -> float:
        """The best prices. The value is concave in both, so one search runs within the other."""
        n, fleet = len(self._counts), self._numbers.sum()
        slowest, stay = self._per_metre.max(), self._per_client.max()
        round_trip = slowest * self._length / fleet + stay * n / fleet
        highest_metre = 20 * n / fleet * round_trip * slowest

        def with_metre(metre: float) -> float:
            highest_client = 20 * (round_trip**2 * 3 + metre * self._length / n)
            return _golden(lambda client: self._value(metre, client), 0.0, highest_client)

        return max(0.0, _golden(with_metre, 0.0, highest_metre))

    def _value(self, metre: float, client: float) -> float:
        """Each transporter takes its min R Delta^2 - metre L - client R, or stays at the server."""
        r, a, c = self._counts, self._per_metre, self._per_client
        best_length = (metre / (2 * r * a) - c * r) / a  # (kinds, counts)
        length = np.clip(best_length, self._shortest, self._longest)
        least = (r * (a * length + c * r) ** 2 - metre * length - client * r).min(axis=1)
        paid = metre * self._length + client * len(r)
        return float(paid + self._numbers @ np.minimum(least, 0.0))


def _golden(value: Callable[[float], float], low: float, high: float) -> float:
    """Nearly the maximum of a concave function; any point gives a bound."""
    ratio = (5**0.5 - 1) / 2
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = value(left), value(right)
    for _ in range(_GOLDEN_STEPS):
        if at_left > at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = value(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = value(right)
    return max(at_left, at_right)


def _least_of_all(problem: Problem, there_and_back: FloatArray) -> FloatArray:
    """A lower bound of the length of any tour of 1..N clients."""
    nearest = np.sort(there_and_back)
    if problem.num_clients > _MOST_IN_MATRIX:
        return nearest
    return np.maximum(nearest, shortest_tours(problem.distances())[1:])


def _most_of_all(problem: Problem, there_and_back: FloatArray) -> FloatArray:
    """An upper bound of the length of the shortest tour of any 1..N clients."""
    counts = np.arange(1.0, problem.num_clients + 1)
    if problem.matrix is None:
        return np.cumsum(np.sort(there_and_back)[::-1])
    return float(problem.matrix.max()) * (counts + 1)
