"""The learner on Ray against the ordinary one: the same jobs, whoever trains them."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ray_cases import HEAD_START, VALLEY, as_bytes, fold, never, pids, some_groups
from thinned import by_default

from flexpress.errors import InputError
from flexpress.learning import Job, Learner, Vector, make_learner, make_task
from flexpress.learning.engines import choose_net, learner_of
from flexpress.learning.on_ray import RayLearner
from flexpress.learning.on_ray.learner import _parts_of, _SentModels
from flexpress.learning.on_ray.worker import _with_tests
from flexpress.learning.summing import StopRequestedError
from flexpress.planning import Plan, make_plan
from flexpress.scenario import Algorithm
from flexpress.simulation import simulate

CUTS = {
    8: [[6, 6], [1], [5], [6]],
    5: [[4, 4, 4], [1], [5], [3, 3]],
    1: [[1] * 12, [1], [1] * 5, [1] * 6],
    99: [[12], [1], [5], [6]],
}
"""Shards of the groups of `some_groups` by the size that is allowed; worked out by hand."""


@pytest.fixture(scope="module")
def plain() -> Learner:
    return make_learner(VALLEY, threads=1)


@pytest.fixture(scope="module")
def plan() -> Plan:
    return make_plan(VALLEY, solver="carp", iterations=20)


@pytest.fixture(scope="module")
def learner(ray: Any) -> Iterator[RayLearner]:
    with RayLearner(VALLEY, workers=2, shard_size=8) as made:
        yield made


def test_jobs_one_by_one(learner: RayLearner, plain: Learner) -> None:
    assert learner.initial_model().tobytes() == plain.initial_model().tobytes()
    jobs = [job for group in some_groups(plain) for job in group]
    found, expected = learner.train(jobs), plain.train(jobs)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)
    assert learner.train([]).shape == (0, expected.shape[1])


def test_sums_of_shards(learner: RayLearner, plain: Learner) -> None:
    """Bit by bit those of a fold by hand, and close to those of no shards at all."""
    groups = some_groups(plain)
    found = list(learner.train_sums(groups, never))
    assert as_bytes(found) == as_bytes(fold(plain, groups, CUTS[8]))
    for total, whole in zip(found, fold(plain, groups, CUTS[99]), strict=True):
        np.testing.assert_allclose(total, whole, rtol=1e-4, atol=1e-6)
    assert as_bytes(found) != as_bytes(fold(plain, groups, CUTS[99])), "or shards would not show"


@pytest.mark.parametrize("size", by_default(1, [5, 1, 99]))
def test_other_shards(
    size: int, learner: RayLearner, plain: Learner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And it does not matter how many go into a call."""
    groups = some_groups(plain)
    expected = as_bytes(fold(plain, groups, CUTS[size]))
    monkeypatch.setattr(learner, "_shard_size", size)
    assert as_bytes(list(learner.train_sums(groups, never))) == expected
    monkeypatch.setattr("flexpress.learning.pieces._LARGEST_PIECE", 1)
    assert as_bytes(list(learner.train_sums(groups, never))) == expected


@pytest.mark.slow
def test_another_number_of_workers(ray: Any, plain: Learner) -> None:
    groups = some_groups(plain)
    expected = as_bytes(fold(plain, groups, CUTS[5]))
    with RayLearner(VALLEY, workers=1, shard_size=5) as learner:
        assert as_bytes(list(learner.train_sums(groups, never))) == expected


def test_a_group_does_not_depend_on_those_beside_it(learner: RayLearner, plain: Learner) -> None:
    groups = some_groups(plain)
    together = as_bytes(list(learner.train_sums(groups, never)))
    for group, expected in zip(groups, together, strict=True):
        (alone,) = learner.train_sums([group], never)
        assert alone.tobytes() == expected


