"""No bound is above the exact optimum, and the best of them is nearly always as high."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest
from cases import OBJECTIVES, problem_of
from small_problems import optimum, random_tours, small_problem
from thinned import few_and_many

from flexpress.planning.bounds import tour_bounds
from flexpress.planning.bounds.certificate import _lower_bound
from flexpress.planning.bounds.effort import ProofEffort
from flexpress.planning.bounds.one_tree import least_length
from flexpress.planning.bounds.shared_load import farthest_client, shared_load
from flexpress.planning.bounds.tour_bounds import TourBounds
from flexpress.planning.exact import solve_exact
from flexpress.planning.problem import Problem, Tours
from flexpress.scenario import Objective

ROUNDING = 1 + 1e-12
PROVEN = 1 - 1.1e-7
"""`minmax` is proven to within 1e-7."""

Case = tuple[int, Problem, float]
"""Seed, problem, optimum."""


def cases(objective: Objective, seeds: range, max_clients: int = 7) -> Iterator[Case]:
    """Also those without any plan, where no bound is too high."""
    for seed in seeds:
        problem = small_problem(seed, max_clients=max_clients)
        yield seed, problem, optimum(problem, objective)


def bound_from(problem: Problem, objective: Objective, tours: Tours) -> float:
    return _lower_bound(problem, objective, tours, ProofEffort()).value


def bound_from_optimum(problem: Problem, objective: Objective) -> float:
    tours = solve_exact(problem, objective)
    return 0.0 if tours is None else bound_from(problem, objective, tours)


def bound_from_any_plan(problem: Problem, objective: Objective) -> float:
    return bound_from(problem, objective, random_tours(problem, np.random.default_rng(0)))


def shared(problem: Problem, objective: Objective) -> float:
    return shared_load(problem, objective, least_length(problem))


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("bound", [farthest_client, shared])
def test_cheap_bounds_are_not_above_the_optimum(
    bound: Callable[[Problem, Objective], float], objective: Objective
) -> None:
    for seed, problem, best in cases(objective, range(30)):
        assert bound(problem, objective) <= best * ROUNDING, seed


def test_the_least_length_is_that_of_the_best_plan_at_most() -> None:
    for seed in range(80):
        problem = small_problem(seed)
        same = np.ones(problem.num_transporters)
        metres = replace(
            problem, time_per_metre=same, time_per_client=0 * same, budgets=np.inf * same
        )
        assert least_length(problem) <= optimum(metres, "total") * ROUNDING, seed


def test_the_least_length_where_ways_between_clients_lead_nowhere() -> None:
    """Everyone flies to one client and back, 2 m: there are as many tours as clients."""
    ways = np.full((6, 6), 100.0)
    ways[0], ways[:, 0] = 1.0, 1.0
    np.fill_diagonal(ways, 0.0)
    problem = problem_of(np.zeros((6, 2)), np.ones(5), 0.0, np.full(5, np.inf))
    assert least_length(replace(problem, matrix=ways)) == pytest.approx(10.0)


def check_tour_bounds(
    bound: Callable[[Problem, Objective], float],
    objective: Objective,
    seeds: range,
    max_clients: int = 7,
) -> float:
    """That no bound is above the optimum; the share of those that are as high."""
    proven = []
    for seed, problem, best in cases(objective, seeds, max_clients):
        value = bound(problem, objective)
        assert value <= best * ROUNDING, seed
        if best < np.inf:
            proven.append(value >= best * PROVEN)
    assert len(proven) > 0.8 * len(seeds)
    return float(np.mean(proven))


@few_and_many(range(12), range(30))
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_from_the_optimum_it_is_proven_nearly_always(objective: Objective, seeds: range) -> None:
    assert check_tour_bounds(bound_from_optimum, objective, seeds) > 0.97


@pytest.mark.parametrize("seed", [104, 165, 386, 472])
def test_minmax_is_proven_where_detours_are_shorter(seed: int) -> None:
    """A client more may make a tour shorter; and column generation alone proves nothing."""
    problem = small_problem(seed)
    best = optimum(problem, "minmax")
    assert bound_from_optimum(problem, "minmax") >= best * PROVEN


@few_and_many(range(100, 108), range(100, 120))
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_from_any_plan(objective: Objective, seeds: range) -> None:
    """Tours that may break the budgets, in any order. For minmax the steps are coarser then."""
    share = check_tour_bounds(bound_from_any_plan, objective, seeds)
    assert share > (0.2 if objective == "minmax" else 0.8)


@few_and_many(range(200, 208), range(200, 220))
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_column_generation_alone(
    objective: Objective, seeds: range, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tour_bounds, "best_plan_below", lambda *_: None)
    assert check_tour_bounds(bound_from_optimum, objective, seeds) > 0.4


@pytest.mark.slow
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_many_more(objective: Objective) -> None:
    assert check_tour_bounds(bound_from_optimum, objective, range(1000, 1500)) > 0.97
    check_tour_bounds(bound_from_any_plan, objective, range(1500, 1800))


@pytest.mark.slow
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_routes_that_forget_whom_they_visited(
    objective: Objective, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tour_bounds, "_MEMORIES", (2, 4))
    share = check_tour_bounds(bound_from_optimum, objective, range(2000, 2060), max_clients=11)
    assert share > 0.97


def test_nothing_is_impossible_that_a_plan_does() -> None:
    proven = []
    for seed, problem, best in cases("minmax", range(50)):
        if not 0 < best < np.inf:
            continue
        bounds = TourBounds(problem, ProofEffort())
        for latest in (best * (1 + 1e-9), best * 1.001, np.inf):
            assert not bounds.impossible_within(latest), seed
        proven.append(bounds.impossible_within(best * 0.98))
    assert np.mean(proven) > 0.85


def test_the_fewest_transporters_that_are_proven_are_needed() -> None:
    """As many as the exact solver says, or fewer: then more are not proven."""
    proven, needed = [], []
    for seed in range(60):
        problem = alike(small_problem(seed), 1)
        fewest = next(k for k in range(1, 9) if k == 8 or has_plan(alike(problem, k)))
        proven.append(TourBounds(problem, ProofEffort()).fewest_transporters(8) or 1)
        needed.append(fewest)
        assert proven[-1] <= needed[-1], seed
    assert np.mean(np.equal(proven, needed)) > 0.9
    assert len({1, 2, 3, 8} & set(needed)) == 4


def alike(problem: Problem, number: int) -> Problem:
    """So many transporters like the first."""
    return replace(
        problem,
        time_per_metre=np.full(number, problem.time_per_metre[0]),
        time_per_client=np.full(number, problem.time_per_client[0]),
        energy_per_metre=np.full(number, problem.energy_per_metre[0]),
        energy_per_client=np.full(number, problem.energy_per_client[0]),
        budgets=np.full(number, problem.budgets[0]),
    )


def has_plan(problem: Problem) -> bool:
    return solve_exact(problem, "total") is not None


def test_unequal_transporters_have_no_fewest_number() -> None:
    problem = problem_of(np.eye(3, 2), np.array([1.0, 2.0]), 0.0, np.array([1.0, 1.0]))
    bounds = TourBounds(problem, ProofEffort())
    assert bounds.impossible_within(np.inf)
    assert bounds.fewest_transporters(9) is None


@pytest.mark.parametrize("way", [0.1, 0.3, 0.7])
@pytest.mark.parametrize("num_clients", [2, 5, 8])
def test_tours_as_long_as_can_be_are_not_lost_to_rounding(way: float, num_clients: int) -> None:
    ways = way * (1 - np.eye(num_clients + 1))
    problem = problem_of(np.zeros((num_clients + 1, 2)), np.ones(1), 0.0, np.full(1, np.inf))
    bounds = TourBounds(replace(problem, matrix=ways), ProofEffort())
    assert not bounds.impossible_within(np.inf)
    assert not bounds.impossible_within(way * (num_clients + 1))
    assert bounds.impossible_within(way * num_clients)


@pytest.mark.parametrize("objective", ["sws", "total"])
def test_plans_that_hardly_differ_are_told_apart(objective: Objective) -> None:
    """Nearly equal speeds, and a plan that gives the tours to the wrong ones."""
    rng = np.random.default_rng(1)
    positions = 1000 * rng.random((8, 2))
    speeds = np.array([10.0, 10.000003])
    problem = problem_of(positions, speeds, 5.0, np.full(2, np.inf))
    tours = solve_exact(problem, objective)
    assert tours is not None
    best = problem.cost(objective, tours)
    worse = problem.cost(objective, tours[::-1])
    assert best * (1 + 1e-9) < worse < best * (1 + 1e-6)
    bound = bound_from(problem, objective, tours[::-1])
    assert best * (1 - 1e-8) <= bound <= best
