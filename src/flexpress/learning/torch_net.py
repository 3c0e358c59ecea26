"""Architectures as torch modules, and torch modules as architectures."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import prod

from torch import nn

from flexpress.learning.architecture import Architecture, Convolution, Shape

_FEATURE_ROW = (1, 1)
"""Channels and height of data that are rows of features."""


def make_module(architecture: Architecture) -> nn.Sequential:
    """The same net, its parameters in the same order."""
    layers: list[nn.Module] = []
    for convolution, (channels, _, _) in zip(
        architecture.convolutions, architecture.shapes(), strict=False
    ):
        size, padding = convolution.kernel, convolution.padding
        layers += [nn.Conv2d(channels, convolution.channels, size, padding=padding), nn.ReLU()]
        layers.append(nn.MaxPool2d(2))
    layers.append(nn.Flatten())
    sizes = (prod(architecture.shapes()[-1]), *architecture.hidden, architecture.num_classes)
    for before, after in pairwise(sizes):
        layers += [nn.Linear(before, after), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def architecture_of(module: nn.Module, image: Shape, num_classes: int) -> Architecture | None:
    """The architecture of a plain sequence of known layers; None for others, which torch trains."""
    layers = list(_flat(module))
    blocks, rest = _convolutions(layers)
    if rest and type(rest[0]) is nn.Flatten:
        whole = (rest[0].start_dim, rest[0].end_dim) == (1, -1)
        rest = rest[1:] if whole else []
    elif blocks or image[:2] != _FEATURE_ROW:
        return None
    linear = _linear(rest)
    if not linear or linear[-1] != num_classes:
        return None
    found = Architecture(image, tuple(blocks), tuple(linear[:-1]), num_classes)
    return found if _fits(found, module) else None


def _flat(module: nn.Module) -> Iterator[nn.Module]:
    """The layers, including those of nested sequences."""
    if type(module) is not nn.Sequential:
        yield module
        return
    for layer in module:
        yield from _flat(layer)


def _convolutions(layers: list[nn.Module]) -> tuple[list[Convolution], list[nn.Module]]:
    """Blocks of convolution, ReLU and max-pool at the front, and the layers after them.

    ReLU may come before or after the pool: the largest of the positive parts is the positive part
    of the largest.
    """
    blocks: list[Convolution] = []
    while layers and type(layers[0]) is nn.Conv2d:
        block = _convolution(layers[0])
        after = {type(layer) for layer in layers[1:3]}
        if block is None or after != {nn.ReLU, nn.MaxPool2d}:
            return [], []
        if not all(_halves(layer) for layer in layers[1:3] if type(layer) is nn.MaxPool2d):
            return [], []
        blocks.append(block)
        layers = layers[3:]
    return blocks, layers


def _convolution(layer: nn.Conv2d) -> Convolution | None:
    height, width = layer.kernel_size
    padding = layer.padding
    if padding == "valid":
        padding = (0, 0)
    elif padding == "same" and height % 2:
        padding = (height // 2, width // 2)
    plain = (
        height == width
        and isinstance(padding, tuple)
        and padding[0] == padding[1]
        and layer.stride == layer.dilation == (1, 1)
        and layer.groups == 1
        and layer.padding_mode == "zeros"
        and layer.bias is not None
    )
    return Convolution(layer.out_channels, height, int(padding[0])) if plain else None


def _halves(pool: nn.MaxPool2d) -> bool:
    sizes = (pool.kernel_size, pool.stride, pool.padding, pool.dilation)
    both = tuple(size if isinstance(size, tuple) else (size, size) for size in sizes)
    plain = both == ((2, 2), (2, 2), (0, 0), (1, 1))
    return plain and not pool.ceil_mode and not pool.return_indices


def _linear(layers: list[nn.Module]) -> list[int]:
    """Outputs of each linear layer; empty if there are layers other than these and ReLU between."""
    kinds = [type(layer) for layer in layers]
    if kinds != [(nn.Linear, nn.ReLU)[i % 2] for i in range(len(layers))] or len(layers) % 2 == 0:
        return []
    linear = layers[::2]
    return [layer.out_features for layer in linear if layer.bias is not None]


def _fits(architecture: Architecture, module: nn.Module) -> bool:
    """Whether all parameters are trained and have the sizes of the architecture."""
    expected = []
    for shape in architecture.weights():
        expected += [shape, shape[:1]]
    parameters = list(module.parameters())
    return [tuple(each.shape) for each in parameters] == expected and all(
        each.requires_grad for each in parameters
    )
