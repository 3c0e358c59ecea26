"""Local SGD as one writes it in torch: the reference for values, and the rival for speed."""

from __future__ import annotations

from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

from flexpress.learning.architecture import Architecture
from flexpress.learning.batches import batches
from flexpress.learning.job import Job
from flexpress.learning.task import Task


def make_module(architecture: Architecture) -> nn.Sequential:
    parts: list[Any] = []
    shapes = architecture.shapes()
    for block, (channels, _, _) in zip(architecture.convolutions, shapes, strict=False):
        convolution = nn.Conv2d(channels, block.channels, block.kernel, padding=block.padding)
        parts += [convolution, nn.ReLU(), nn.MaxPool2d(2)]
    parts.append(nn.Flatten())
    sizes = (prod(shapes[-1]), *architecture.hidden, architecture.num_classes)
    for before, after in pairwise(sizes):
        parts += [nn.Linear(before, after), nn.ReLU()]
    return nn.Sequential(*parts[:-1])


class TorchLoop:
    """One client after another: forward, cross-entropy, backward, step."""

    def __init__(self, task: Task, architecture: Architecture, kind: Any = torch.float32) -> None:
        data = task.dataset
        self.task, self.kind = task, kind
        self.module = make_module(architecture).to(kind)
        scale, shift = (torch.tensor(a).view(-1, 1, 1) for a in (data.scale, data.shift))
        self.images = (torch.tensor(data.train_images).float() * scale + shift).to(kind)
        self.labels = torch.tensor(data.train_labels.astype(np.int64))
        self.params = list(self.module.parameters())
        self.optimizer = torch.optim.SGD(self.params, lr=task.learning_rate)

    def train(self, jobs: list[Job]) -> NDArray[Any]:
        return np.stack([self.update(job) for job in jobs])

    def update(self, job: Job) -> NDArray[Any]:
        task, client = self.task, self.task.indices()[job.client]
        start = torch.tensor(job.model, dtype=self.kind)
        nn.utils.vector_to_parameters(start.clone(), self.params)
        size = (task.shards.shape[1], task.batch_size)
        for positions in batches(task.seed, client, job.first_step, job.num_steps, *size):
            rows = torch.from_numpy(task.shards[client][positions].astype(np.int64))
            self.optimizer.zero_grad()
            functional.cross_entropy(self.module(self.images[rows]), self.labels[rows]).backward()
            self.optimizer.step()
        after = nn.utils.parameters_to_vector(self.params).detach()
        return (start - after).numpy()  # type: ignore[no-any-return]  # torch is Any to us