def test_evaluation_in_parts(
    learner: RayLearner, plain: Learner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By hand from a learner of each part; they are not quite equal."""
    monkeypatch.setattr("flexpress.learning.on_ray.learner._SMALLEST_TEST_PART", 600)
    task, model = make_task(VALLEY), plain.initial_model() + np.float32(0.003)
    count = len(task.dataset.test_labels)
    assert count == 2000
    loss, right = 0.0, 0.0
    for first, last in ((0, 666), (666, 1333), (1333, 2000)):
        part = learner_of(_with_tests(task, first, last), choose_net(VALLEY, "auto"))
        its = part.evaluate(model)
        loss += its[0] * (last - first)
        right += its[1] * (last - first)
    found = learner.evaluate(model)
    assert found == (loss / count, right / count)
    assert found.loss == pytest.approx(plain.evaluate(model)[0], rel=1e-9)
    assert found.accuracy == pytest.approx(plain.evaluate(model)[1], rel=1e-9)


@pytest.mark.parametrize(
    ("count", "number", "smallest"),
    [(30, 1, 30), (1999, 1, 1999), (2000, 2, 1000), (10_000, 10, 1000), (26_032, 16, 1627)],
)
def test_parts_of_the_test_samples(count: int, number: int, smallest: int) -> None:
    parts = _parts_of(count)
    assert len(parts) == number
    assert [*range(count)] == [sample for part in parts for sample in range(*part)]
    assert min(last - first for first, last in parts) == smallest


@pytest.mark.parametrize("algorithm", by_default(1, ["async", "sync"]))
def test_a_simulation(
    algorithm: Algorithm, learner: RayLearner, plain: Learner, plan: Plan
) -> None:
    ours, theirs = (simulate(VALLEY, plan, each, algorithm=algorithm) for each in (learner, plain))
    np.testing.assert_allclose(ours.model, theirs.model, rtol=1e-3, atol=1e-5)
    for found, expected in zip(ours.metrics, theirs.metrics, strict=True):
        assert found.loss == pytest.approx(expected.loss, rel=1e-4)
        assert found.accuracy == pytest.approx(expected.accuracy, abs=2e-3)


@pytest.mark.parametrize("algorithm", by_default(1, ["async", "sync"]))
def test_a_simulation_with_a_head_start(
    algorithm: Algorithm, learner: RayLearner, plain: Learner, plan: Plan
) -> None:
    """Every client has a start of its own, so there are no shards: the bits of the ordinary one."""
    ours, theirs = (
        simulate(HEAD_START, plan, each, algorithm=algorithm) for each in (learner, plain)
    )
    assert len(ours.updates) > 3
    assert ours.model.tobytes() == theirs.model.tobytes()


@pytest.mark.slow
def test_a_head_start_with_one_worker(ray: Any, learner: RayLearner, plan: Plan) -> None:
    two = simulate(HEAD_START, plan, learner, algorithm="async")
    with RayLearner(VALLEY, workers=1, shard_size=8) as alone:
        one = simulate(HEAD_START, plan, alone, algorithm="async")
    assert one.model.tobytes() == two.model.tobytes()
    assert one.metrics == two.metrics


def test_whole_groups_give_the_bits_of_one_process(
    learner: RayLearner, plain: Learner, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learner, "_shard_size", 12)
    expected, found = (simulate(VALLEY, plan, each, algorithm="async") for each in (plain, learner))
    assert found.model.tobytes() == expected.model.tobytes()


def test_stopped_and_asked_again(learner: RayLearner, plain: Learner) -> None:
    groups = some_groups(plain)
    expected = as_bytes(list(learner.train_sums(groups, never)))
    for answers in ([True], [False, True], [False] * 3 + [True]):
        told = iter(answers)
        with pytest.raises(StopRequestedError):
            list(learner.train_sums(some_groups(plain, 400), lambda told=told: next(told)))  # type: ignore[misc]  # its value now
    assert as_bytes(list(learner.train_sums(groups, never))) == expected


def test_killed_in_the_middle_of_a_round(learner: RayLearner, plain: Learner) -> None:
    """All work is done by the other one, or again; there are more such cases in test_ray_death."""
    groups = some_groups(plain, 40)
    expected = as_bytes(list(learner.train_sums(groups, never)))
    _, victim = pids(learner)
    sums = learner.train_sums(groups, never)
    found = [next(sums)]
    os.kill(victim, signal.SIGKILL)
    found.extend(sums)
    assert as_bytes(found) == expected


def test_a_model_is_sent_once(
    ray: Any, learner: RayLearner, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though many clients start from it, in several calls, and it is evaluated."""
    put, sent = ray.put, []

    def watched(value: Vector) -> object:
        sent.append(value.tobytes())
        return put(value)

    monkeypatch.setattr(ray, "put", watched)
    trace = simulate(VALLEY, plan, learner, algorithm="async")
    assert len(trace.updates) > 4
    assert len(set(sent)) == len(sent) <= len(trace.updates) + 1


def test_models_are_forgotten_with_their_owner(ray: Any) -> None:
    sent, model = _SentModels(ray), np.arange(5.0)
    assert ray.get(sent.reference(model)).tolist() == [0, 1, 2, 3, 4]
    model[0] = 7.0
    assert ray.get(sent.reference(model))[0] == 7.0, "what can be written to may have changed"
    assert len(sent) == 0
    model.flags.writeable = False
    first = sent.reference(model)
    assert sent.reference(model) == first
    assert len(sent) == 1
    del model
    gc.collect()
    assert len(sent) == 0


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="there is no /proc")
def test_samples_are_read_where_they_lie(ray: Any) -> None:
    """In the memory that all processes of a machine share: no worker has a copy."""

    def mapped_file(task: Any, scenario: Any) -> str:
        from flexpress.learning.engines import choose_net, learner_of

        learner: Any = learner_of(task, choose_net(scenario, "fast"), engine="fast", threads=1)
        address = learner._train.memory.ctypes.data
        for line in Path("/proc/self/maps").read_text().splitlines():
            low, high = (int(bound, 16) for bound in line.split()[0].split("-"))
            if low <= address < high:
                return line
        return "nowhere"

    task = ray.put(make_task(VALLEY))
    assert "plasma" in ray.get(ray.remote(mapped_file).remote(task, VALLEY))


