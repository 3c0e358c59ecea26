"""Nets that every engine can train: convolution, ReLU and max-pool blocks, then linear layers.

A model is one flat vector: for each layer the weights, then the biases, as torch orders them:
(outputs, inputs, height, width) for a convolution, (outputs, inputs) for a linear layer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from math import prod, sqrt

import numpy as np
from numpy.typing import NDArray

from flexpress.errors import InputError

Shape = tuple[int, int, int]
"""Channels, height, width."""

_STREAM = 2
"""The random stream of initial models, one of those that the scenario's seed gives."""


@dataclass(frozen=True)
class Convolution:
    """A square kernel with stride 1, ReLU, and max-pool 2 x 2, which drops an odd row or column."""

    channels: int
    kernel: int
    padding: int = 0

    def output(self, shape: Shape) -> Shape:
        _, height, width = shape
        shrink = self.kernel - 1 - 2 * self.padding
        return self.channels, (height - shrink) // 2, (width - shrink) // 2


@dataclass(frozen=True)
class Architecture:
    """A net for images of this shape; ReLU after every linear layer but the last."""

    image: Shape
    convolutions: tuple[Convolution, ...]
    hidden: tuple[int, ...]
    num_classes: int

    def shapes(self) -> list[Shape]:
        """The input of each convolution, then the output of the last one."""
        shapes = [self.image]
        for convolution in self.convolutions:
            shapes.append(convolution.output(shapes[-1]))
        return shapes

    def weights(self) -> list[tuple[int, ...]]:
        """The shape of every layer's weights; each layer has as many biases as outputs."""
        inputs = self.shapes()
        kernels = [
            (layer.channels, channels, layer.kernel, layer.kernel)
            for layer, (channels, _, _) in zip(self.convolutions, inputs[:-1], strict=True)
        ]
        sizes = (prod(inputs[-1]), *self.hidden, self.num_classes)
        return [*kernels, *((after, before) for before, after in pairwise(sizes))]

    @property
    def num_params(self) -> int:
        return sum(prod(shape) + shape[0] for shape in self.weights())


def lenet(image: Shape, num_classes: int) -> Architecture:
    """LeNet: 5 x 5 convolutions of 6 and 16 channels, then 120, 84. Padding 2 below 32 x 32."""
    padding = 2 if min(image[1:]) < 32 else 0
    blocks = (Convolution(6, 5, padding), Convolution(16, 5))
    return Architecture(image, blocks, (120, 84), num_classes)


def _mlp(image: Shape, num_classes: int) -> Architecture:
    """One hidden layer of 128."""
    return Architecture(image, (), (128,), num_classes)


def _logistic(image: Shape, num_classes: int) -> Architecture:
    """Multinomial logistic regression."""
    return Architecture(image, (), (), num_classes)


MODELS: dict[str, Callable[[Shape, int], Architecture]] = {
    "lenet": lenet,
    "mlp": _mlp,
    "logistic": _logistic,
}


def make_architecture(name: str, image: Shape, num_classes: int) -> Architecture:
    """The net of that name for images of this shape; InputError if the images are too small."""
    architecture = MODELS[name](image, num_classes)
    if min(architecture.shapes()[-1]) < 1:
        _, height, width = image
        raise InputError(
            f'learning.model = "{name}": images of {height} x {width} are too small; '
            'use "mlp" or "logistic"'
        )
    return architecture


def draw_initial(architecture: Architecture, seed: int) -> NDArray[np.float32]:
    """x^0 of the paper, (params,): uniform within 1 / sqrt(inputs of a unit), as torch draws it."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_STREAM,)))
    layers = []
    for shape in architecture.weights():
        bound = 1 / sqrt(prod(shape[1:]))
        layers.append(rng.uniform(-bound, bound, prod(shape) + shape[0]))
    return np.concatenate(layers).astype(np.float32)
