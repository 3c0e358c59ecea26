"""A small scenario for the tests of the learner on Ray: twelve clients, three transporters."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from flexpress.learning import Job, Learner, Vector
from flexpress.learning.on_ray import RayLearner
from flexpress.scenario import Scenario

VALLEY = Scenario.preset("valley").replace(
    learning={"model": "logistic", "partition": "dirichlet"},
    run={"horizon": 40, "eval_every": 20, "head_start": 0.0},
)
HEAD_START = VALLEY.replace(run={"head_start": 0.5, "preloaded": True})
IDS = VALLEY.client_ids


def never() -> bool:
    return False


def some_groups(learner: Learner, steps: int = 3) -> list[list[Job]]:
    """Of 12, 1, 5 and 6 clients, from two models."""
    first = learner.initial_model()
    second = (first + np.float32(0.01)).astype(np.float32)
    return [
        [Job(client, first, 4, steps) for client in IDS],
        [Job(IDS[3], second, 0, steps + 2)],
        [Job(client, second, 7, steps) for client in IDS[5:10]],
        [Job(client, [first, second][i % 2], i, steps) for i, client in enumerate(IDS[:6])],
    ]


def fold(learner: Learner, groups: Sequence[Sequence[Job]], cuts: list[list[int]]) -> list[Vector]:
    """By hand: the updates of each shard added up one by one, then the shards of each group."""
    totals = []
    for group, sizes in zip(groups, cuts, strict=True):
        assert sum(sizes) == len(group)
        total, jobs = np.zeros_like(group[0].model), iter(group)
        for size in sizes:
            shard = np.zeros_like(group[0].model)
            for _ in range(size):
                shard = shard + learner.train([next(jobs)])[0]
            total = total + shard
        totals.append(total)
    return totals


def as_bytes(vectors: Sequence[Vector]) -> list[bytes]:
    return [vector.tobytes() for vector in vectors]


def pids(learner: RayLearner) -> list[int]:
    """The workers' process ids, once they are ready."""
    handles = [member.handle for member in learner._pool._members]
    asked = [
        handle.__ray_call__.options(max_task_retries=-1).remote(lambda self: os.getpid())
        for handle in handles
    ]
    return [int(pid) for pid in learner._pool._ray.get(asked, timeout=600)]
