"""Memory of a simulation: it grows neither with the horizon nor with the updates of clients.

With a head start the last update of each client is kept, and no more than that.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence

import numpy as np
import pytest

from flexpress import Job, Metrics, Plan, Scenario, simulate
from flexpress.learning import Vector
from flexpress.scenario import Algorithm

NUM_PARAMS = 50_000
MODEL = 4 * NUM_PARAMS
"""Bytes."""

ALGORITHMS: list[Algorithm] = ["sync", "async"]


class Idle:
    """Updates are as large as those of a real learner, and made as it makes them."""

    def __init__(self) -> None:
        self.num_jobs = 0

    def initial_model(self) -> Vector:
        return np.zeros(NUM_PARAMS, dtype=np.float32)

    def train(self, jobs: Sequence[Job]) -> Vector:
        self.num_jobs += len(jobs)
        return np.ones((len(jobs), NUM_PARAMS), dtype=np.float32)

    def evaluate(self, model: Vector) -> Metrics:
        return Metrics(1.0, 0.1)


def peak(
    algorithm: Algorithm, clients_each: int, horizon: int, **settings: object
) -> tuple[int, int]:
    """Bytes at most, and jobs in all, of a run of four transporters."""
    network = {"blocks": [1, 1], "clients_per_block": 4 * clients_each}
    run = {"algorithm": algorithm, "horizon": horizon, "eval_every": horizon, **settings}
    fleet = {"speeds": [10.0] * 4, "budgets": None}
    scenario = Scenario.preset("paper").replace(network=network, fleet=fleet, run=run)
    tours = [list(range(1 + k, 4 * clients_each + 1, 4)) for k in range(4)]
    plan = Plan.of(scenario, "minmax", tours, solver="search", seed=0, seconds=0.0)
    learner = Idle()
    tracemalloc.start()
    try:
        simulate(scenario, plan, learner)
        return tracemalloc.get_traced_memory()[1], learner.num_jobs
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("gamma", [0.0, 0.5])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_not_with_the_horizon(algorithm: Algorithm, gamma: float) -> None:
    """Eight times the jobs, and less than the size of one model between them."""
    (short, few), (long, many) = (
        peak(algorithm, 5, horizon, head_start=gamma) for horizon in (400, 3200)
    )
    assert many > 7 * few > 0
    assert abs(long - short) < MODEL


@pytest.mark.parametrize("preloaded", [False, True])
@pytest.mark.parametrize("gamma", [0.0, 0.5])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_not_with_the_updates_of_clients(
    algorithm: Algorithm, gamma: float, preloaded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten times the clients of the same transporters, whose updates are 180 models more.

    Only with a head start are they kept, each of them once.
    """
    for module in ("learning.summing", "simulation.head_start"):
        monkeypatch.setattr(f"flexpress.{module}.MOST_BYTES", 5 * MODEL)
    (small, few), (large, many) = (
        peak(algorithm, clients, 800, head_start=gamma, preloaded=preloaded) for clients in (5, 50)
    )
    assert min(few, many) > 200
    kept = 180 * MODEL if gamma else 0
    assert abs(large - small - kept) < 5 * MODEL
