"""Small learning tasks with random data."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexpress.learning.architecture import Architecture, Shape
from flexpress.learning.task import Dataset, Task


def random_task(
    image: Shape,
    *,
    batch_size: int,
    num_classes: int = 10,
    num_clients: int = 3,
    samples: int = 40,
    learning_rate: float = 0.05,
    kind: Any = np.uint8,
    seed: int = 0,
) -> Task:
    """Noise with a label that can be learned a little: brighter images have higher labels."""
    rng = np.random.default_rng(seed)
    count = num_clients * samples

    def draw(number: int) -> tuple[NDArray[Any], NDArray[np.int32]]:
        labels = rng.integers(0, num_classes, number).astype(np.int32)
        noise = rng.integers(0, 200, (number, *image))
        return (noise + 50 * labels[:, None, None, None] // num_classes).astype(kind), labels

    scale = rng.uniform(0.01, 0.02, image[0]).astype(np.float32)
    shift = rng.uniform(-2.0, -1.0, image[0]).astype(np.float32)
    data = Dataset("noise", *draw(count), *draw(75), num_classes, scale, shift)
    shards = rng.permutation(count).reshape(num_clients, samples).astype(np.int32)
    ids = tuple(f"c{i}" for i in range(num_clients))
    return Task(data, ids, shards, seed + 1, learning_rate, batch_size)


def random_model(architecture: Architecture, seed: int = 0) -> NDArray[np.float32]:
    """Drawn within 1 / sqrt(inputs) of a weight, as torch does."""
    rng = np.random.default_rng(seed)
    parts = []
    for shape in architecture.weights():
        bound = 1 / np.sqrt(np.prod(shape[1:]))
        parts += [
            rng.uniform(-bound, bound, int(np.prod(shape))),
            rng.uniform(-bound, bound, shape[0]),
        ]
    return np.concatenate(parts).astype(np.float32)
