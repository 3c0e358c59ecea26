"""The routing problem as solvers see it, and its objectives.

Node 0 is the server, nodes 1..N are the clients.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from flexpress.arrays import FloatArray
from flexpress.scenario import Objective, RoundTripUnit, Scenario, physics

Tours = list[list[int]]
"""One list of nodes per transporter, in visiting order, without the server."""

Rank = tuple[float, float]
"""The cost of a plan, and the same in seconds: of plans with equal costs, the shorter is better."""

BUDGET_TOLERANCE = 1e-9
"""Relative slack when energy is compared with a budget, so that rounding breaks no budget."""

ABILITIES = (
    "time_per_metre",
    "time_per_client",
    "energy_per_metre",
    "energy_per_client",
    "budgets",
)
"""The fields of a Problem with one entry per transporter."""


def objective_value(
    objective: Objective, round_trips: Sequence[float], num_clients: Sequence[int]
) -> float:
    """`minmax`: max Delta_k.  `sws`: sum R_k Delta_k^2.  `total`: sum Delta_k.

    The three costs of the paper's Section "Routes", for round trips in seconds or in slots.
    """
    if objective == "minmax":
        return max(round_trips)
    if objective == "sws":
        return sum(r * d * d for r, d in zip(num_clients, round_trips, strict=True))
    return sum(round_trips)


@dataclass(frozen=True)
class Problem:
    """Round trip and energy of a tour are linear in its length L and its number of clients R.

    Transporter k:  round trip = time_per_metre[k] * L + time_per_client[k] * R     (Delta_k)
                    energy     = energy_per_metre[k] * L + energy_per_client[k] * R (E_k)
    """

    positions: FloatArray  # (nodes, 2), metres
    time_per_metre: FloatArray  # (transporters,)
    time_per_client: FloatArray  # (transporters,)
    energy_per_metre: FloatArray  # (transporters,)
    energy_per_client: FloatArray  # (transporters,)
    budgets: FloatArray  # (transporters,), joules, inf where unlimited
    matrix: FloatArray | None = None  # (nodes, nodes), metres; None: straight lines
    slot: float = 0.0  # seconds: the objective counts whole slots; 0: it counts seconds

    @classmethod
    def of(cls, scenario: Scenario, round_trips: RoundTripUnit = "seconds") -> Problem:
        """The problem of this scenario, with an objective that counts seconds or slots."""
        transporters = range(scenario.num_transporters)
        speeds = np.array(scenario.speeds)
        hover = scenario.transfer_time * (scenario.hover_power + scenario.transmit_power)
        return cls(
            positions=scenario.positions,
            time_per_metre=1 / speeds,
            time_per_client=np.full(len(speeds), scenario.transfer_time),
            energy_per_metre=np.array([scenario.flight_power(k) for k in transporters]) / speeds,
            energy_per_client=np.full(len(speeds), hover),
            budgets=np.array([scenario.budget(k) for k in transporters]),
            matrix=scenario.distances,
            slot=scenario.slot if round_trips == "slots" else 0.0,
        )

    def cost(self, objective: Objective, tours: Tours) -> float:
        """The objective's value for these tours, in slots if the problem has them."""
        return self.rank(objective, tours)[0]

    def rank(self, objective: Objective, tours: Tours) -> Rank:
        """What plans are compared by: the cost, then the objective's value in seconds."""
        round_trips = [self.round_trip(k, tour) for k, tour in enumerate(tours)]
        return self.rank_of(objective, round_trips, [len(tour) for tour in tours])

    def rank_of(
        self, objective: Objective, round_trips: Sequence[float], num_clients: Sequence[int]
    ) -> Rank:
        """The same for these round trips, in seconds."""
        seconds = objective_value(objective, round_trips, num_clients)
        if not self.slot:
            return seconds, seconds
        slots = [physics.slots(round_trip, self.slot) for round_trip in round_trips]
        return float(objective_value(objective, slots, num_clients)), seconds

    def with_energy_for_time(self, unit: FloatArray) -> Problem:
        """The problem in which round trips are energies, transporter k's in units of unit[k]."""
        return replace(
            self,
            time_per_metre=self.energy_per_metre / unit,
            time_per_client=self.energy_per_client / unit,
            budgets=np.full(self.num_transporters, np.inf),
            slot=0.0,
        )

    @property
    def num_clients(self) -> int:
        return len(self.positions) - 1

    @property
    def num_transporters(self) -> int:
        return len(self.budgets)

    def distances(self) -> FloatArray:
        """The distance matrix D of the paper, server first: entry (i, j) from node i to j."""
        if self.matrix is not None:
            return self.matrix
        offsets = self.positions[:, None, :] - self.positions[None, :, :]  # (nodes, nodes, 2)
        distances: FloatArray = np.sqrt((offsets**2).sum(axis=2))
        return distances

    def distances_from_server(self) -> FloatArray:
        if self.matrix is not None:
            return self.matrix[0, 1:]
        offsets = self.positions[1:] - self.positions[0]  # (clients, 2)
        distances: FloatArray = np.sqrt((offsets**2).sum(axis=1))
        return distances

    def by_direction(self, turn: float) -> NDArray[np.intp]:
        """The nodes 1..N by their direction from the server, beginning at the angle `turn`."""
        offsets = self.positions[1:] - self.positions[0]
        directions = (np.arctan2(offsets[:, 1], offsets[:, 0]) + turn) % (2 * np.pi)
        return np.argsort(directions, kind="stable") + 1

    def length(self, tour: Sequence[int]) -> float:
        """Length of the closed tour server -> clients -> server."""
        stops = [0, *tour, 0]
        if self.matrix is not None:
            return float(self.matrix[stops[:-1], stops[1:]].sum())
        places = self.positions[stops]
        legs = places[1:] - places[:-1]
        return float(np.sqrt((legs**2).sum(axis=1)).sum())

    def round_trip(self, k: int, tour: Sequence[int]) -> float:
        return self._linear(self.time_per_metre[k], self.time_per_client[k], tour)

    def energy(self, k: int, tour: Sequence[int]) -> float:
        return self._linear(self.energy_per_metre[k], self.energy_per_client[k], tour)

    def within_budget(self, k: int, tour: Sequence[int]) -> bool:
        return self.energy(k, tour) <= float(self.budgets[k]) * (1 + BUDGET_TOLERANCE)

    def feasible(self, tours: Tours) -> bool:
        return all(self.within_budget(k, tour) for k, tour in enumerate(tours))

    def _linear(self, per_metre: float, per_client: float, tour: Sequence[int]) -> float:
        if not tour:
            return 0.0
        return float(per_metre * self.length(tour) + per_client * len(tour))
