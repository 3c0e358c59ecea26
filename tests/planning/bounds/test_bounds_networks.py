"""What is proven about the paper's networks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from cases import OBJECTIVES, block_network

from flexpress import Plan, Scenario, make_plan
from flexpress.planning.bounds import certify_plan
from flexpress.planning.bounds.certificate import _lower_bound
from flexpress.planning.bounds.effort import ProofEffort
from flexpress.planning.bounds.tour_bounds import TourBounds
from flexpress.planning.problem import Problem
from flexpress.planning.progress import Effort
from flexpress.planning.search import solve_search
from flexpress.scenario import Objective

LARGEST_GAP = {"minmax": 0.01, "sws": 0.01, "total": 0.04}
OPTIMAL = 1e-6


def test_one_network_is_solved_to_optimality() -> None:
    network = block_network(1)
    tours = solve_search(network, "minmax", Effort())
    assert tours is not None
    cost = network.cost("minmax", tours)
    assert _lower_bound(network, "minmax", tours, ProofEffort()).value == pytest.approx(
        cost, rel=OPTIMAL
    )


def test_at_50_mbit_twelve_kilojoules_need_five_transporters() -> None:
    scenario = Scenario.preset("paper-50mbit")
    problem = replace(Problem.of(scenario), budgets=np.full(4, 12e3))
    assert TourBounds(problem, ProofEffort()).fewest_transporters(9) == 5


@pytest.mark.slow
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_gaps_on_five_networks(objective: Objective) -> None:
    gaps = [proven_gap(certified(seed, objective)) for seed in range(5)]
    assert max(gaps) <= LARGEST_GAP[objective]
    assert min(gaps) <= OPTIMAL


def certified(seed: int, objective: Objective) -> Plan:
    scenario = Scenario.preset("paper", seed=seed)
    plan = make_plan(scenario, objective=objective)
    return certify_plan(scenario, plan)


def proven_gap(plan: Plan) -> float:
    assert plan.gap is not None
    return plan.gap
