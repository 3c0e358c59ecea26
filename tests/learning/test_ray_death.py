"""Ray workers that die at any moment: the result is the same, or a line says why there is none."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest
from ray_cases import HEAD_START, VALLEY, as_bytes, never, pids, some_groups

from flexpress.errors import FlexpressError, InputError
from flexpress.files.versions import versions
from flexpress.learning import make_learner
from flexpress.learning.on_ray import RayLearner, worker_pool
from flexpress.learning.on_ray.worker_pool import Call, RayWorkers
from flexpress.planning import make_plan
from flexpress.scenario import Scenario
from flexpress.simulation import simulate


@pytest.fixture(scope="module")
def learner(ray: Any) -> Iterator[RayLearner]:
    with RayLearner(VALLEY, workers=2, shard_size=4) as made:
        yield made


@pytest.mark.slow
@pytest.mark.parametrize("victims", [[1], [0, 1]])
def test_killed_in_the_middle_of_a_round(victims: list[int], learner: RayLearner) -> None:
    plain = make_learner(VALLEY, threads=1)
    groups = some_groups(plain, 40) * 3
    expected = as_bytes(list(learner.train_sums(groups, never)))
    before = pids(learner)
    sums = learner.train_sums(groups, never)
    found = [next(sums)]
    for victim in victims:
        os.kill(before[victim], signal.SIGKILL)
    found.extend(sums)
    assert as_bytes(found) == expected
    after = pids(learner)
    assert [pid in after for pid in before] == [i not in victims for i in (0, 1)]


@pytest.mark.slow
def test_killed_between_two_rounds(learner: RayLearner, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them, as with their machine: no call is to blame for it."""
    monkeypatch.setattr(worker_pool, "_MOST_LOSSES", 2)
    model = learner.initial_model()
    expected = learner.evaluate(model)
    for pid in pids(learner):
        os.kill(pid, signal.SIGKILL)
    assert learner.evaluate(model) == expected


@pytest.mark.slow
def test_two_rounds_at_once(learner: RayLearner) -> None:
    groups = some_groups(make_learner(VALLEY, threads=1), 20) * 3
    expected = as_bytes(list(learner.train_sums(groups, never)))
    sums = learner.train_sums(groups, never)
    found = [next(sums)]
    for _ in range(3):
        learner.evaluate(learner.initial_model())
    found.extend(sums)
    assert as_bytes(found) == expected


@pytest.mark.slow
@pytest.mark.parametrize("scenario", [VALLEY, HEAD_START], ids=["plain", "head start"])
def test_killed_again_and_again_in_a_simulation(scenario: Scenario, learner: RayLearner) -> None:
    plan = make_plan(scenario, solver="carp", iterations=20)
    expected = simulate(scenario, plan, learner, algorithm="async")
    kills = 0

    def kill_now_and_then(slot: int, model: object) -> None:
        nonlocal kills
        if slot % 3 == 1:
            os.kill(pids(learner)[kills % 2], signal.SIGKILL)
            kills += 1

    found = simulate(scenario, plan, learner, algorithm="async", on_update=kill_now_and_then)
    assert kills > 2
    assert found.model.tobytes() == expected.model.tobytes()
    assert found.metrics == expected.metrics


def pool_of(ray: Any, *, numba: str | None = None, num_cpus: int = 1) -> RayWorkers:
    """One worker, that does not survive a 3; its class travels, as the module does not."""
    theirs = {**versions(), **({"numba": numba} if numba else {})}

    class Fragile:
        def ready(self) -> dict[str, str]:
            return theirs

        def work(self, number: int) -> int:
            if number == 3:
                os._exit(1)
            return number

    return RayWorkers(ray, ray.remote(max_restarts=-1, num_cpus=num_cpus)(Fragile).remote, 1)


def calls(*numbers: int) -> list[Call]:
    return [Call("work", (number,)) for number in numbers]


@pytest.mark.slow
def test_work_that_kills_everybody(ray: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls that wait in the same worker are lost with it: fewer losses could blame one of them."""
    monkeypatch.setattr(worker_pool, "_MOST_LOSSES", 8)
    fragile = pool_of(ray)
    try:
        results = fragile.results(calls(0, 1, 2, 3, 4), never)
        assert [next(results) for _ in range(3)] == [0, 1, 2]
        with pytest.raises(
            FlexpressError, match="8 Ray workers died while training the same"
        ) as it:
            next(results)
        assert "\n" not in str(it.value)
        assert list(fragile.results(calls(4, 5), never)) == [4, 5], "the pool has survived it"
    finally:
        fragile.close()


def test_nobody_comes(ray: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_pool, "_PATIENCE_SECONDS", 0.5)
    absent = pool_of(ray, num_cpus=1000)
    try:
        with pytest.raises(FlexpressError, match="none of 1 Ray workers is ready"):
            list(absent.results(calls(1), never))
    finally:
        absent.close()


@pytest.mark.slow
def test_machines_that_disagree(ray: Any) -> None:
    other = pool_of(ray, numba="0.1")
    try:
        with pytest.raises(InputError, match=r"machines disagree: numba .* here, 0.1 elsewhere"):
            list(other.results(calls(1), never))
    finally:
        other.close()
