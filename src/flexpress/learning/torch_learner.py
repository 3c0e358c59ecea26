"""The reference learner: plain SGD in torch, one client after another, any module.

A model is the vector of the module's parameters, in torch's order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn.functional import cross_entropy
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from flexpress.errors import InputError
from flexpress.learning.architecture import Architecture
from flexpress.learning.batches import batches
from flexpress.learning.job import Job, Metrics, Vector, check_jobs, check_model
from flexpress.learning.task import Task
from flexpress.learning.torch_module import (
    check_scores,
    deterministic_torch,
    seed_torch,
    try_module,
)
from flexpress.learning.torch_net import make_module
from flexpress.learning.user_code import user_code

_TEST_BATCH = 500


class TorchLearner:
    """Trains an architecture, or a module, which the learner then owns.

    One thread by default, so that results do not depend on the machine's cores. In float64 it is
    the reference for everything that computes in float32.
    """

    def __init__(
        self,
        task: Task,
        net: Architecture | nn.Module,
        initial: Vector | None = None,
        *,
        dtype: type[np.floating[Any]] = np.float32,
        threads: int | None = None,
        name: str = "module",
    ) -> None:
        self._task = task
        self._threads = threads or 1
        self._dtype = {np.float32: torch.float32, np.float64: torch.float64}[dtype]
        self._scale, self._shift = (
            torch.tensor(each, dtype=self._dtype).reshape(-1, 1, 1)
            for each in (task.dataset.scale, task.dataset.shift)
        )
        self._where = f'learning.model = "{name}"'
        self._is_own = not isinstance(net, Architecture)
        with deterministic_torch(task.seed, self._threads), self._user_errors():
            module = make_module(net) if isinstance(net, Architecture) else net
            self._module = module.to(device="cpu", dtype=self._dtype)
            self._shape = self._input_shape()
        if initial is not None:
            self._load(initial)
        self._initial: Vector = self._vector().numpy()

    @property
    def data_digest(self) -> str:
        """Identifies the data that it trains on."""
        return self._task.dataset.digest

    def initial_model(self) -> Vector:
        """x^0 of the paper: (params,)."""
        return self._initial.copy()

    def train(self, jobs: Sequence[Job]) -> Vector:
        """(jobs, params): the model handed over minus the model after the job's steps."""
        updates = np.empty((len(jobs), self._initial.size), dtype=self._initial.dtype)
        for update, (start, after) in zip(updates, self._trained(jobs), strict=True):
            update[:] = (start - after).numpy()
        return updates

    def local_model(self, job: Job) -> Vector:
        """The model after the job's steps: (params,)."""
        ((_, after),) = self._trained([job])
        model: Vector = after.numpy()
        return model

    def evaluate(self, model: Vector) -> Metrics:
        """Loss and accuracy on the test samples."""
        check_model("model", model, self._initial.size)
        data = self._task.dataset
        count = len(data.test_labels)
        loss, right = 0.0, 0
        settings = deterministic_torch(self._task.seed, self._threads)
        with settings, torch.no_grad(), self._user_errors():
            self._load(model)
            self._module.eval()
            for start in range(0, count, _TEST_BATCH):
                part = slice(start, start + _TEST_BATCH)
                labels = torch.from_numpy(data.test_labels[part].astype(np.int64))
                images = self._inputs(data.test_images[part], self._shape)
                scores = self._module(images)
                check_scores(self._where, scores, images, data.num_classes)
                loss += cross_entropy(scores, labels, reduction="sum").item()
                right += int((scores.argmax(dim=1) == labels).sum())
        return Metrics(loss / count, right / count)

    def _trained(self, jobs: Sequence[Job]) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        """The model before and after the steps of each job."""
        rows = self._task.indices()
        check_jobs(jobs, rows, self._initial.size)
        with deterministic_torch(self._task.seed, self._threads), self._user_errors():
            self._module.train()
            for job in jobs:
                self._load(job.model)
                start = self._vector()
                self._descend(rows[job.client], job.first_step, job.num_steps)
                yield start, self._vector()

    def _descend(self, row: int, first_step: int, num_steps: int) -> None:
        """x <- x - eta g, in every step with the gradient g of a mini-batch."""
        task, data, shard = self._task, self._task.dataset, self._task.shards[row]
        number = task.draw_numbers()[row]
        drawn = batches(task.seed, number, first_step, num_steps, len(shard), task.batch_size)
        parameters = [each for each in self._module.parameters() if each.requires_grad]
        for step, batch in enumerate(drawn, start=first_step):
            samples = shard[batch]
            seed_torch(task.seed, number, step)  # dropout and the like depend on nothing else
            images = self._inputs(data.train_images[samples], self._shape)
            labels = torch.from_numpy(data.train_labels[samples].astype(np.int64))
            scores = self._module(images)
            check_scores(self._where, scores, images, data.num_classes)
            loss = cross_entropy(scores, labels)
            gradients = torch.autograd.grad(loss, parameters, materialize_grads=True)
            with torch.no_grad():
                for parameter, gradient in zip(parameters, gradients, strict=True):
                    parameter.sub_(gradient, alpha=task.learning_rate)

    def _user_errors(self) -> AbstractContextManager[None]:
        """Errors of the user's own module are the user's to mend."""
        return user_code(f"{self._where}: raised") if self._is_own else nullcontext()

    def _input_shape(self) -> tuple[int, ...]:
        """The image shape that the module takes; rows of features are also tried as images."""
        data = self._task.dataset
        some = data.train_images[: self._task.batch_size]
        shapes = [data.image, data.image[2:]] if data.image[:2] == (1, 1) else [data.image]
        for shape in shapes[:-1]:
            with suppress(InputError):
                try_module(self._where, self._module, self._inputs(some, shape), data.num_classes)
                return shape
        images = self._inputs(some, shapes[-1])
        try_module(self._where, self._module, images, data.num_classes)
        return shapes[-1]

    def _inputs(self, images: NDArray[Any], shape: tuple[int, ...]) -> torch.Tensor:
        """The module's input: normalised images, (samples, *shape)."""
        pixels = torch.tensor(images).to(self._dtype)
        return (pixels * self._scale + self._shift).reshape(-1, *shape)

    def _load(self, model: Vector) -> None:
        flat = torch.tensor(model, dtype=self._dtype)
        vector_to_parameters(flat, self._module.parameters())

    def _vector(self) -> torch.Tensor:
        return parameters_to_vector(self._module.parameters()).detach()
