"""The fast learner: local SGD of small nets, in compiled code, on all cores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexpress.callbacks import Tell, ignore_note
from flexpress.compiled import announced, drop_stale_code
from flexpress.learning.architecture import Architecture
from flexpress.learning.datasets import Images, Labels
from flexpress.learning.fast.entry_points import JOB, local_steps, scores
from flexpress.learning.fast.gather import SampleArrays
from flexpress.learning.fast.layout import make_layout
from flexpress.learning.fast.tables import Layout
from flexpress.learning.fast.workspace import Workspace
from flexpress.learning.job import Job, Metrics, Vector, check_jobs, check_model
from flexpress.learning.pieces import pieces
from flexpress.learning.task import Task
from flexpress.workers.processes import num_cores

_TEST_BLOCK = 32
"""Test samples whose losses are added up before they are added to the others."""


class FastLearner:
    """Trains nets of convolution blocks and linear layers, a group of jobs per call.

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
        tell: Tell = ignore_note,
    ) -> None:
        _check(task, architecture, initial)
        self._dataset = data = task.dataset
        self._initial = np.array(initial, dtype=np.float32)
        self._rate = np.float32(task.learning_rate)
        self._seed = np.uint64(task.seed)
        self._rows = task.indices()
        self._numbers = task.draw_numbers()
        self._shards = _read_only(task.shards, np.int32)
        self._train = _sample_arrays(task, data.train_images, data.train_labels)
        self._test = _sample_arrays(task, data.test_images, data.test_labels)
        self._threads = threads or num_cores()
        self._layout = make_layout(architecture, task.batch_size)
        self._test_layout = make_layout(architecture, _TEST_BLOCK)
        self._spare: dict[Layout, list[Workspace]] = {self._layout: [], self._test_layout: []}
        self._compile(tell)

    @property
    def data_digest(self) -> str:
        """Identifies the data that it trains on."""
        return self._dataset.digest

    def initial_model(self) -> NDArray[np.float32]:
        """x^0 of the paper: (params,)."""
        return self._initial.copy()

    def train(self, jobs: Sequence[Job]) -> NDArray[np.float32]:
        """The model handed over minus the model after the steps: (jobs, params)."""
        return self._trained(jobs, gives_model=False)

    def local_model(self, job: Job) -> NDArray[np.float32]:
        """The model after the job's steps: (params,)."""
        return self._trained([job], gives_model=True)[0]

    def _trained(self, jobs: Sequence[Job], *, gives_model: bool) -> NDArray[np.float32]:
        check_jobs(jobs, self._rows, self._initial.size)
        models, model_rows = _distinct([job.model for job in jobs], self._initial.size)
        records = np.zeros(len(jobs), dtype=JOB)
        for i, (job, model) in enumerate(zip(jobs, model_rows, strict=True)):
            row = self._rows[job.client]
            steps = job.first_step, job.num_steps
            records[i] = (row, self._numbers[row], model, *steps, gives_model)
        updates = np.empty((len(jobs), self._initial.size), dtype=np.float32)

        def work(piece: slice) -> None:
            self._local_steps(records[piece], models, updates[piece])

        _share(work, records["num_steps"], self._threads)
        return updates

    def evaluate(self, model: Vector) -> Metrics:
        """Mean cross-entropy and accuracy on the test samples."""
        check_model("model", model, self._initial.size)
        vector = _read_only(model, np.float32)
        num_samples = len(self._test.labels)
        sums = np.zeros((-(-num_samples // _TEST_BLOCK), 2))

        def work(piece: slice) -> None:
            self._scores(piece.start, vector, sums[piece])

        _share(work, np.ones(len(sums)), self._threads)
        loss, right = sums.sum(axis=0) / num_samples
        return Metrics(float(loss), float(right))

    def _local_steps(self, jobs: Any, models: Any, updates: Any) -> None:
        layout, work, batch = self._take(self._layout)
        data, shards, seed, rate = self._train, self._shards, self._seed, self._rate
        local_steps(jobs, models, updates, data, shards, seed, rate, layout.net, work, batch)
        self._spare[layout].append(work)

    def _scores(self, first: int, model: Any, sums: Any) -> None:
        layout, work, batch = self._take(self._test_layout)
        scores(first, model, self._test, layout.net, work, batch, sums)
        self._spare[layout].append(work)

    def _take(self, layout: Layout) -> tuple[Layout, Workspace, NDArray[np.int64]]:
        """A workspace that no other thread uses; pop and append of a list are atomic."""
        try:
            work = self._spare[layout].pop()
        except IndexError:
            work = Workspace.of(layout)
        return layout, work, np.zeros(layout.batch, dtype=np.int64)

    def _compile(self, tell: Tell) -> None:
        """Load the compiled code, or compile it and tell the user."""
        folder = Path(__file__).parent
        for compiled in (local_steps, scores):
            drop_stale_code(compiled, folder)
            drop_stale_code(compiled, folder.parent)  # batches.py is part of it
        none, nothing = np.zeros(0, dtype=JOB), np.zeros((0, self._initial.size), dtype=np.float32)
        with announced(tell, "the learning engine, once (about 10 s)"):
            self._local_steps(none, _read_only(nothing, np.float32), nothing)
            self._scores(0, _read_only(self._initial, np.float32), np.zeros((0, 2)))


def _check(task: Task, architecture: Architecture, initial: NDArray[np.float32]) -> None:
    """Compiled code checks no index: whatever it reads from the task must be right."""
    data = task.dataset
    assert initial.shape == (architecture.num_params,)
    assert data.image == architecture.image == data.test_images.shape[1:]
    assert data.num_classes == architecture.num_classes
    assert data.scale.shape == data.shift.shape == architecture.image[:1]
    for images, labels in (
        (data.train_images, data.train_labels),
        (data.test_images, data.test_labels),
    ):
        assert labels.shape == images.shape[:1]
        assert labels.min() >= 0
        assert labels.max() < data.num_classes
    assert task.shards.shape[0] == len(task.client_ids) == len(task.draw_numbers())
    assert task.shards.min() >= 0
    assert task.shards.max() < len(data.train_labels)
    assert 1 <= task.batch_size <= task.shards.shape[1]


def _share(work: Callable[[slice], None], weights: NDArray[Any], threads: int) -> None:
    """Have all items worked on, in pieces, by threads that live only in this call."""
    parts = pieces(weights, threads)
    threads = min(threads, len(parts))
    if threads <= 1:
        for part in parts:
            work(part)
        return
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(work, parts):
            pass  # a thread's exception is raised here, and pieces not begun are dropped


def _distinct(models: Sequence[Vector], size: int) -> tuple[NDArray[np.float32], list[int]]:
    """The models without repetitions, and the row of each job: many jobs share one."""
    numbers: dict[int, int] = {}
    rows = [numbers.setdefault(id(model), len(numbers)) for model in models]
    stack = np.empty((len(numbers), size), dtype=np.float32)
    done = 0
    for model, row in zip(models, rows, strict=True):
        if row == done:
            stack[row] = model
            done += 1
    return _read_only(stack, np.float32), rows


def _sample_arrays(task: Task, images: Images, labels: Labels) -> SampleArrays:
    floats = images.dtype != np.uint8
    pixels = _read_only(images, np.float32 if floats else np.uint8)
    _, channels, height, width = images.shape
    return SampleArrays(
        pixels.reshape(-1).view(np.uint8),
        floats,
        channels,
        height,
        width,
        _read_only(labels, np.int32),
        _read_only(task.dataset.scale, np.float32),
        _read_only(task.dataset.shift, np.float32),
    )


def _read_only(array: NDArray[Any], kind: Any) -> NDArray[Any]:
    """A read-only view: Numba compiles for each type of array, and writable is another type."""
    view = np.ascontiguousarray(array, dtype=kind).view()
    view.flags.writeable = False
    return view
