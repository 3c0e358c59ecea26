"""What runs in the processes of the cluster: an ordinary learner, on one core."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from flexpress.files.versions import versions
from flexpress.learning.engines import Engine, choose_net, learner_of
from flexpress.learning.job import Job, Learner, Vector
from flexpress.learning.summing import train_sums
from flexpress.learning.task import Task
from flexpress.scenario import Scenario
from flexpress.workers.cluster import import_ray

_SentJob = tuple[int | str, int, int, int]
"""A job as it is sent: client, index of its model, first step, number of steps."""

Shard = Sequence[_SentJob]

Part = tuple[int, int]
"""A range of test samples: the first, and the one after the last."""


@dataclass(frozen=True)
class WorkerSettings:
    """What a worker needs besides the task, which is in Ray's object store."""

    scenario: Scenario
    engine: Engine
    path: tuple[str, ...]  # where the user's own modules may be
    by_torch: bool  # whether torch is the engine

    def learner(self, task: Task) -> Learner:
        net = choose_net(self.scenario, self.engine)
        return learner_of(task, net, engine=self.engine, threads=1)


class Worker:
    """Trains and evaluates; it keeps no state that matters, and Ray may restart it at any time.

    Each call brings a reference to the task, in a list, so that Ray does not resolve it: the worker
    does so once. Ray does not like it as an argument of a constructor that it may repeat.
    """

    def __init__(self, settings: WorkerSettings) -> None:
        self._settings = settings
        self._task: Task | None = None
        self._learners: dict[Part | None, Learner] = {}
        sys.path.extend(place for place in settings.path if place not in sys.path)

    def ready(self) -> dict[str, str]:
        """The versions that its results depend on."""
        return versions(by_torch=self._settings.by_torch)

    def train_sums(self, task: list[Any], shards: Sequence[Shard], *models: Vector) -> Vector:
        """(shards, params): the sum of the updates of each shard."""
        groups = [
            [Job(client, models[number], first, steps) for client, number, first, steps in shard]
            for shard in shards
        ]
        return np.stack(list(train_sums(self._learner(task), groups, lambda: False)))

    def evaluate(self, task: list[Any], part: Part, model: Vector) -> tuple[float, float]:
        """Loss and accuracy on a part of the test samples."""
        loss, accuracy = self._learner(task, part).evaluate(model)
        return loss, accuracy

    def _learner(self, task: list[Any], part: Part | None = None) -> Learner:
        """The learner of the task, or one with a part of the test samples."""
        if self._task is None:
            self._task = import_ray().get(task[0])
        if part not in self._learners:
            seen = self._task if part is None else _with_tests(self._task, *part)
            self._learners[part] = self._settings.learner(seen)
        return self._learners[part]


def _with_tests(task: Task, first: int, last: int) -> Task:
    """The task with a part of the test samples, as views."""
    data = task.dataset
    images, labels = data.test_images[first:last], data.test_labels[first:last]
    return replace(task, dataset=replace(data, test_images=images, test_labels=labels))
