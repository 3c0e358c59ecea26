"""How the search cools: temperatures, weights, and the number of fresh starts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flexpress.planning.problem import Problem
from flexpress.planning.search.records import MINMAX, SWS, TOTAL, Weights
from flexpress.planning.search.state import State
from flexpress.scenario import Objective

HOT, _COLD = 1.0, 0.03
"""First and last temperature: multiples of what a client costs, and of what a short leg costs."""

_FIRST_DOUBLINGS, _LAST_DOUBLINGS = 4, 9
"""minmax: the power that stands for the maximum grows from 2^4 to 2^9."""

_FEW_TOURS = 4
"""minmax: one of K equal tours moves the p-norm by a K-th, so more tours need it cooler."""

_PENALTY, _PENALTY_GROWTH = 10.0, 100.0
"""One client's energy over budget weighs as much as the time of 10 clients, in the end of 1,000."""

_PENALTY_STEP = 0.1
"""Any overdraft counts at least as this share of a client's energy."""

_FIRST_STEPS, _LAST_STEPS = 0.3, 10.0
"""If the objective counts slots: their weight beside seconds. Early on high steps are walls."""

_MOST_STARTS = 8
"""Several short starts beat a long one."""

_CODES: dict[Objective, int] = {"minmax": MINMAX, "sws": SWS, "total": TOTAL}


def default_iterations(num_clients: int) -> int:
    """About a second for 40 clients, a minute or two for 10,000."""
    return min(3000 * num_clients, 1_000_000 + 500 * num_clients)


def num_starts(iterations: float, num_clients: int) -> int:
    """The number of starts that get enough iterations: 700 per client, fewer for few clients."""
    enough = max(1000, min(700, 18 * num_clients) * num_clients)
    return int(np.clip(iterations / enough, 1, _MOST_STARTS))


@dataclass(frozen=True)
class Schedule:
    """Temperature and weights at any point of a start."""

    objective: Objective
    leg_time: float
    client_time: float  # a leg and the stay at its end
    client_energy: float
    hot: float = HOT
    slot: float = 0.0  # seconds, if the objective counts slots

    @classmethod
    def of(cls, problem: Problem, objective: Objective, state: State, hot: float = HOT) -> Schedule:
        metres = _typical_leg(problem, state)
        leg_time = metres * float(problem.time_per_metre.mean())
        return cls(
            objective,
            leg_time=leg_time,
            client_time=leg_time + float(problem.time_per_client.mean()),
            client_energy=metres * float(problem.energy_per_metre.mean())
            + float(problem.energy_per_client.mean())
            or 1.0,
            hot=hot,
            slot=0.0 if objective == "minmax" else problem.slot,
        )

    def at(self, fraction: float, state: State) -> tuple[Weights, float]:
        """Weights and temperature after this share of the start."""
        penalty = _PENALTY * _PENALTY_GROWTH**fraction * self.client_time / self.client_energy
        step = _PENALTY_STEP * self.client_energy
        doublings = _FIRST_DOUBLINGS
        doublings += int((_LAST_DOUBLINGS - _FIRST_DOUBLINGS + 0.999) * fraction)
        round_trips = state.round_trips(penalty, step)
        longest = float(round_trips.max()) or 1.0
        weights = Weights(
            _CODES[self.objective],
            penalty,
            step,
            1 / longest,
            doublings,
            self.slot,
            _FIRST_STEPS * (_LAST_STEPS / _FIRST_STEPS) ** fraction,
        )
        temperature = self.hot * self.client_time
        temperature *= (_COLD * self.leg_time / temperature) ** fraction
        if self.objective == "minmax":
            temperature *= min(1.0, _FEW_TOURS / len(round_trips))
        if self.objective == "sws":  # a second more on tour k costs 2 R_k Delta_k
            counts = state.tours["count"]
            temperature *= 2 * float((counts**2 * round_trips).sum()) / max(counts.sum(), 1)
        return weights, temperature


def _typical_leg(problem: Problem, state: State) -> float:
    """Metres between neighbours, or between groups if clients stand in tight groups."""
    if not state.near.size:
        return float(problem.distances_from_server().mean()) or 1.0
    return max(float(state.near[:, :2].mean()), float(state.near[:, -1].mean()) / 4) or 1.0
