"""`on_tours`: each better plan is told while the search goes on, and nothing else changes."""

from __future__ import annotations

from flexpress import Plan, Scenario, make_plan

PAPER = Scenario.preset("paper").replace(
    network={"clients_per_block": 15}, fleet={"speeds": [10.0] * 8, "budgets": None}
)


def test_tours_become_better_up_to_the_plan() -> None:
    told: list[list[list[int]]] = []
    plan = make_plan(PAPER, iterations=3000, seed=1, on_tours=told.append)
    costs = [
        Plan.of(PAPER, "sws", tours, solver="search", seed=1, seconds=0.0).cost for tours in told
    ]
    assert len(costs) > 2
    assert costs == sorted(costs, reverse=True)
    assert told[-1] == plan.nodes(PAPER)
    assert plan.transporters == make_plan(PAPER, iterations=3000, seed=1).transporters
