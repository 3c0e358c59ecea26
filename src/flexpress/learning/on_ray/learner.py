"""The learner on many machines: jobs go to Ray workers, and sums of their updates come back."""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import pairwise
from typing import Any, Self

import numpy as np

from flexpress.arguments import check_callable, check_text, check_whole
from flexpress.callbacks import ShouldStop, Tell, ignore_note
from flexpress.learning.engines import Engine, choose_net, learner_of
from flexpress.learning.job import Job, Metrics, Vector, check_model
from flexpress.learning.on_ray.worker import Part, Shard, Worker, WorkerSettings
from flexpress.learning.on_ray.worker_pool import Call, RayWorkers
from flexpress.learning.pieces import pieces
from flexpress.learning.summing import MOST_BYTES, Groups
from flexpress.learning.task import make_task
from flexpress.scenario import Scenario
from flexpress.workers.cluster import cluster_cores, on_cluster

_SHARD_SIZE = 16
"""Jobs, at most, whose updates a worker adds up."""

_MOST_TEST_PARTS, _SMALLEST_TEST_PART = 16, 1000
"""Parts of the test samples, each evaluated by one worker, with a separate learner."""


class RayLearner:
    """The learner of `make_learner`, on the cores of a cluster.

    The result depends on `shard_size`, but not on the number of workers, on which of them trains
    what, or on workers that die. Close it, or use it in a `with` statement: then its workers end,
    and so does a cluster that it has started.
    """

    def __init__(
        self,
        scenario: Scenario,
        *,
        address: str | None = None,
        workers: int | None = None,
        engine: Engine = "auto",
        shard_size: int = _SHARD_SIZE,
        tell: Tell = ignore_note,
    ) -> None:
        """`address` is HOST:PORT, `auto`, or `local`; by default there is one worker per core."""
        workers = None if workers is None else check_whole("workers", workers, 1)
        self._shard_size = check_whole("shard_size", shard_size, 1)
        if address is not None:
            check_text("address", address)
        check_callable(tell=tell)
        net = choose_net(scenario, engine)  # first, since loading the data may mean a download
        with ExitStack() as resources:
            ray = resources.enter_context(on_cluster(address, num_cpus=workers))
            self._task: Any = ray.put(make_task(scenario, tell))
            task = ray.get(self._task)  # in shared memory, not a copy
            # A local learner gives the first model, reports errors in the scenario, and compiles
            # the code once, before all workers need it.
            learner = learner_of(task, net, engine=engine, threads=1, tell=tell)
            self._name = type(learner).__name__
            self._initial = learner.initial_model()
            self._num_tests = len(task.dataset.test_labels)
            self.data_digest = task.dataset.digest  # identifies the data that it trains on
            self._sent = _SentModels(ray)
            path = tuple(map(os.path.abspath, sys.path))
            settings = WorkerSettings(scenario, engine, path, by_torch=self._name == "TorchLearner")
            worker = ray.remote(num_cpus=1, max_restarts=-1)(Worker)
            make_worker = partial(worker.remote, settings)
            self._pool = RayWorkers(ray, make_worker, workers or cluster_cores(ray))
            resources.callback(self._pool.close)
            self._pool.await_one()  # here Ctrl-C still interrupts at once
            self._resources = resources.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End its workers, and remove its data from the cluster."""
        self._resources.close()
        self._task = None
        self._sent.clear()

    @property
    def kind(self) -> str:
        return f"{self._name} on Ray by {self._shard_size}"

    def initial_model(self) -> Vector:
        """x^0 of the paper: (params,)."""
        return self._initial.copy()

    def train(self, jobs: Sequence[Job]) -> Vector:
        """(jobs, params): the model handed over minus the model after the job's steps."""
        updates = np.empty((len(jobs), self._initial.size), dtype=self._initial.dtype)
        sums = self._sums([[job] for job in jobs], lambda: False)
        for update, total in zip(updates, sums, strict=True):
            update[:] = total
        return updates

    def train_sums(self, groups: Groups, should_stop: ShouldStop) -> Iterator[Vector]:
        """For each group, the sums of its shards, added in their order."""
        parts = [_even_parts(group, self._shard_size) for group in groups]
        sums = self._sums([shard for shards in parts for shard in shards], should_stop)
        for shards in parts:
            total = np.zeros_like(self._initial)
            for _ in shards:
                total += next(sums)
            yield total

    def evaluate(self, model: Vector) -> Metrics:
        """Mean cross-entropy and accuracy on the test samples, combined from fixed parts."""
        check_model("model", model, self._initial.size)
        reference = self._sent.reference(model)
        parts = _parts_of(self._num_tests)
        calls = [Call("evaluate", ([self._task], part, reference)) for part in parts]
        loss, right = 0.0, 0.0
        scores = self._pool.results(calls, lambda: False)
        for (first, last), (its_loss, accuracy) in zip(parts, scores, strict=True):
            loss += its_loss * (last - first)
            right += accuracy * (last - first)
        return Metrics(loss / self._num_tests, right / self._num_tests)

    def _sums(self, shards: Sequence[Sequence[Job]], should_stop: ShouldStop) -> Iterator[Vector]:
        """The sum of each shard, (params,), in order; a call carries several, to save messages."""
        most = max(1, MOST_BYTES // self._initial.nbytes)
        steps = [sum(job.num_steps for job in shard) for shard in shards]
        calls = [self._call(shards[piece]) for piece in pieces(steps, self._pool.size, most)]
        for sums in self._pool.results(calls, should_stop):
            yield from sums

    def _call(self, shards: Sequence[Sequence[Job]]) -> Call:
        """Models are sent as references: each crosses the network once per machine."""
        models = {id(job.model): job.model for shard in shards for job in shard}
        number = {key: i for i, key in enumerate(models)}
        sent: list[Shard] = [
            [(job.client, number[id(job.model)], job.first_step, job.num_steps) for job in shard]
            for shard in shards
        ]
        references: list[Any] = [self._sent.reference(model) for model in models.values()]
        return Call("train_sums", ([self._task], sent, *references))


class _SentModels:
    """References to models in Ray's object store; each is put there once, as long as it lives."""

    def __init__(self, ray: Any) -> None:
        self._ray = ray
        self._references: dict[int, Any] = {}

    def reference(self, model: Vector) -> Any:
        """The same for the same array, unless it is writable: it may have changed."""
        if model.flags.writeable:
            return self._ray.put(model)
        key = id(model)
        if key not in self._references:
            self._references[key] = self._ray.put(model)
            weakref.finalize(model, self._references.pop, key, None)
        return self._references[key]

    def clear(self) -> None:
        self._references.clear()

    def __len__(self) -> int:
        return len(self._references)


def _even_parts(group: Sequence[Job], size: int) -> list[Sequence[Job]]:
    """The fewest parts of at most `size` neighbours, as equal as possible."""
    num_parts = -(-len(group) // size)
    cuts = [len(group) * i // num_parts for i in range(num_parts + 1)]
    return [group[cuts[i] : cuts[i + 1]] for i in range(num_parts)]


def _parts_of(count: int) -> list[Part]:
    """The parts of `count` test samples; they depend on nothing else."""
    num_parts = min(_MOST_TEST_PARTS, max(1, count // _SMALLEST_TEST_PART))
    return list(pairwise(count * i // num_parts for i in range(num_parts + 1)))
