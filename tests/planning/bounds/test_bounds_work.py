"""How long a bound is looked for, what is told meanwhile, and what is proven without HiGHS."""

from __future__ import annotations

import itertools
import time
from dataclasses import replace

import numpy as np
import pytest
from cases import OBJECTIVES, block_network, problem_of

from flexpress import InputError, Plan, Scenario, make_plan
from flexpress.planning.bounds import certificate, certify_plan
from flexpress.planning.bounds.certificate import LowerBound, _lower_bound
from flexpress.planning.bounds.effort import ProofEffort
from flexpress.planning.bounds.one_tree import _one_tree
from flexpress.planning.bounds.pricing import price
from flexpress.planning.problem import Problem
from flexpress.planning.progress import Effort, Progress, Watch
from flexpress.planning.search import solve_search
from flexpress.scenario import Objective

NETWORK = block_network(1)


def bound_of(problem: Problem, objective: Objective, effort: ProofEffort) -> LowerBound:
    tours = solve_search(problem, objective, Effort(iterations=2000))
    assert tours is not None
    return _lower_bound(problem, objective, tours, effort)


def small_network(num_clients: int = 11) -> Problem:
    rng = np.random.default_rng(num_clients)
    positions = 2000 * rng.random((num_clients + 1, 2))
    return problem_of(positions, np.array([8.0, 8.0, 12.0]), 10.0, np.full(3, 15e3))


@pytest.fixture(scope="module")
def planned() -> tuple[Scenario, Plan]:
    scenario = Scenario.preset("coast")
    return scenario, make_plan(scenario, iterations=3000)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_same_bound_bit_for_bit(objective: Objective) -> None:
    first, second = (bound_of(small_network(), objective, ProofEffort()) for _ in range(2))
    assert first == second
    assert first.method == "column generation"


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_stopped_at_once_there_is_still_a_bound(objective: Objective) -> None:
    stopped = bound_of(NETWORK, objective, ProofEffort(watch=Watch(should_stop=lambda: True)))
    assert stopped.method in ("farthest client", "shared load")
    assert stopped.value > 0


@pytest.mark.parametrize("objective", ["sws", "total"])
def test_seconds_are_kept(objective: Objective, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nearly: a step that has begun is finished. Here each look at the clock takes a second."""
    looks = itertools.count()
    tours = solve_search(NETWORK, objective, Effort(iterations=2000))
    assert tours is not None
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(looks)))
    bound = _lower_bound(NETWORK, objective, tours, ProofEffort(seconds=50.0, started=0.0))
    assert bound.value > 0
    assert 50 <= next(looks) < 75


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_progress_goes_from_0_to_1_and_bounds_rise(objective: Objective) -> None:
    told: list[Progress] = []
    bound = bound_of(small_network(), objective, ProofEffort(watch=Watch(told.append)))
    fractions = [progress.fraction for progress in told]
    bounds = [progress.cost for progress in told if progress.cost is not None]
    assert fractions == sorted(fractions)
    assert 0 <= fractions[0] <= fractions[-1] <= 1
    assert len(bounds) == len(told) > 3
    assert bounds == sorted(bounds)
    assert bounds[-1] <= bound.value * (1 + 1e-8)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_without_highs_the_cheap_bounds_remain(
    objective: Objective, monkeypatch: pytest.MonkeyPatch
) -> None:
    best = bound_of(small_network(), objective, ProofEffort())
    monkeypatch.setattr(certificate, "has_highs", lambda: False)
    cheap = bound_of(small_network(), objective, ProofEffort())
    assert cheap.method in ("farthest client", "shared load")
    assert 0.3 * best.value < cheap.value <= best.value


def test_has_highs_asks_for_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    assert certificate.has_highs()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert not certificate.has_highs()


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_many_clients_have_a_cheap_bound(objective: Objective) -> None:
    positions = 5000 * np.random.default_rng(0).random((301, 2))
    problem = problem_of(positions, np.full(3, 10.0), 6.0, np.full(3, np.inf))
    assert bound_of(problem, objective, ProofEffort()).method == "shared load"


class TestCertifiedPlans:
    def test_the_gap_is_that_of_cost_and_bound(self, planned: tuple[Scenario, Plan]) -> None:
        scenario, plan = planned
        certified = certify_plan(scenario, plan)
        assert certified.lower_bound is not None
        assert certified.gap == (plan.cost - certified.lower_bound) / plan.cost
        assert replace(certified, lower_bound=None, gap=None, bound_method=None) == plan

    def test_the_exact_solver_is_its_own_proof(self) -> None:
        scenario = Scenario.preset("four")
        certified = certify_plan(scenario, make_plan(scenario, solver="exact"))
        assert certified.gap == 0
        assert certified.bound_method == "dynamic programming"

    def test_a_matrix_of_distances_needs_no_code_of_its_own(self) -> None:
        scenario = Scenario.preset("alps")
        assert scenario.distances is not None
        assert certify_plan(scenario, make_plan(scenario, iterations=3000)).gap is not None
        assert len(price.signatures) == len(_one_tree.signatures) == 1

    @pytest.mark.parametrize("seconds", [0, -1.0, np.nan, 2e9])
    def test_seconds_out_of_range(self, planned: tuple[Scenario, Plan], seconds: float) -> None:
        with pytest.raises(InputError, match="must be a number greater than 0 and at most 1e9"):
            certify_plan(*planned, seconds=seconds)
