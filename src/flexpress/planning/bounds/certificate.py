"""How good a plan can still get: a lower bound of its objective, and how it was proven."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass

from flexpress.arguments import LONGEST_TIME, check_callable, check_number
from flexpress.planning.bounds.compiled import load
from flexpress.planning.bounds.one_tree import least_length
from flexpress.planning.bounds.shared_load import farthest_client, shared_load
from flexpress.planning.bounds.work import Work
from flexpress.planning.objectives import cost_of
from flexpress.planning.plan import Plan
from flexpress.planning.plan_file import check_plan
from flexpress.planning.problem import Problem, Tours
from flexpress.planning.progress import OnProgress, Progress, ShouldStop, ignore_progress, never
from flexpress.scenario import Objective, Scenario

DYNAMIC_PROGRAMMING = "dynamic programming"
COLUMN_GENERATION = "column generation"
SHARED_LOAD = "shared load"
FARTHEST_CLIENT = "farthest client"

WITHOUT_HIGHS = (
    "only weak bounds are proven without the package highspy: pip install 'flexpress[certify]'"
)

CLOSE = 1e-7
"""A gap, relatively, that is not worth more work."""


@dataclass(frozen=True)
class Bound:
    """No plan costs less than `value`; `method` says how this is known."""

    value: float
    method: str


def certify_plan(
    scenario: Scenario,
    plan: Plan,
    *,
    seconds: float | None = None,
    on_progress: OnProgress = ignore_progress,
    should_stop: ShouldStop = never,
) -> Plan:
    """The plan with a proven lower bound of its objective, its gap to it, and the method.

    `seconds` limits the time, apart from compilation; else a number of steps does, and the bound
    repeats. When `should_stop` turns true, the best bound so far is taken. A `Progress` tells the
    bound as its cost.
    """
    check_certify(seconds)
    check_plan(scenario, plan)
    check_callable(on_progress=on_progress, should_stop=should_stop)
    if plan.solver == "exact":
        return plan.with_bound(plan.cost, DYNAMIC_PROGRAMMING)
    node_of = {client: node for node, client in enumerate(scenario.client_ids, start=1)}
    tours = [[node_of[client] for client in tour.clients] for tour in plan.transporters]
    problem = Problem.of(scenario)
    if not has_highs():
        on_progress(Progress(0.0, None, WITHOUT_HIGHS))
    load(on_progress)
    work = Work(seconds, should_stop, on_progress)
    bound = lower_bound(problem, plan.objective, tours, work)
    return plan.with_bound(min(bound.value, plan.cost), bound.method)


def lower_bound(problem: Problem, objective: Objective, tours: Tours, work: Work) -> Bound:
    """The best of all bounds that fit the size of the problem and the work."""
    bounds = [Bound(farthest_client(problem, objective), FARTHEST_CLIENT)]
    length = least_length(problem, work.over)
    bounds.append(Bound(shared_load(problem, objective, length), SHARED_LOAD))
    best = max(bounds, key=lambda bound: bound.value)
    work.tell(best.value)
    cost = cost_of(problem, objective, tours)
    if not has_highs() or work.over() or best.value >= cost * (1 - CLOSE):
        return best
    from flexpress.planning.bounds.tours import TourBounds

    by_tours = TourBounds(problem, work)
    by_tours.know(tours)
    value = (
        by_tours.least_maximum(cost, best.value)
        if objective == "minmax"
        else by_tours.least_cost(objective, cost)
    )
    return max(best, Bound(value, COLUMN_GENERATION), key=lambda bound: bound.value)


def check_certify(seconds: float | None, name: str = "seconds") -> None:
    if seconds is not None:
        check_number(name, seconds, above=0, most=LONGEST_TIME)


def has_highs() -> bool:
    """Whether the extra `certify` is installed."""
    return importlib.util.find_spec("highspy") is not None
