"""How the search cools: temperatures, weights, and the number of fresh starts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flexpress.planning.problem import Problem
from flexpress.planning.search.records import MINMAX, SWS, TOTAL, Weights
from flexpress.planning.search.state import State
from flexpress.scenario import Objective

HOT, COLD = 2.0, 0.03
"""First and last temperature, as multiples of what a leg between neighbours costs."""

FIRST_DOUBLINGS, LAST_DOUBLINGS = 4, 9
"""minmax: the power that stands for the maximum grows from 2^4 to 2^9."""

PENALTY = 10.0
"""The energy of one client over budget weighs as much as so many legs."""

START_PER_CLIENT = 700
SHORTEST_START = 3000
MOST_STARTS = 8
"""Several short starts beat a long one, but each needs so many iterations."""

CODES: dict[Objective, int] = {"minmax": MINMAX, "sws": SWS, "total": TOTAL}


def default_iterations(num_clients: int) -> int:
    """About a second for 40 clients, a minute or two for 10,000."""
    return min(3000 * num_clients, 1_000_000 + 500 * num_clients)


def num_starts(iterations: float, num_clients: int) -> int:
    needed = max(SHORTEST_START, START_PER_CLIENT * num_clients)
    return int(np.clip(iterations / needed, 1, MOST_STARTS))


@dataclass(frozen=True)
class Schedule:
    """Temperature and weights at any point of a start, in units of one leg between neighbours."""

    objective: Objective
    leg_time: float
    leg_energy: float  # with the client at its end
    hot: float = HOT

    @classmethod
    def of(cls, problem: Problem, objective: Objective, state: State, hot: float = HOT) -> Schedule:
        metres = float(state.near[:, :2].mean()) if state.near.size else 0.0
        metres = metres or float(problem.distances_from_server().mean()) or 1.0
        return cls(
            objective,
            leg_time=metres * float(problem.time_per_metre.mean()),
            leg_energy=metres * float(problem.energy_per_metre.mean())
            + float(problem.energy_per_client.mean()),
            hot=hot,
        )

    def at(self, fraction: float, state: State) -> tuple[Weights, float]:
        """Weights and temperature when this share of the start has gone by."""
        round_trips, counts = state.round_trips(), state.tours["count"]
        leg = self.leg_time
        if self.objective == "sws":  # one second more on tour k costs 2 R_k Delta_k
            leg *= 2 * float((counts**2 * round_trips).sum()) / max(counts.sum(), 1)
        temperature = leg * self.hot * (COLD / self.hot) ** fraction
        doublings = FIRST_DOUBLINGS
        doublings += int((LAST_DOUBLINGS - FIRST_DOUBLINGS + 0.999) * fraction)
        longest = float(round_trips.max()) or 1.0
        penalty = PENALTY * leg / self.leg_energy
        if self.objective == "minmax":
            penalty /= price_of_second(round_trips / longest, doublings, longest)
        return Weights(CODES[self.objective], penalty, 1 / longest, doublings), temperature


def price_of_second(shares: np.ndarray, doublings: int, longest: float) -> float:
    """Seconds of the p-norm per unit of the sum of powers; `price` of the compiled code."""
    p = 2.0**doublings
    total = float((shares**p).sum())
    return float(longest * total ** (1 / p) / (total * p))
