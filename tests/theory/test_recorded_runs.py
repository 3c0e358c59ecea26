"""Recordings of the simulator, and what is measured in them, against the aligned view."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pytest
from bound_cases import KINDS, Case, Kind, random_case
from problems import Problem
from sides import Run, async_sides, running_means, sync_sides
from thinned import by_default

from flexpress.learning import Vector
from flexpress.planning import Plan
from flexpress.scenario import Scenario
from flexpress.simulation import Recording, record
from flexpress.theory import Measured, measure

Algorithm = Literal["sync", "async"]


@dataclass(frozen=True, eq=False)
class Slopes:
    """The gradient of f in the name of every client: only their mean is asked for."""

    problem: Problem

    @property
    def client_ids(self) -> Sequence[int | str]:
        return self.problem.client_ids

    def loss(self, model: Vector) -> float:
        return self.problem.evaluate(model)[0]

    def gradients(self, clients: Sequence[int | str], models: Vector) -> Vector:
        slope = self.problem.gradient(self.problem.replicates(models)).reshape(-1)
        return np.tile(slope, (len(clients), 1))

    def sampled(self, clients: Sequence[int | str], models: Vector, steps: Sequence[int]) -> Vector:
        raise NotImplementedError


def flown(case: Case, head_start: float) -> tuple[Scenario, Plan]:
    """Slots of 1 s, drones of 1 m/s: all clients of one stand half its way off."""
    nodes = np.split(np.arange(1, sum(case.clients) + 1), np.cumsum(case.clients)[:-1])
    away = np.repeat([delta / 2 - 0.1 for delta in case.periods], case.clients)
    scenario = Scenario.from_dict(
        {
            "slot": 1.0,
            "network": {
                "server": [0.0, 0.0],
                "clients": [[float(x), 0.0] for x in away],
                "ids": list(case.problem.client_ids),
            },
            "fleet": {"speeds": [1.0] * len(case.clients)},
            "link": {"transfer_time": 1e-6},
            "run": {"head_start": head_start},
        }
    )
    tours = [[int(node) for node in group] for group in nodes]
    plan = Plan.of(scenario, "sws", tours, solver="exact", seed=0, seconds=0.0)
    assert [tour.round_trip_slots for tour in plan.transporters] == list(case.periods)
    return scenario, plan


def recorded(case: Case, algorithm: Algorithm, head_start: float) -> Recording:
    scenario, plan = flown(case, head_start)
    return record(scenario, plan, case.problem, algorithm=algorithm, horizon=case.num_slots)


def equal(found: Vector, expected: Vector) -> None:
    scale = np.abs(expected).max(initial=1.0)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11 * scale)


@pytest.mark.parametrize("head_start", [0.0, 0.5])
@pytest.mark.parametrize("kind", by_default(3, KINDS))
@pytest.mark.parametrize("algorithm", ["sync", "async"])
def test_the_same_sequences(kind: Kind, algorithm: Algorithm, head_start: float) -> None:
    for i in range(8):
        case = random_case(np.random.default_rng([21, KINDS.index(kind), i]), kind, 3, longest=8)
        found = recorded(case, algorithm, head_start)
        paths = case.run(algorithm, head_start).paths
        assert found.head_start == head_start
        equal(found.real, paths.real)
        equal(found.virtual, paths.virtual)
        equal(found.local, paths.local[:-1])
        assert np.array_equal(found.phi, paths.received)


def measured(case: Case, algorithm: Algorithm, head_start: float) -> tuple[Measured, Run]:
    """Of one replicate: lengths are those of whole models."""
    found = measure(recorded(case, algorithm, head_start), Slopes(case.problem))
    assert found.head_start == head_start
    return found, case.run(algorithm, head_start)


@pytest.mark.parametrize("head_start", [0.0, 0.5])
@pytest.mark.parametrize("kind", by_default(3, KINDS))
def test_the_same_left_hand_sides(kind: Kind, head_start: float) -> None:
    for i in range(8):
        case = random_case(np.random.default_rng([22, KINDS.index(kind), i]), kind, 1, longest=8)
        delta = max(case.periods)
        found, run = measured(case, "sync", head_start)
        apart, _ = sync_sides(run)["lemma 1, real"]
        equal(found.real_to_local[delta + 1 :], apart[:-1, :, 0])
        equal(found.mean_gradient, running_means(run.problem, run.real)[: case.num_slots, 0])
        found, run = measured(case, "async", head_start)
        sides = async_sides(run)
        equal(found.virtual_to_real, sides["lemma 2, global"][0][:-1, 0])
        equal(found.virtual_to_local, sides["lemma 2, local"][0][:-1, 0])
        equal(found.mean_gradient, running_means(run.problem, run.real)[: case.num_slots, 0])
