"""The fast learner: local SGD of small nets, in compiled code, on all cores."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexpress.compilation import announced, drop_stale_code
from flexpress.learning.architecture import Architecture
from flexpress.learning.fast.gather import Samples
from flexpress.learning.fast.layout import Layout
from flexpress.learning.fast.local_steps import JOB, local_steps
from flexpress.learning.fast.scores import scores
from flexpress.learning.fast.workspace import Workspace
from flexpress.learning.job import Job, Metrics, Vector
from flexpress.learning.task import Images, Labels, Task

TEST_BLOCK = 32
"""Test samples whose losses are summed before they are added to the others."""

PIECE = 200
"""Local steps, or test blocks, of a call into compiled code: it cannot be interrupted."""


def ignore(note: str) -> None:
    pass


class FastLearner:
    """Trains nets of convolution blocks and linear layers: a group of jobs per call.

    The result of a job depends neither on the number of threads nor on the jobs beside it: each is
    computed by one thread, with the same operations in the same order.
    """

    def __init__(
        self,
        task: Task,
        architecture: Architecture,
        initial: NDArray[np.float32],
        *,
        threads: int | None = None,
        tell: Callable[[str], None] = ignore,
    ) -> None:
        assert initial.shape == (architecture.num_params,)
        assert 1 <= task.batch_size <= task.shards.shape[1]
        data = task.dataset
        self._initial = np.array(initial, dtype=np.float32)
        self._rate = np.float32(task.learning_rate)
        self._seed = np.uint64(task.seed)
        self._rows = task.indices()
        self._shards = read_only(task.shards, np.int32)
        self._train = samples_of(data.train_images, data.train_labels, task)
        self._test = samples_of(data.test_images, data.test_labels, task)
        self._threads = threads or num_cores()
        self._layout = Layout.of(architecture, task.batch_size)
        self._test_layout = Layout.of(architecture, TEST_BLOCK)
        self._spare: dict[Layout, list[Workspace]] = {self._layout: [], self._test_layout: []}
        self._compile(tell)

    def initial_model(self) -> NDArray[np.float32]:
        return self._initial.copy()

    def train(self, jobs: Sequence[Job]) -> NDArray[np.float32]:
        """The model handed over minus the model after the steps: (jobs, params)."""
        models, numbers = distinct([job.model for job in jobs], self._initial.size)
        records = np.zeros(len(jobs), dtype=JOB)
        for i, (job, number) in enumerate(zip(jobs, numbers, strict=True)):
            records[i] = (self._rows[job.client], number, job.first_step, job.num_steps)
        updates = np.empty((len(jobs), self._initial.size), dtype=np.float32)

        def work(piece: slice) -> None:
            self._local_steps(records[piece], models, updates[piece])

        self._share(work, records["num_steps"])
        return updates

    def evaluate(self, model: Vector) -> Metrics:
        """Mean cross-entropy and accuracy on the test samples."""
        vector = read_only(model, np.float32)
        assert vector.shape == self._initial.shape
        num_samples = len(self._test.labels)
        sums = np.zeros((-(-num_samples // TEST_BLOCK), 2))

        def work(piece: slice) -> None:
            self._scores(piece.start, vector, sums[piece])

        self._share(work, np.ones(len(sums)))
        loss, right = sums.sum(axis=0) / num_samples
        return Metrics(float(loss), float(right))

    def _local_steps(self, jobs: Any, models: Any, updates: Any) -> None:
        layout = self._layout
        work = self._take(layout)
        local_steps(
            jobs,
            models,
            updates,
            self._train,
            self._shards,
            self._seed,
            self._rate,
            layout.net,
            work,
            np.empty(layout.batch, dtype=np.int64),
        )
        self._spare[layout].append(work)

    def _scores(self, first: int, model: Any, sums: Any) -> None:
        layout = self._test_layout
        work = self._take(layout)
        scores(first, model, self._test, layout.net, work, np.empty(layout.batch, dtype=np.int64), sums)
        self._spare[layout].append(work)

    def _take(self, layout: Layout) -> Workspace:
        """A workspace that no other thread uses; taking from a list and adding to it are atomic."""
        try:
            return self._spare[layout].pop()
        except IndexError:
            return Workspace.of(layout)

    def _share(self, work: Callable[[slice], None], weights: NDArray[Any]) -> None:
        """Do the work in pieces, on all threads."""
        parts = pieces(weights, self._threads)
        if self._threads == 1 or len(parts) == 1:
            for part in parts:
                work(part)
            return
        with ThreadPoolExecutor(min(self._threads, len(parts))) as pool:
            for _ in pool.map(work, parts):
                pass

    def _compile(self, tell: Callable[[str], None]) -> None:
        """Have the compiled code at hand, and tell the user if it must be made."""
        folder = Path(__file__).parent
        for compiled in (local_steps, scores):
            drop_stale_code(compiled, folder)
            drop_stale_code(compiled, folder.parent)
        none = np.zeros(0, dtype=JOB)
        nothing = np.zeros((0, self._initial.size), dtype=np.float32)
        with announced(tell, "the fast learner, once: about 10 s"):
            self._local_steps(none, read_only(nothing, np.float32), nothing)
            self._scores(0, read_only(self._initial, np.float32), np.zeros((0, 2)))


def pieces(weights: NDArray[Any], threads: int) -> list[slice]:
    """Neighbours of together about PIECE, or less so that all threads have something to do."""
    size = min(PIECE, weights.sum() / (4 * threads))
    cuts, weight = [0], 0
    for i in range(len(weights)):
        weight += weights[i]
        if weight >= size:
            cuts.append(i + 1)
            weight = 0
    if cuts[-1] < len(weights):
        cuts.append(len(weights))
    return [slice(a, b) for a, b in pairwise(cuts)]


def distinct(models: Sequence[Vector], size: int) -> tuple[NDArray[np.float32], list[int]]:
    """The models without repetition, and which of them each job has: a group shares but a few."""
    numbers: dict[int, int] = {}
    chosen = [numbers.setdefault(id(model), len(numbers)) for model in models]
    stack = np.empty((len(numbers), size), dtype=np.float32)
    for model, number in zip(models, chosen, strict=True):
        assert model.shape == (size,)
        stack[number] = model
    return read_only(stack, np.float32), chosen


def samples_of(images: Images, labels: Labels, task: Task) -> Samples:
    data = task.dataset
    kind = np.uint8 if images.dtype == np.uint8 else np.float32
    return Samples(
        read_only(images, kind),
        read_only(labels, np.int32),
        read_only(data.scale, np.float32),
        read_only(data.shift, np.float32),
    )


def read_only(array: NDArray[Any], kind: Any) -> NDArray[Any]:
    """A view that cannot be written to: to Numba that is a type of its own, and one is enough."""
    view = np.ascontiguousarray(array, dtype=kind).view()
    view.flags.writeable = False
    return view


def num_cores() -> int:
    """Those that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
