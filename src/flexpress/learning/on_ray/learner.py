"""The learner of a scenario on many machines: its jobs are dealt to Ray workers, sums come back."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import pairwise
from typing import Any, Self

import numpy as np

from flexpress.arguments import check_callable, check_text, check_whole
from flexpress.learning.datasets import ignore
from flexpress.learning.engines import Engine, choose_net, learner_of
from flexpress.learning.job import Job, Metrics, Vector, check_model
from flexpress.learning.official import Tell
from flexpress.learning.on_ray.crew import Call, Crew
from flexpress.learning.on_ray.models import SentModels
from flexpress.learning.on_ray.shards import bundles, even_parts
from flexpress.learning.on_ray.worker import Part, Shard, Work, Worker
from flexpress.learning.summing import MOST_BYTES, Groups, ShouldStop
from flexpress.learning.task import make_task
from flexpress.scenario import Scenario
from flexpress.workers.cluster import cluster_cores, on_cluster

SHARD_SIZE = 16
"""Jobs, at most, whose updates are added up where they are made."""

MOST_TEST_PARTS, SMALLEST_TEST_PART = 16, 1000
"""Of the test samples: each part is looked at by one worker, and has a learner of its own there."""


def parts_of(count: int) -> list[Part]:
    """Of so many test samples; it depends on nothing else."""
    num_parts = min(MOST_TEST_PARTS, max(1, count // SMALLEST_TEST_PART))
    return list(pairwise(count * i // num_parts for i in range(num_parts + 1)))


class RayLearner:
    """Does what `make_learner` would, on the cores of a cluster.

    The result depends on `shard_size` and on nothing else that differs from run to run: neither on
    the number of workers, nor on who trains what, nor on those that die. Close it, or use it in a
    `with` statement: then its workers end, and so does a cluster that it has started.
    """

    def __init__(
        self,
        scenario: Scenario,
        *,
        address: str | None = None,
        workers: int | None = None,
        engine: Engine = "auto",
        shard_size: int = SHARD_SIZE,
        tell: Tell = ignore,
    ) -> None:
        """`address` is HOST:PORT, `auto`, or `local`; without `workers` there is one a core."""
        workers = None if workers is None else check_whole("workers", workers, 1)
        self._shard_size = check_whole("shard_size", shard_size, 1)
        if address is not None:
            check_text("address", address)
        check_callable(tell=tell)
        net = choose_net(scenario, engine)  # before the data: they may have to be downloaded
        with ExitStack() as resources:
            ray = resources.enter_context(on_cluster(address, num_cpus=workers))
            self._task: Any = ray.put(make_task(scenario, tell))
            task = ray.get(self._task)  # which takes no memory of our own
            # Here only for the first model, for what must be complained about, and so that code
            # is compiled once, and the user told of it, before all workers need it.
            learner = learner_of(task, net, engine=engine, threads=1, tell=tell)
            self._name = type(learner).__name__
            self._initial = learner.initial_model()
            self._num_tests = len(task.dataset.test_labels)
            self.data_digest = task.dataset.digest  # tells apart the data that it trains on
            self._sent = SentModels(ray)
            path = tuple(map(os.path.abspath, sys.path))
            work = Work(scenario, engine, path, by_torch=self._name == "TorchLearner")
            self._crew = self._hire(ray, work, workers or cluster_cores(ray))
            resources.callback(self._crew.dismiss)
            self._crew.await_one()  # here Ctrl-C still means what it always does
            self._resources = resources.pop_all()

    def _hire(self, ray: Any, work: Work, size: int) -> Crew:
        worker = ray.remote(num_cpus=1, max_restarts=-1)(Worker)
        return Crew(ray, partial(worker.remote, work), size)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Its workers end, and its data leave the cluster."""
        self._resources.close()
        self._task = None
        self._sent.forget()

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
        """Of each group the sums of its shards, added in their order."""
        parts = [even_parts(group, self._shard_size) for group in groups]
        sums = self._sums([shard for shards in parts for shard in shards], should_stop)
        for shards in parts:
            total = np.zeros_like(self._initial)
            for _ in shards:
                total += next(sums)
            yield total

    def evaluate(self, model: Vector) -> Metrics:
        """Mean cross-entropy and accuracy on the test samples, from those of fixed parts."""
        check_model("model", model, self._initial.size)
        reference = self._sent.reference(model)
        parts = parts_of(self._num_tests)
        calls = [Call("evaluate", ([self._task], part, reference)) for part in parts]
        loss, right = 0.0, 0.0
        scores = self._crew.results(calls, lambda: False)
        for (first, last), (its_loss, accuracy) in zip(parts, scores, strict=True):
            loss += its_loss * (last - first)
            right += accuracy * (last - first)
        return Metrics(loss / self._num_tests, right / self._num_tests)

    def _sums(self, shards: Sequence[Sequence[Job]], should_stop: ShouldStop) -> Iterator[Vector]:
        """Of each shard, whoever makes it: (params,)."""
        most = max(1, MOST_BYTES // self._initial.nbytes)
        calls = [self._call(bundle) for bundle in bundles(shards, self._crew.size, most)]
        for sums in self._crew.results(calls, should_stop):
            yield from sums

    def _call(self, shards: Sequence[Sequence[Job]]) -> Call:
        """A model goes with it once, and to each machine once, as a reference."""
        models = {id(job.model): job.model for shard in shards for job in shard}
        number = {key: i for i, key in enumerate(models)}
        orders: list[Shard] = [
            [(job.client, number[id(job.model)], job.first_step, job.num_steps) for job in shard]
            for shard in shards
        ]
        references: list[Any] = [self._sent.reference(model) for model in models.values()]
        return Call("train_sums", ([self._task], orders, *references))
