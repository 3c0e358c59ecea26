"""The work of a contest in plain torch: LeNet, the samples, and local steps as one writes them.

Independent of flexpress, and run where it is not installed. It is the best simple loop that we
found: images normalised beforehand, gradients set to None, all parameters stepped by one call.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy


@dataclass(frozen=True, eq=False)
class Work:
    """What every client has to do in a round, and the module to do it with."""

    module: Any
    images: Any  # (samples, channels, height, width), normalised
    labels: Any  # (samples,)
    rows: Any  # (clients, steps, batch): samples of each mini-batch
    model: Any  # (params,): the global model at the beginning
    learning_rate: float
    order: Any  # of an image in memory

    def load(self, model: Any) -> None:
        """By copying, which keeps the order in memory."""
        params = list(self.module.parameters())
        with torch.no_grad():
            for param, part in zip(params, model.split([p.numel() for p in params]), strict=True):
                param.copy_(part.view(param.shape))

    def vector(self) -> Any:
        return torch.cat([param.detach().reshape(-1) for param in self.module.parameters()])

    def local_steps(self, client: int) -> None:
        """Of the module as it is."""
        params = list(self.module.parameters())
        for rows in self.rows[client]:
            for param in params:
                param.grad = None
            loss = cross_entropy(self.module(self.images[rows]), self.labels[rows])
            loss.backward()
            with torch.no_grad():
                gradients = [param.grad for param in params]
                torch._foreach_add_(params, gradients, alpha=-self.learning_rate)


@lru_cache(maxsize=2)  # both orders of one workload
def load_work(folder: str, channels_last: bool) -> Work:
    torch.set_num_threads(1)
    order = torch.channels_last if channels_last else torch.contiguous_format
    arrays = {path.stem: np.load(path) for path in Path(folder).glob("*.npy")}
    scale, shift = (torch.tensor(arrays[name]).view(-1, 1, 1) for name in ("scale", "shift"))
    images = torch.tensor(arrays["images"]).float().mul_(scale).add_(shift)
    work = Work(
        module=make_lenet(images.shape[1:]).to(memory_format=order),
        images=images.to(memory_format=order),
        labels=torch.tensor(arrays["labels"]).long(),
        rows=torch.tensor(arrays["rows"]).long(),
        model=torch.tensor(arrays["model"]),
        learning_rate=float(arrays["learning_rate"]),
        order=order,
    )
    work.load(work.model)
    return work


def make_lenet(image: Any) -> Any:
    channels, height, _ = image
    return nn.Sequential(
        nn.Conv2d(channels, 6, 5, padding=2 if height == 28 else 0),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(400, 120),
        nn.ReLU(),
        nn.Linear(120, 84),
        nn.ReLU(),
        nn.Linear(84, 10),
    )
