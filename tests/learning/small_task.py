"""A task of a few small images, for the tests of learners."""

from __future__ import annotations

import numpy as np

from flexpress.learning.datasets import make_dataset
from flexpress.learning.task import Task


def small_task(
    *shape: int, num_classes: int = 4, batch_size: int = 5, learning_rate: float = 0.1
) -> Task:
    """Three clients with 12 samples each, of images of that shape."""
    rng = np.random.default_rng(7)
    train, test = (
        (rng.integers(0, 256, (n, *shape)).astype(np.uint8), rng.integers(0, num_classes, n))
        for n in (40, 30)
    )
    train[1][:num_classes] = np.arange(num_classes)
    shards = rng.permutation(40)[:36].reshape(3, 12).astype(np.int32)
    dataset = make_dataset("small", train, test, num_classes)
    return Task(dataset, (7, "weir", 9), shards, 11, learning_rate, batch_size)
