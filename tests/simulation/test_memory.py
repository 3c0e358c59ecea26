"""Memory of a simulation: it grows neither with the horizon nor with the updates of clients.

With a head start the last update of each client is kept, and no more than that.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence
from types import SimpleNamespace

import numpy as np
import pytest

from flexpress import InputError, Job, Metrics, Plan, Scenario, compare, simulate
from flexpress.learning import Vector
from flexpress.scenario import Algorithm
from flexpress.simulation import head_start

NUM_PARAMS = 50_000
MODEL = 4 * NUM_PARAMS
"""Bytes."""

ALGORITHMS: list[Algorithm] = ["sync", "async"]


class Idle:
    """Updates are as large as those of a real learner, and made as it makes them."""

    def __init__(self, num_params: int = NUM_PARAMS) -> None:
        self._num_params = num_params
        self.num_jobs = 0

    def initial_model(self) -> Vector:
        return np.zeros(self._num_params, dtype=np.float32)

    def train(self, jobs: Sequence[Job]) -> Vector:
        self.num_jobs += len(jobs)
        return np.ones((len(jobs), self._num_params), dtype=np.float32)

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


FOUR = Scenario.preset("four").replace(
    plan={"solver": "exact"}, run={"horizon": 1, "head_start": 0.5}
)


@pytest.mark.parametrize(("num_params", "noted"), [(NUM_PARAMS, True), (NUM_PARAMS - 1, False)])
def test_much_memory_is_told_of_before_the_run(
    num_params: int, noted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only if a run has a head start, and once for all of several."""
    monkeypatch.setattr(head_start, "_MUCH", 4 * MODEL)
    notes: list[str] = []
    learner = Idle(num_params)
    simulate(FOUR, learner=learner, tell=notes.append)
    expected = (
        "run.head_start = 0.5 keeps the last update of each client: 0.0 GiB for 4 clients with "
        "50,000 parameters; 0 keeps none"
    )
    assert notes == [expected] * noted
    compare(FOUR, learner=learner, algorithms=("sync", "async"), tell=notes.append)
    assert notes == [expected] * 2 * noted
    simulate(FOUR, learner=learner, head_start=0, tell=notes.append)
    simulate(FOUR, learner=learner, algorithm="direct", tell=notes.append)
    assert notes == [expected] * 2 * noted
    compare(FOUR.replace(run={"head_start": 0}), learner=learner, tell=notes.append)
    assert notes == [expected] * 3 * noted  # two of its five have one


def test_the_sizes_in_the_note() -> None:
    """Ten thousand clients with LeNet, as docs/simulation.md has them."""
    lenet = np.zeros(61_706, dtype=np.float32)
    assert head_start.memory_note(0.5, 4_000, lenet) == ""
    assert "2.3 GiB for 10,000 clients with 61,706" in head_start.memory_note(0.5, 10_000, lenet)


def test_more_memory_than_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """One line that names the remedy, and nothing has been trained."""

    def refuse(*_: object) -> Vector:
        raise MemoryError

    learner = Idle(100)
    monkeypatch.setattr(head_start, "np", SimpleNamespace(zeros=refuse))
    with pytest.raises(InputError) as failure:
        simulate(FOUR, learner=learner)
    assert str(failure.value) == (
        "run.head_start = 0.5 keeps the last update of each client: 0.0 GiB for 4 clients with "
        "100 parameters, more than there is here; use run.head_start = 0, which keeps none"
    )
    assert learner.num_jobs == 0
