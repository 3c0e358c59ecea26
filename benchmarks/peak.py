"""How fast this core can multiply matrices, and how many operations a local step takes."""

from __future__ import annotations

import time
from math import prod

import numpy as np

from flexpress.learning.architecture import Architecture

SIZES = 256, 512, 1024
SECONDS = 1.0


def multiply_peak() -> float:
    """Operations per second of CPU, the best of all products of float32 matrices by NumPy."""
    rng = np.random.default_rng(0)
    best = 0.0
    for size in SIZES:
        a, b = rng.random((2, size, size), dtype=np.float32)
        product = a @ b
        end = time.process_time() + SECONDS
        while (begin := time.process_time()) < end:
            np.matmul(a, b, out=product)
            best = max(best, 2 * size**3 / (time.process_time() - begin))
    return best


def step_operations(architecture: Architecture, batch_size: int) -> int:
    """Multiplications and additions of a local step: forward, and backward without shortcuts.

    Backward has a product for the gradient of the weights, and one for that of the inputs, which
    the first layer does not need. Biases, ReLU, pooling and the loss are not counted.
    """
    forward = [
        2 * prod(kernel) * area
        for kernel, area in zip(architecture.weights(), areas(architecture), strict=True)
    ]
    return batch_size * (3 * sum(forward) - forward[0])


def areas(architecture: Architecture) -> list[int]:
    """How often each layer's weights are applied to an image: for each pixel before pooling."""
    applied = []
    for layer, (_, height, width) in zip(
        architecture.convolutions, architecture.shapes(), strict=False
    ):
        shrink = layer.kernel - 1 - 2 * layer.padding
        applied.append((height - shrink) * (width - shrink))
    return applied + [1] * (len(architecture.weights()) - len(applied))
