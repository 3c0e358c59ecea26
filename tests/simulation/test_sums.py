"""Only the sum of a transporter's updates is needed: by whom it is made, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from fleets import random_fleet
from quadratic import Quadratic

from flexpress.errors import InputError
from flexpress.learning import Job, Vector
from flexpress.learning.summing import StopRequestedError, train_sums
from flexpress.scenario import Algorithm
from flexpress.simulation.compare import simulate
from flexpress.simulation.simulate import Simulation, run

ALGORITHMS: list[Algorithm] = ["sync", "async", "direct"]
CLIENTS = ("weir", 2, 3, "ford", 5, 6, 7)


def never() -> bool:
    return False


def single(seed: int = 3) -> Quadratic:
    """In single precision, where the order of a sum shows."""
    return Quadratic.drawn(CLIENTS, seed, num_params=50, dtype=np.float32)


def groups(learner: Quadratic) -> list[list[Job]]:
    model = learner.initial_model()
    other = model + np.float32(1.0)
    return [
        [Job(client, model, 3, 4) for client in CLIENTS[:4]],
        [Job(CLIENTS[4], other, 0, 2)],
        [Job(CLIENTS[5], model, 1, 1), Job(CLIENTS[6], other, 2, 5)],
    ]


@pytest.mark.parametrize("portion", [1, 2, 3, 100])
def test_updates_are_added_in_the_order_of_the_jobs(
    portion: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bit by bit, however many are trained at once."""
    learner = single()
    monkeypatch.setattr(
        "flexpress.learning.summing.MOST_BYTES", portion * learner.initial_model().nbytes
    )
    found = list(train_sums(learner, groups(learner), never))
    assert len(found) == 3
    for group, total in zip(groups(learner), found, strict=True):
        expected = np.zeros(50, dtype=np.float32)
        for job in group:
            expected = expected + learner.train([job])[0]
        assert total.dtype == np.float32
        assert total.tobytes() == expected.tobytes()
    backwards = sum(learner.train(groups(learner)[0])[::-1], np.zeros(50, dtype=np.float32))
    assert not np.array_equal(found[0], backwards), "or the order would not be seen here"


def test_stopped_between_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is summed by then is told, and no more is trained."""
    learner = single()
    monkeypatch.setattr("flexpress.learning.summing.MOST_BYTES", learner.initial_model().nbytes)
    answers = iter([False] * 5 + [True])
    sums = train_sums(learner, groups(learner), lambda: next(answers))
    assert len([next(sums), next(sums)]) == 2
    with pytest.raises(StopRequestedError):
        next(sums)
    assert list(answers) == []


@dataclass(eq=False)
class Elsewhere:
    """Adds the updates up itself."""

    learner: Quadratic
    kind: str = "elsewhere"
    asked: list[list[tuple[int | str, ...]]] = field(default_factory=list)

    def initial_model(self) -> Vector:
        return self.learner.initial_model()

    def train(self, jobs: Sequence[Job]) -> Vector:
        raise AssertionError("sums are enough")

    def train_sums(
        self, groups: Sequence[Sequence[Job]], should_stop: Callable[[], bool]
    ) -> Iterator[Vector]:
        self.asked.append([tuple(job.client for job in group) for group in groups])
        for group in groups:
            if should_stop():
                raise StopRequestedError
            yield next(train_sums(self.learner, [group], should_stop))

    def evaluate(self, model: Vector) -> tuple[float, float]:
        return self.learner.evaluate(model)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_learner_that_sums_is_asked_for_sums(algorithm: Algorithm) -> None:
    """Of whole tours, in the order of the visits; the result is the same to the bit."""
    for seed in range(20):
        fleet = random_fleet(seed)
        plain = Quadratic.drawn(fleet.scenario.client_ids, seed, dtype=np.float32)
        summing = Elsewhere(plain)
        traces = [
            simulate(fleet.scenario, fleet.plan, each, algorithm=algorithm, horizon=fleet.horizon)
            for each in (plain, summing)
        ]
        assert traces[0].model.tobytes() == traces[1].model.tobytes()
        assert traces[0].metrics == traces[1].metrics
        tours = {tour.clients for tour in fleet.plan.transporters if tour.clients}
        assert {group for call in summing.asked for group in call} <= tours


def test_sums_made_before_a_stop_are_kept() -> None:
    """Two transporters on two tours; stopped after the first sum, three are still to be made."""
    fleet = next(fleet for fleet in map(random_fleet, range(99)) if len(fleet.slots) == 2)
    scenario = fleet.scenario.replace(
        run={"algorithm": "sync", "horizon": 3 * max(fleet.slots) + 1}
    )
    learner = Elsewhere(Quadratic.drawn(scenario.client_ids, 1, dtype=np.float32))
    simulation = Simulation(scenario, fleet.plan, learner)
    run(simulation, should_stop=lambda: bool(learner.asked) and len(kept(simulation)) > 0)
    assert not simulation.complete
    assert len(kept(simulation)) == 1
    resumed = run(simulation)
    assert [len(call) for call in learner.asked] == [4, 3]
    undisturbed = run(Simulation(scenario, fleet.plan, learner.learner))
    assert resumed.model.tobytes() == undisturbed.model.tobytes()


def kept(simulation: Simulation) -> list[object]:
    return [each for each in simulation.deliveries.under_way.values() if each.trained]


def test_a_learner_that_returns_too_few() -> None:
    class Few(Quadratic):
        def train(self, jobs: Sequence[Job]) -> Vector:
            return super().train(jobs)[:-1]

    learner = Few(**vars(single()))
    with pytest.raises(InputError, match=r"train\(\) returned \(6, 50\): must be \(7, 50\)"):
        list(train_sums(learner, groups(learner), never))
