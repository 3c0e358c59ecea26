"""OR-Tools' routing library: guided local search, for `minmax` with a cost on the global span."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from integers import Matrix, Transporter, transporters

from flexpress.planning import Problem
from flexpress.planning.problem import Tours
from flexpress.scenario import Objective

SPAN_WEIGHT = 10
"""Of the longest round trip against the sum of all: of 10, 100, 1000 the best on most rows."""


def prepare(
    problem: Problem, objective: Objective, seconds: float, seed: int
) -> Callable[[], Tours | None]:
    """The model, ready to be solved. `sws` cannot be told: no cost is a product of two others.

    The library takes no seed: what differs from run to run is how far the clock lets it come.
    """
    assert objective != "sws"
    pywrapcp: Any = import_module("ortools.constraint_solver.pywrapcp")
    manager = pywrapcp.RoutingIndexManager(problem.num_clients + 1, problem.num_transporters, 0)
    model = pywrapcp.RoutingModel(manager)
    kinds = transporters(problem)
    times = register(model, [(kind.times, numbers) for kind, numbers in kinds])
    for k, evaluator in enumerate(times):
        model.SetArcCostEvaluatorOfVehicle(evaluator, k)
    if objective == "minmax":
        horizon = max(reachable_span(kind.times, problem.num_transporters) for kind, _ in kinds)
        model.AddDimensionWithVehicleTransits(times, 0, horizon, True, "time")
        model.GetDimensionOrDie("time").SetGlobalSpanCostCoefficient(SPAN_WEIGHT)
    limit_energy(model, kinds, problem.num_transporters)
    limited = any(kind.budget is not None for kind, _ in kinds)
    parameters = search_parameters(pywrapcp, seconds, "SAVINGS" if limited else "AUTOMATIC")
    model.CloseModelWithParameters(parameters)

    def solve() -> Tours | None:
        found = model.SolveWithParameters(parameters)
        return None if found is None else read_tours(manager, model, found)

    return solve


def reachable_span(times: Matrix, num_transporters: int) -> int:
    """A longest round trip that some plan keeps: the tour to the nearest next, cut into K pieces.

    No piece is longer than tour / K + 2 * farthest (Frederickson, Hecht and Kim, 1978). With it as
    horizon the first solution is balanced, and the library is spared a long way down.
    """
    node, tour, unvisited = 0, 0, set(range(1, len(times)))
    while unvisited:
        following = min(unvisited, key=lambda i: int(times[node, i]))
        unvisited.remove(following)
        tour += int(times[node, following])
        node = following
    tour += int(times[node, 0])
    return tour // num_transporters + int(times[0].max() + times[:, 0].max())


def register(model: Any, of_kinds: list[tuple[Any, list[int]]]) -> list[int]:
    """The number of the registered matrix, for every vehicle."""
    evaluators: dict[int, int] = {}
    for matrix, numbers in of_kinds:
        evaluator = model.RegisterTransitMatrix(matrix.tolist())
        evaluators |= dict.fromkeys(numbers, evaluator)
    return [evaluators[k] for k in sorted(evaluators)]


def limit_energy(
    model: Any, kinds: list[tuple[Transporter, list[int]]], num_transporters: int
) -> None:
    """A second dimension whose capacities are the budgets: a scenario has all of them or none."""
    if all(kind.budget is None for kind, _ in kinds):
        return
    energies = register(model, [(kind.energies, numbers) for kind, numbers in kinds])
    budgets = {k: kind.budget for kind, numbers in kinds for k in numbers}
    capacities = [budgets[k] for k in range(num_transporters)]
    model.AddDimensionWithVehicleTransitAndCapacity(energies, 0, capacities, True, "energy")


def search_parameters(pywrapcp: Any, seconds: float, first_solution: str) -> Any:
    """Of the first solutions we tried, AUTOMATIC did best without budgets and found none within."""
    enums: Any = import_module("ortools.constraint_solver.routing_enums_pb2")
    parameters = pywrapcp.DefaultRoutingSearchParameters()
    parameters.first_solution_strategy = getattr(enums.FirstSolutionStrategy, first_solution)
    parameters.local_search_metaheuristic = enums.LocalSearchMetaheuristic.GUIDED_LOCAL_SEARCH
    parameters.time_limit.FromMilliseconds(round(1000 * seconds))
    return parameters


def read_tours(manager: Any, model: Any, found: Any) -> Tours:
    tours: Tours = []
    for k in range(model.vehicles()):
        tour = []
        index = found.Value(model.NextVar(model.Start(k)))
        while not model.IsEnd(index):
            tour.append(manager.IndexToNode(index))
            index = found.Value(model.NextVar(index))
        tours.append(tour)
    return tours
