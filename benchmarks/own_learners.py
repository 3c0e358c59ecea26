"""Our own learners in the contest, `fast` or `torch`: one call of `train` for each round."""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import Any

from turns import Order, take_turns
from workload import NUM_STEPS, load_task

from flexpress.learning.architecture import Architecture, lenet
from flexpress.learning.job import Job, Learner, Vector
from flexpress.learning.task import Task


def main(engine: str) -> None:
    @lru_cache(maxsize=1)
    def work(folder: str) -> tuple[Learner, Task, Vector]:
        task, model = load_task(folder)
        architecture = lenet(task.dataset.image, task.dataset.num_classes)
        return make_learner(engine, task, architecture, model), task, model

    def perform(order: Order) -> Vector:
        learner, task, model = work(order.workload)
        for _ in range(order.rounds):
            jobs = [Job(client, model, 0, NUM_STEPS) for client in task.client_ids]
            model = model - learner.train(jobs).mean(axis=0)
        return model

    take_turns(perform)


def make_learner(engine: str, task: Task, architecture: Architecture, model: Any) -> Learner:
    if engine == "torch":
        from flexpress.learning.torch_learner import TorchLearner

        return TorchLearner(task, architecture, model, threads=1)
    from flexpress.learning.fast import FastLearner

    return FastLearner(task, architecture, model, threads=1)


if __name__ == "__main__":
    main(sys.argv[1])
