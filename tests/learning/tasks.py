"""Small learning tasks with random data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexpress.learning import Dataset, Task
from flexpress.learning.architecture import Architecture

NUM_TEST = 75


def random_task(
    architecture: Architecture,
    *,
    batch_size: int,
    num_clients: int = 3,
    samples: int = 40,
    learning_rate: float = 0.05,
    seed: int = 0,
) -> Task:
    """Noise with a label that can be learned a little: brighter images have higher labels."""
    rng = np.random.default_rng(seed)
    image, num_classes = architecture.image, architecture.num_classes

    def draw(number: int) -> tuple[NDArray[Any], NDArray[np.int32]]:
        labels = rng.integers(0, num_classes, number).astype(np.int32)
        noise = rng.integers(0, 200, (number, *image))
        return (noise + 50 * labels[:, None, None, None] // num_classes).astype(np.uint8), labels

    scale = rng.uniform(0.01, 0.02, image[0]).astype(np.float32)
    shift = rng.uniform(-2.0, -1.0, image[0]).astype(np.float32)
    count = num_clients * samples
    data = Dataset("noise", *draw(count), *draw(NUM_TEST), num_classes, scale, shift)
    shards = rng.permutation(count).reshape(num_clients, samples).astype(np.int32)
    ids = tuple(f"c{i}" for i in range(num_clients))
    return Task(data, ids, shards, seed + 1, learning_rate, batch_size)


def random_model(architecture: Architecture, seed: int = 0) -> NDArray[np.float32]:
    """Drawn within 1 / sqrt(inputs) of a weight, as torch does."""
    rng = np.random.default_rng(seed)
    parts = []
    for shape in architecture.weights():
        bound = 1 / np.sqrt(np.prod(shape[1:]))
        parts += [rng.uniform(-bound, bound, (count, 1)) for count in (np.prod(shape), shape[0])]
    return np.concatenate(parts).ravel().astype(np.float32)


def black_and_white(task: Task) -> Task:
    """The same with pixels that are 0 or 1 to the net."""
    data = task.dataset
    train, test = (
        (images > 110).astype(np.uint8) for images in (data.train_images, data.test_images)
    )
    one, zero = np.ones_like(data.scale), np.zeros_like(data.shift)
    data = replace(data, train_images=train, test_images=test, scale=one, shift=zero)
    return replace(task, dataset=data)


def coarse_model(architecture: Architecture, seed: int = 0) -> NDArray[np.float32]:
    """Weights -1/4, 0 or 1/4: in float32 all sums of products are exact, and ties are common."""
    rng = np.random.default_rng(seed)
    values = rng.choice([-0.25, 0.0, 0.0, 0.25], architecture.num_params)
    return values.astype(np.float32)
