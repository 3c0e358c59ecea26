"""Certificates of plans in slots: never above the exact optimum, and nearly always as high."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from cases import OBJECTIVES, block_network
from small_problems import random_tours, small_problem
from test_slots import with_slots
from thinned import few_and_many

from flexpress import Plan, Scenario, certify_plan, make_plan
from flexpress.planning.bounds.certificate import _lower_bound
from flexpress.planning.bounds.effort import ProofEffort
from flexpress.planning.bounds.pricing_data import in_slots
from flexpress.planning.exact import solve_exact
from flexpress.planning.progress import Progress, Watch
from flexpress.scenario import Objective


@few_and_many(range(20), range(200))
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_no_bound_is_above_the_optimum(objective: Objective, seeds: range) -> None:
    """From the optimum, and from tours that may break the budgets."""
    proven, from_any = [], []
    for seed in seeds:
        problem = with_slots(small_problem(seed), seed)
        tours = solve_exact(problem, objective)
        optimum = np.inf if tours is None else problem.cost(objective, tours)
        any_tours = random_tours(problem, np.random.default_rng(0))
        other = _lower_bound(problem, objective, any_tours, ProofEffort()).value
        assert other <= optimum, seed
        if tours is not None:
            bound = _lower_bound(problem, objective, tours, ProofEffort()).value
            assert bound <= optimum, seed
            assert bound == round(bound), seed
            proven.append(bound == optimum)
            from_any.append(other == optimum)
    assert np.mean(proven) > 0.97
    assert np.mean(from_any) > 0.8


@pytest.mark.parametrize(("seconds", "slots"), [(59.0, 1), (60.0, 1), (60.1, 2), (0.0, 0)])
def test_bounds_in_seconds_are_rounded_up(seconds: float, slots: int) -> None:
    problem = block_network(0)
    assert in_slots(problem, "total", seconds) == seconds
    assert in_slots(replace(problem, slot=60.0), "total", seconds) == slots
    assert in_slots(replace(problem, slot=60.0), "sws", 60 * seconds) == slots


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_progress_of_a_proof_is_in_slots(objective: Objective) -> None:
    problem = with_slots(small_problem(5), 5)
    tours = solve_exact(problem, objective)
    assert tours is not None
    told: list[Progress] = []
    _lower_bound(problem, objective, tours, ProofEffort(watch=Watch(told.append)))
    bounds = [progress.cost for progress in told if progress.cost is not None]
    assert bounds[-1] <= problem.cost(objective, tours)
    assert all(bound == round(bound) for bound in bounds)


def test_a_certified_plan_in_slots() -> None:
    valley = Scenario.preset("valley")
    for objective in OBJECTIVES:
        plan = make_plan(valley, objective=objective, round_trips="slots", iterations=3000)
        certified = certify_plan(valley, plan)
        assert (certified.lower_bound, certified.gap) == (plan.cost, 0.0)
        assert certified.round_trips == "slots"


def test_a_longer_plan_has_a_gap() -> None:
    valley = Scenario.preset("valley")
    plan = make_plan(valley, round_trips="slots", objective="total", solver="exact")
    worse = Plan.of(
        valley,
        "total",
        [list(range(first, 13, 3)) for first in (1, 2, 3)],
        solver="search",
        seed=0,
        seconds=0.0,
        round_trips="slots",
    )
    certified = certify_plan(valley, worse)
    assert certified.lower_bound is not None
    assert certified.lower_bound <= plan.cost < worse.cost
