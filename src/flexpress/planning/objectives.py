"""The three costs of a plan (the paper's Section "Routes"), from round trips and client counts."""

from __future__ import annotations

from collections.abc import Sequence

from flexpress.planning.problem import Problem, Tours
from flexpress.scenario import Objective


def objective_value(
    objective: Objective, round_trips: Sequence[float], num_clients: Sequence[int]
) -> float:
    """`minmax`: max Delta_k.  `sws`: sum R_k Delta_k^2.  `total`: sum Delta_k."""
    if objective == "minmax":
        return max(round_trips)
    if objective == "sws":
        return sum(r * d * d for r, d in zip(num_clients, round_trips, strict=True))
    return sum(round_trips)


def cost_of(problem: Problem, objective: Objective, tours: Tours) -> float:
    """The objective's value for these tours, recomputed from the positions."""
    round_trips = [problem.round_trip(k, tour) for k, tour in enumerate(tours)]
    return objective_value(objective, round_trips, [len(tour) for tour in tours])
