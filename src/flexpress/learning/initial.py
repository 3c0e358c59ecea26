"""x^0 of the paper: the model that every client starts from."""

from __future__ import annotations

from math import prod, sqrt

import numpy as np
from numpy.typing import NDArray

from flexpress.learning.architecture import Architecture

STREAM = 2
"""Of the random numbers that the scenario's seed gives."""


def draw_initial(architecture: Architecture, seed: int) -> NDArray[np.float32]:
    """(params,): as torch draws it, uniform within 1 / sqrt(inputs of a unit), biases too."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(STREAM,)))
    layers = []
    for shape in architecture.weights():
        bound = 1 / sqrt(prod(shape[1:]))
        layers.append(rng.uniform(-bound, bound, prod(shape) + shape[0]))
    return np.concatenate(layers).astype(np.float32)
