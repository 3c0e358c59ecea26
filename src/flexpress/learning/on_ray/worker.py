"""What runs in the processes of the cluster: the ordinary learner, on one core."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from flexpress.cluster import import_ray
from flexpress.learning.choose import Engine, choose_net, learner_of
from flexpress.learning.job import Job, Learner, Vector
from flexpress.learning.summing import train_sums
from flexpress.learning.task import Task
from flexpress.scenario import Scenario
from flexpress.versions import versions

Order = tuple[int | str, int, int, int]
"""A job on its way: client, which of the models sent with it, first step, number of steps."""

Shard = Sequence[Order]


@dataclass(frozen=True)
class Work:
    """What a worker must know of a scenario; its samples lie in the object store."""

    scenario: Scenario
    engine: Engine
    path: tuple[str, ...]  # where the user's own modules may be found

    def learner(self, task: Task) -> Learner:
        net = choose_net(self.scenario, self.engine)
        return learner_of(task, net, engine=self.engine, threads=1)


class Worker:
    """Does as it is told, and knows nothing of other workers: it may end and begin at any time."""

    def __init__(self, work: Work, samples: Sequence[Any]) -> None:
        """`samples` is a reference to the task; within a list it is not yet what it refers to."""
        self._work, self._samples = work, samples
        self._judges: dict[tuple[int, int], Learner] = {}
        sys.path.extend(place for place in work.path if place not in sys.path)

    def ready(self) -> dict[str, str]:
        """That it is there, and what its results depend on."""
        return versions()

    def train_sums(self, shards: Sequence[Shard], *models: Vector) -> Vector:
        """(shards, params): the sum of the updates of each shard."""
        groups = [
            [Job(client, models[number], first, steps) for client, number, first, steps in shard]
            for shard in shards
        ]
        return np.stack(list(train_sums(self._learner, groups, lambda: False)))

    def evaluate(self, first: int, last: int, model: Vector) -> tuple[float, float]:
        """Loss and accuracy on these of the test samples."""
        if (first, last) not in self._judges:
            self._judges[first, last] = self._work.learner(with_tests(self._task, first, last))
        loss, accuracy = self._judges[first, last].evaluate(model)
        return loss, accuracy

    @cached_property
    def _task(self) -> Task:
        task: Task = import_ray().get(self._samples[0])
        return task

    @cached_property
    def _learner(self) -> Learner:
        """Not in __init__: what is wrong with it is to be told as it is, to the one who asks."""
        return self._work.learner(self._task)


def with_tests(task: Task, first: int, last: int) -> Task:
    """The task with a part of the test samples: views, nothing is copied."""
    data = task.dataset
    images, labels = data.test_images[first:last], data.test_labels[first:last]
    return replace(task, dataset=replace(data, test_images=images, test_labels=labels))
