"""The same model, bit by bit: for any number of threads, any grouping, and through files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from flexpress.learning import Vector, make_learner
from flexpress.learning.fast.learner import FastLearner
from flexpress.planning import Plan, load_plan, make_plan
from flexpress.planning.plan_file import save_plan
from flexpress.scenario import Algorithm, Clock, Scenario
from flexpress.simulation import simulate

ALGORITHMS: list[Algorithm] = ["sync", "async", "direct"]

VALLEY = Scenario.preset("valley").replace(
    learning={"model": "logistic", "partition": "dirichlet"},
    run={"horizon": 40, "head_start": 0.0},
)
HEAD_START = VALLEY.replace(run={"head_start": 0.5, "preloaded": True})

with_and_without = pytest.mark.parametrize(
    "scenario", [VALLEY, HEAD_START], ids=["plain", "head start"]
)


@pytest.fixture(scope="module")
def plan() -> Plan:
    return make_plan(VALLEY, solver="carp", iterations=20)


@pytest.fixture(scope="module")
def learner() -> FastLearner:
    return fast(1)


def fast(threads: int) -> FastLearner:
    made = make_learner(VALLEY, engine="fast", threads=threads)
    assert isinstance(made, FastLearner)
    return made


def models(
    plan: Plan, learner: FastLearner, algorithm: Algorithm, scenario: Scenario = VALLEY
) -> NDArray[np.float32]:
    """After every update, and the metrics at the end as if they were parameters."""
    seen: list[Vector] = []
    trace = simulate(
        scenario,
        plan,
        learner,
        algorithm=algorithm,
        on_update=lambda slot, model: seen.append(model),
    )
    assert len(seen) > 3
    last = trace.metrics[-1]
    return np.array([np.append(model, [last.loss, last.accuracy]) for model in seen])


@with_and_without
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_threads(
    algorithm: Algorithm, scenario: Scenario, plan: Plan, learner: FastLearner
) -> None:
    expected = models(plan, learner, algorithm, scenario)
    for threads in (2, 5):
        np.testing.assert_array_equal(models(plan, fast(threads), algorithm, scenario), expected)


@with_and_without
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_grouping(
    algorithm: Algorithm,
    scenario: Scenario,
    plan: Plan,
    learner: FastLearner,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One job a call, or three, or all that are due."""
    expected = models(plan, learner, algorithm, scenario)
    train, sizes = FastLearner.train, []

    def watched(self: FastLearner, jobs: list[object]) -> Vector:
        sizes.append(len(jobs))
        return train(self, jobs)  # type: ignore[arg-type]  # jobs as they came

    monkeypatch.setattr(FastLearner, "train", watched)
    for most in (1, 3):
        sizes.clear()
        num_bytes = most * learner.initial_model().nbytes
        for module in ("learning.summing", "simulation.head_start"):
            monkeypatch.setattr(f"flexpress.{module}.MOST_BYTES", num_bytes)
        np.testing.assert_array_equal(models(plan, learner, algorithm, scenario), expected)
        assert max(sizes) == most


@pytest.mark.parametrize("clock", ["slots", "exact"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_through_files(
    algorithm: Algorithm, clock: Clock, plan: Plan, learner: FastLearner, tmp_path: Path
) -> None:
    """The scenario and the plan, twice."""
    scenario, stored = VALLEY.replace(run={"clock": clock}), plan
    expected = models(plan, learner, algorithm, scenario)
    for _ in range(2):
        scenario.save(tmp_path / "scenario.toml")
        save_plan(stored, tmp_path / "plan.json")
        scenario = Scenario.load(tmp_path / "scenario.toml")
        stored = load_plan(tmp_path / "plan.json", scenario)
    again = make_learner(scenario, engine="fast", threads=2)
    assert isinstance(again, FastLearner)
    np.testing.assert_array_equal(models(stored, again, algorithm, scenario), expected)


def test_a_longer_horizon_only_appends(plan: Plan, learner: FastLearner) -> None:
    """Though other jobs are then trained together."""
    short = models(plan, learner, "async")
    longer = models(plan, learner, "async", VALLEY.replace(run={"horizon": 61}))
    np.testing.assert_array_equal(longer[: len(short), :-2], short[:, :-2])
    assert len(longer) > len(short)
