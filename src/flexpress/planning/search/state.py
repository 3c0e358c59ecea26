"""The arrays of the compiled code, and the conversion of tours to rings and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexpress.arrays import FloatArray
from flexpress.planning.problem import ABILITIES, BUDGET_TOLERANCE, Problem, Tours
from flexpress.planning.search.neighbours import nearest_by_matrix, nearest_clients
from flexpress.planning.search.records import NODE, REMOVAL, SEARCH, TOUR

_NUM_NEIGHBOURS = 30

_FEW_CLIENTS = 100
"""Up to this number all distances fit into a fast cache, and looking one up beats a square root. So
networks of the usual size share one compiled search, with or without a matrix of their own."""

Records = NDArray[Any]


@dataclass(frozen=True)
class State:
    """All that `anneal` reads and writes, in its order of arguments."""

    nodes: Records  # (clients + transporters,)
    matrix: FloatArray | None  # (clients + transporters,) twice: metres from node to node
    tours: Records  # (transporters,)
    neighbours: NDArray[np.int32]  # (clients, neighbours)
    near: NDArray[np.float64]  # (clients, neighbours), metres
    removals: Records  # (clients,)
    asked: NDArray[np.int32]  # (transporters,)
    paths: NDArray[np.int32]  # (transporters, clients + 2)
    travelled: NDArray[np.float64]  # (transporters, clients + 2), metres from the server
    returned: NDArray[np.float64]  # the same on the way back, or the same array
    buffer: NDArray[np.int32]  # (clients,)
    search: Records  # (1,)

    @classmethod
    def of(cls, problem: Problem) -> State:
        n, k = problem.num_clients, problem.num_transporters
        clients = problem.positions[1:]
        neighbours, near = _neighbourhoods(problem)
        travelled = np.zeros((k, n + 2))
        state = cls(
            nodes=np.zeros(n + k, NODE),
            matrix=_node_distances(problem) if by_matrix(problem) else None,
            tours=np.zeros(k, TOUR),
            neighbours=neighbours,
            near=near,
            removals=np.zeros(n, REMOVAL),
            asked=np.zeros(k, np.int32),
            paths=np.zeros((k, n + 2), np.int32),
            travelled=travelled,
            returned=travelled if problem.matrix is None else np.zeros((k, n + 2)),
            buffer=np.zeros(n, np.int32),
            search=np.zeros(1, SEARCH),
        )
        state.nodes["x"] = np.append(clients[:, 0], np.repeat(problem.positions[0, 0], k))
        state.nodes["y"] = np.append(clients[:, 1], np.repeat(problem.positions[0, 1], k))
        state.search["best_cost"] = np.inf
        state.search["best_seconds"] = np.inf
        state.search["plane"] = problem.matrix is None
        return state

    def arrays(self) -> tuple[Any, ...]:
        return tuple(vars(self).values())

    def round_trips(self, penalty: float, step: float) -> FloatArray:
        """Delta_k of the current tours, longer if a budget is overdrawn, as in `cost_if`."""
        tours = self.tours
        times = tours["time_per_metre"] * tours["length"]
        times += tours["time_per_client"] * tours["count"]
        energies = tours["energy_per_metre"] * tours["length"]
        energies += tours["energy_per_client"] * tours["count"]
        excess = energies - tours["budgets"]
        overdrawn = excess > BUDGET_TOLERANCE * tours["budgets"]
        return times + np.where(overdrawn, penalty * (excess + step), 0.0)

    @property
    def unequal(self) -> bool:
        """Whether it matters who flies a tour."""
        return any(len(np.unique(self.tours[field])) > 1 for field in ABILITIES)

    def start_from(self, problem: Problem, tours: Tours, random: np.uint64) -> None:
        """Make these tours the current ones; the best so far stays."""
        num_clients = problem.num_clients
        for field in ABILITIES:
            self.tours[field] = getattr(problem, field)
        self.tours["owner"] = np.arange(problem.num_transporters)
        self.search["random"] = random
        for k, tour in enumerate(tours):
            ring = np.array([num_clients + k, *(node - 1 for node in tour)])
            self.nodes["tour"][ring] = k
            self.nodes["next"][ring] = np.roll(ring, -1)
            self.nodes["prev"][ring] = np.roll(ring, 1)
            self.tours["count"][k] = len(tour)
            self.tours["length"][k] = problem.length(tour)

    @property
    def best_cost(self) -> float:
        return float(self.search[0]["best_cost"])

    def best_tours(self) -> Tours | None:
        """The best tours so far, in the order of their transporters; None if none were feasible."""
        if np.isinf(self.best_cost):
            return None
        following = self.nodes["best_next"].tolist()
        num_clients = len(self.neighbours)
        tours: Tours = [[] for _ in self.tours]
        for k, owner in enumerate(self.tours["best_owner"].tolist()):
            node = following[num_clients + k]
            while node < num_clients:
                tours[owner].append(node + 1)
                node = following[node]
        return tours


def _neighbourhoods(problem: Problem) -> tuple[NDArray[np.int32], FloatArray]:
    """The nearest other clients of every client, and their distance: the shorter of both ways."""
    if problem.matrix is not None:
        ways = problem.matrix[1:, 1:]
        neighbours = nearest_by_matrix(ways, _NUM_NEIGHBOURS)
        here = np.arange(len(ways))[:, None]
        return neighbours, np.minimum(ways[here, neighbours], ways[neighbours, here])
    clients = problem.positions[1:]
    neighbours = nearest_clients(clients, _NUM_NEIGHBOURS)
    offsets = clients[:, None, :] - clients[neighbours]  # (clients, neighbours, 2)
    return neighbours, np.sqrt((offsets**2).sum(axis=2))


def by_matrix(problem: Problem) -> bool:
    """Whether distances are looked up, not computed as straight lines."""
    return problem.matrix is not None or problem.num_clients <= _FEW_CLIENTS


def _node_distances(problem: Problem) -> FloatArray:
    """Distances between the clients, then the server once per tour. Staying costs nothing."""
    n = problem.num_clients
    order = np.append(np.arange(1, n + 1), np.zeros(problem.num_transporters, np.intp))
    distances = problem.distances()[np.ix_(order, order)].astype(np.float64, copy=False)
    np.fill_diagonal(distances, 0.0)
    distances[n:, n:] = 0.0
    return distances
