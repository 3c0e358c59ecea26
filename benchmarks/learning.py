"""Local steps of LeNet per second of CPU: the fast learner and a plain loop in torch, one core.

The loop is the best simple one that we found: images normalised beforehand, gradients set to None,
all parameters stepped by one call; `channels last` is torch's other order of an image in memory,
which suits small nets better. Both do the same mini-batches of the same samples.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexpress.learning.architecture import Architecture, Shape, lenet
from flexpress.learning.batches import batches
from flexpress.learning.fast import FastLearner
from flexpress.learning.job import Job
from flexpress.learning.task import Dataset, Task

HEAD = ["client-steps per CPU second", "fast", "torch", "ratio", "channels last", "ratio"]
SHAPES: dict[str, Shape] = {"FMNIST 1x28x28": (1, 28, 28), "SVHN 3x32x32": (3, 32, 32)}
BATCHES = 10, 20, 32
ROUNDS = 9
NUM_STEPS = 20

Train = Callable[[], NDArray[np.float32]]


def learning() -> Iterator[list[str]]:
    """A row for each shape and batch: rates, and the median ratio of rounds side by side."""
    for name, shape in SHAPES.items():
        for batch_size in BATCHES:
            yield [f"{name}, batch {batch_size}", *row(lenet(shape, 10), batch_size)]


def row(architecture: Architecture, batch_size: int) -> list[str]:
    task, model = make_task(architecture, batch_size), make_model(architecture)
    learner = FastLearner(task, architecture, model, threads=1)
    model -= learner.train([Job(1, model, 0, 100)])[0]  # not the very first steps
    loops: list[Train] = [
        lambda: learner.train([Job(1, model, 0, NUM_STEPS)]),
        torch_loop(task, architecture, model, channels_last=False),
        torch_loop(task, architecture, model, channels_last=True),
    ]
    for train in loops:
        train()
    rates = np.array([[rate(train) for train in loops] for _ in range(ROUNDS)])
    fast, plain, last = np.median(rates, axis=0)
    to_plain, to_last = (np.median(rates[:, 0] / rates[:, i]) for i in (1, 2))
    return [f"{fast:,.0f}", f"{plain:,.0f}", f"{to_plain:.1f}", f"{last:,.0f}", f"{to_last:.1f}"]


def rate(train: Train) -> float:
    """Client-steps per second of CPU, over half a second or more."""
    repetitions, begin = 0, time.process_time()
    while (spent := time.process_time() - begin) < 0.5:
        train()
        repetitions += 1
    return repetitions * NUM_STEPS / spent


def make_task(architecture: Architecture, batch_size: int) -> Task:
    """One client with 60 samples: coarse squares of noise, which light and dark pixels surround."""
    rng = np.random.default_rng(0)
    channels, height, width = architecture.image
    coarse = rng.integers(0, 200, (60, channels, height // 4, width // 4))
    images = np.kron(coarse, np.ones((4, 4))) + rng.integers(0, 50, (60, channels, height, width))
    labels = rng.integers(0, 10, 60).astype(np.int32)
    scale, shift = np.full(channels, 1 / 62, np.float32), np.full(channels, -2.0, np.float32)
    pixels = images.astype(np.uint8)
    data = Dataset("squares", pixels, labels, pixels, labels, 10, scale, shift)
    return Task(data, (1,), np.arange(60, dtype=np.int32)[None], 0, 0.01, batch_size)


def make_model(architecture: Architecture) -> NDArray[np.float32]:
    rng = np.random.default_rng(0)
    parts = []
    for shape in architecture.weights():
        bound = 1 / np.sqrt(np.prod(shape[1:]))
        parts += [rng.uniform(-bound, bound, size) for size in (int(np.prod(shape)), shape[0])]
    return np.concatenate(parts).astype(np.float32)


def torch_loop(
    task: Task, architecture: Architecture, model: NDArray[np.float32], *, channels_last: bool
) -> Train:
    """The same steps of the same client, one after another; gives back the model behind them."""
    import torch
    from torch.nn import functional
    from torch.nn.utils import parameters_to_vector, vector_to_parameters

    torch.set_num_threads(1)
    order = torch.channels_last if channels_last else torch.contiguous_format
    module = make_module(architecture).to(memory_format=order)
    params = list(module.parameters())
    data = task.dataset
    scale, shift = (torch.tensor(a).view(-1, 1, 1) for a in (data.scale, data.shift))
    images = torch.tensor(data.train_images).float().mul(scale).add(shift)
    images = images.to(memory_format=order)
    labels = torch.tensor(data.train_labels.astype(np.int64))

    def train() -> NDArray[np.float32]:
        vector_to_parameters(torch.tensor(model), params)
        for rows in torch.tensor(batches(task.seed, 0, 0, NUM_STEPS, 60, task.batch_size)):
            for param in params:
                param.grad = None
            functional.cross_entropy(module(images[rows]), labels[rows]).backward()
            with torch.no_grad():
                torch._foreach_add_(
                    params, [param.grad for param in params], alpha=-task.learning_rate
                )
        return parameters_to_vector(params).detach().numpy()  # type: ignore[no-any-return]  # torch is Any to us

    return train


def make_module(architecture: Architecture) -> Any:
    from torch import nn

    channels = architecture.image[0]
    one, two = architecture.convolutions
    return nn.Sequential(
        nn.Conv2d(channels, one.channels, one.kernel, padding=one.padding),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(one.channels, two.channels, two.kernel),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(400, 120),
        nn.ReLU(),
        nn.Linear(120, 84),
        nn.ReLU(),
        nn.Linear(84, 10),
    )
