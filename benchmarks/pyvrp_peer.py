"""PyVRP: its `distance` carries the time, which it minimises, its `duration` the energy."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from integers import Transporter, transporters

from flexpress.planning import Problem
from flexpress.planning.problem import Tours
from flexpress.scenario import Objective


def prepare(
    problem: Problem, objective: Objective, seconds: float, seed: int
) -> Callable[[], Tours | None]:
    """The data, ready to be solved. PyVRP minimises sums: only `total` can be told."""
    assert objective == "total"
    pyvrp: Any = import_module("pyvrp")
    kinds = transporters(problem)
    data = problem_data(pyvrp, problem, [kind for kind, _ in kinds], [len(k) for _, k in kinds])
    stop = import_module("pyvrp.stop").MaxRuntime(seconds)

    def solve() -> Tours | None:
        result = pyvrp.solve(data, stop, seed=seed, collect_stats=False, display=False)
        return read_tours(result.best, [numbers for _, numbers in kinds])

    return solve


def problem_data(
    pyvrp: Any, problem: Problem, kinds: list[Transporter], available: list[int]
) -> Any:
    """One vehicle type and one profile a kind of transporter, all at the one depot."""
    nodes = range(problem.num_clients + 1)
    limits = [{} if kind.budget is None else {"shift_duration": kind.budget} for kind in kinds]
    nothing = np.zeros_like(kinds[0].times)
    return pyvrp.ProblemData(
        locations=[pyvrp.Location(*problem.positions[i]) for i in nodes],
        clients=[pyvrp.Client(location=i) for i in nodes[1:]],
        depots=[pyvrp.Depot(location=0)],
        vehicle_types=[
            pyvrp.VehicleType(num_available=number, profile=profile, **limit)
            for profile, (number, limit) in enumerate(zip(available, limits, strict=True))
        ],
        distance_matrices=[kind.times for kind in kinds],
        duration_matrices=[nothing if kind.energies is None else kind.energies for kind in kinds],
    )


def read_tours(solution: Any, numbers: list[list[int]]) -> Tours | None:
    """Tours by the transporters' numbers; None if PyVRP's best breaks a constraint."""
    if not solution.is_feasible():
        return None
    free = [list(of_kind) for of_kind in numbers]
    tours: Tours = [[] for of_kind in numbers for _ in of_kind]
    for route in solution.routes():
        k = free[route.vehicle_type()].pop()
        tours[k] = [stop.idx + 1 for stop in route.schedule() if stop.is_client()]
    return tours
