"""How far a plan is from the optimum: a lower bound of its objective, and how it is proven."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from flexpress.arguments import LONGEST_TIME, check_callable, check_number
from flexpress.callbacks import ShouldStop, Tell, never
from flexpress.compiled import announced, drop_stale_code
from flexpress.planning.bounds.completions import tour_cost
from flexpress.planning.bounds.effort import ProofEffort
from flexpress.planning.bounds.enumeration import enumerate_tours
from flexpress.planning.bounds.one_tree import least_length
from flexpress.planning.bounds.pricing import make_labels, price
from flexpress.planning.bounds.pricing_data import (
    FREE,
    PricingTask,
    kinds_of,
    pricing_data,
    tour_rules,
)
from flexpress.planning.bounds.shared_load import farthest_client, shared_load
from flexpress.planning.bounds.tour_bounds import TourBounds
from flexpress.planning.plan import Plan
from flexpress.planning.plan_file import check_plan
from flexpress.planning.problem import Problem, Tours
from flexpress.planning.progress import UNWATCHED, OnProgress, Watch, ignore_progress
from flexpress.scenario import Objective, Scenario

_DYNAMIC_PROGRAMMING = "dynamic programming"
_COLUMN_GENERATION = "column generation"
_SHARED_LOAD = "shared load"
_FARTHEST_CLIENT = "farthest client"

_WITHOUT_HIGHS = (
    "only weak bounds are proven without the package highspy: pip install 'flexpress[certify]'"
)

_CLOSE = 1e-7
"""A relative gap that is not worth more work."""


@dataclass(frozen=True)
class LowerBound:
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
    """The plan with a proven lower bound of its objective, the gap, and the method.

    `seconds` limits the time, apart from compilation. Without it the number of steps is limited,
    and the bound is reproducible. When `should_stop` returns true, the best bound so far is used.
    The cost in a `Progress` is the bound.
    """
    check_certify(seconds)
    check_plan(scenario, plan)
    check_callable(on_progress=on_progress, should_stop=should_stop)
    if plan.solver == "exact":
        return plan.with_bound(plan.cost, _DYNAMIC_PROGRAMMING)
    watch = Watch(on_progress, should_stop)
    if not has_highs():
        watch.note(_WITHOUT_HIGHS)
    load(watch.note)
    effort = ProofEffort(seconds, watch=watch)
    problem = Problem.of(scenario, plan.round_trips)
    bound = _lower_bound(problem, plan.objective, plan.nodes(scenario), effort)
    return plan.with_bound(min(bound.value, plan.cost), bound.method)


def _lower_bound(
    problem: Problem, objective: Objective, tours: Tours, effort: ProofEffort
) -> LowerBound:
    """The best of all bounds that the size of the problem and the effort allow."""
    bounds = [LowerBound(farthest_client(problem, objective), _FARTHEST_CLIENT)]
    length = least_length(problem, effort.over)
    bounds.append(LowerBound(shared_load(problem, objective, length), _SHARED_LOAD))
    best = max(bounds, key=lambda bound: bound.value)
    effort.proven(best.value)
    cost = problem.cost(objective, tours)
    if not has_highs() or effort.over() or best.value >= cost * (1 - _CLOSE):
        return best
    by_tours = TourBounds(problem, effort)
    by_tours.know(tours)
    value = (
        by_tours.least_maximum(cost, best.value)
        if objective == "minmax"
        else by_tours.least_cost(objective, cost)
    )
    return max(best, LowerBound(value, _COLUMN_GENERATION), key=lambda bound: bound.value)


def load(on_note: Tell = UNWATCHED.note) -> None:
    """Load or compile the code of the bounds, so that no clock runs meanwhile."""
    one = np.ones(1)
    smallest = Problem(np.array([[0.0, 0.0], [1.0, 0.0]]), one, one, one, one, np.inf * one)
    data = pricing_data(smallest, memory=1)
    rules = tour_rules(kinds_of(smallest)[0], FREE, np.full(2, np.inf), data.distances)
    task = PricingTask(data, rules, np.zeros(2), 0.0)
    for compiled in (price, enumerate_tours, tour_cost):
        drop_stale_code(compiled, Path(__file__).parent)
    with announced(on_note, "the proofs, once (about 25 s)"):
        least_length(smallest)
        price(task, make_labels(1), 0, 4, 1)
        enumerate_tours(task, 4, 1)
        tour_cost(rules, 1, 1.0)


def check_certify(seconds: float | None, name: str = "seconds") -> None:
    if seconds is not None:
        check_number(name, seconds, above=0, most=LONGEST_TIME)


def has_highs() -> bool:
    """Whether the extra `certify` is installed."""
    return importlib.util.find_spec("highspy") is not None