@pytest.mark.slow
def test_a_torch_module_of_the_user(
    ray: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers find it where the caller does; samples in shared memory cannot be written to."""
    pytest.importorskip("torch")
    (tmp_path / "own_net.py").write_text(
        "from torch import nn\n"
        "def make():\n"
        "    return nn.Sequential(nn.Flatten(), nn.Linear(784, 16), nn.Tanh(), nn.Linear(16, 10))\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    scenario = VALLEY.replace(learning={"model": "own_net:make"})
    plain = make_learner(scenario)
    groups, model = some_groups(plain, 2), plain.initial_model()
    with RayLearner(scenario, workers=1, shard_size=8) as learner:
        assert learner.kind == "TorchLearner on Ray by 8"
        found = as_bytes(list(learner.train_sums(groups, never)))
        assert found == as_bytes(fold(plain, groups, CUTS[8]))
        assert learner.evaluate(model) == pytest.approx(plain.evaluate(model), rel=1e-6)


def test_a_mistake_over_there_is_raised_here(learner: RayLearner) -> None:
    with pytest.raises(InputError, match=r'Job\.client = "nobody": must be the id of a client'):
        learner.train([Job("nobody", learner.initial_model(), 0, 1)])


@pytest.mark.parametrize("wrong", [{"workers": 0}, {"shard_size": 0}])
def test_what_cannot_be(wrong: dict[str, int]) -> None:
    (name,) = wrong
    with pytest.raises(InputError, match=f"{name} = 0: must be a whole number of at least 1"):
        RayLearner(VALLEY, **wrong)  # type: ignore[arg-type]  # numbers, all of them


@pytest.mark.slow
def test_closed_workers_make_room(ray: Any) -> None:
    """Three cores: the fourth would wait for ever if the first ones did not end."""
    for _ in range(4):
        with RayLearner(VALLEY, workers=1) as learner:
            learner.evaluate(learner.initial_model())


def test_without_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError) as caught:
        RayLearner(VALLEY, address="local")
    assert str(caught.value) == 'Ray is not installed: pip install "flexpress[ray]"'
