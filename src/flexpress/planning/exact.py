"""The optimum for small cases: dynamic programming over subsets of clients, in two textbook steps.

Held-Karp gives the shortest tour of every subset; then subsets are assigned to the transporters one
after another. It shares no code with the fast solvers: it is the oracle they are tested against.
A subset is an integer whose bit i - 1 says whether client i belongs to it.

If the objective counts slots, costs are complex numbers: slots + seconds * 1j. NumPy adds the parts
separately and compares the real parts first, then the imaginary ones, as plans are compared.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from flexpress.arrays import FloatArray
from flexpress.errors import InputError
from flexpress.planning.problem import BUDGET_TOLERANCE, Problem, Tours
from flexpress.scenario import Objective
from flexpress.scenario.physics import ROUNDING_GUARD

_MAX_CLIENTS = 15
"""N = 15, K = 4 takes about 1.6 s and 0.4 GB; each additional client triples both. In slots both
are about twice as much."""

_Costs = FloatArray | NDArray[np.complex128]


def solve_exact(problem: Problem, objective: Objective) -> Tours | None:
    """The best feasible tours, or None when no assignment keeps every budget."""
    check_size(problem.num_clients)
    distances = problem.distances()
    paths = _shortest_paths(distances)
    lengths = _closed_lengths(paths, distances)
    costs = [_costs(problem, objective, k, lengths) for k in range(problem.num_transporters)]
    shares = _best_shares(costs, objective)
    if shares is None:
        return None
    return [_walk_back(paths, distances, share) for share in shares]


def held_karp_tour(distances: FloatArray, nodes: Sequence[int]) -> list[int]:
    """The shortest closed tour from node 0 through `nodes`, in visiting order."""
    check_size(len(nodes))
    stops = [0, *nodes]
    among_stops = distances[np.ix_(stops, stops)]
    order = _walk_back(_shortest_paths(among_stops), among_stops, (1 << len(nodes)) - 1)
    return [stops[position] for position in order]


def check_size(num_clients: int) -> None:
    """Refuse what would take too much memory and time."""
    if num_clients > _MAX_CLIENTS:
        raise InputError(
            f"{num_clients} clients are too many for exact dynamic programming, which takes at "
            f"most {_MAX_CLIENTS}: use the solver 'search', or 'carp' with its 2-OPT routes"
        )


def _shortest_paths(distances: FloatArray) -> FloatArray:
    """Held-Karp: entry (S, j) is the shortest path from the server through all of S, ending at j.

    Only members of S can be its last client; the other entries are inf.
    """
    n = len(distances) - 1
    subsets = np.arange(1 << n)
    sizes = _sizes(n)
    paths = np.full((1 << n, n), np.inf)  # (subsets, last client)
    for j in range(n):
        paths[1 << j, j] = distances[0, j + 1]
    for size in range(2, n + 1):
        layer = subsets[sizes == size]
        for j in range(n):
            ending = layer[layer >> j & 1 == 1]
            paths[ending, j] = (paths[ending ^ (1 << j)] + distances[1:, j + 1]).min(axis=1)
    return paths


def _sizes(n: int) -> NDArray[np.int64]:
    """How many clients each of the 2^n subsets has."""
    sizes = np.zeros(1, dtype=np.int64)
    for _ in range(n):
        sizes = np.concatenate([sizes, sizes + 1])
    return sizes


def _closed_lengths(paths: FloatArray, distances: FloatArray) -> FloatArray:
    """Length of the shortest closed tour of every subset."""
    lengths: FloatArray = (paths + distances[1:, 0]).min(axis=1, initial=np.inf)
    lengths[0] = 0.0
    return lengths


def _walk_back(paths: FloatArray, distances: FloatArray, subset: int) -> list[int]:
    """The visiting order of the shortest closed tour of this subset, found from its end."""
    order: list[int] = []
    following = 0
    while subset:
        j = int((paths[subset] + distances[1:, following]).argmin())
        following = j + 1
        order.append(following)
        subset ^= 1 << j
    return order[::-1]


def _costs(problem: Problem, objective: Objective, k: int, lengths: FloatArray) -> _Costs:
    """What transporter k adds to the objective for every subset: inf when over its budget.

    The longest tour in slots is the longest in seconds, so `minmax` needs no slots.
    """
    counts = _sizes(problem.num_clients)
    round_trips = problem.time_per_metre[k] * lengths + problem.time_per_client[k] * counts
    energies = problem.energy_per_metre[k] * lengths + problem.energy_per_client[k] * counts
    costs: _Costs = counts * round_trips**2 if objective == "sws" else round_trips
    if problem.slot and objective != "minmax":
        slots = np.ceil(round_trips / problem.slot * (1 - ROUNDING_GUARD))
        costs = (counts * slots**2 if objective == "sws" else slots) + 1j * costs
    return np.where(energies <= problem.budgets[k] * (1 + BUDGET_TOLERANCE), costs, np.inf)


def _best_shares(costs: list[_Costs], objective: Objective) -> list[int] | None:
    """The subset of each transporter in the best split of all clients.

    f_k(S) = min over T in S of f_{k-1}(S - T) combined with cost_k(T): the best that the first k
    transporters can do for S.
    """
    combine = np.maximum if objective == "minmax" else np.add
    best = [costs[0]]
    for own in costs[1:-1]:
        best.append(_best_splits(best[-1], own, combine))
    remaining = len(costs[0]) - 1
    shares: list[int] = []
    for k in range(len(costs) - 1, 0, -1):
        parts = _parts(remaining)
        values = combine(best[k - 1][remaining ^ parts], costs[k][parts])
        if values.min() == np.inf:
            return None
        shares.append(int(parts[values.argmin()]))
        remaining ^= shares[-1]
    return None if costs[0][remaining] == np.inf else [remaining, *reversed(shares)]


def _best_splits(others: _Costs, own: _Costs, combine: np.ufunc) -> _Costs:
    """For every S the minimum over T in S of combine(others[S - T], own[T]).

    All 3^n pairs (S - T, T) at once: a client is in neither (0), with the others (1) or in T (2).
    """
    n = len(own).bit_length() - 1
    pairs: _Costs = combine(_spread(others, [0, 1, 0]), _spread(own, [0, 0, 1]))  # (3^n,)
    for done in range(n):
        by_state = pairs.reshape(-1, 3, 1 << done)
        pairs = np.minimum(by_state[:, :2], by_state[:, ::2]).reshape(-1)
    return pairs


def _spread(values: _Costs, bit_of_state: list[int]) -> _Costs:
    """Values of all 2^n subsets, looked up for all 3^n states of the clients."""
    n = len(values).bit_length() - 1
    for done in range(n):
        values = values.reshape(-1, 2, 3**done)[:, bit_of_state].reshape(-1)
    return values


def _parts(subset: int) -> NDArray[np.int64]:
    """All subsets of a subset."""
    parts = np.zeros(1, dtype=np.int64)
    for i in range(subset.bit_length()):
        if subset >> i & 1:
            parts = np.concatenate([parts, parts | (1 << i)])
    return parts
