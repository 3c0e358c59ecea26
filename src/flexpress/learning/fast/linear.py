"""Linear layers, forward and backward: a row of weights for each output."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexpress.learning.fast.decorators import part
from flexpress.learning.fast.memory import at, put
from flexpress.learning.fast.products import plus_products, store_sums, sum_of_gains, weighted_sum
from flexpress.learning.fast.tables import Records
from flexpress.learning.fast.tiles import add_to, shape, store, zeros
from flexpress.learning.fast.workspace import Workspace


@part
def forward_linear(layer: Records, work: Workspace, samples: int, rectified: bool) -> None:
    """Four outputs of two samples at once, in 8 lanes each, which are added up at the end."""
    size = layer.input_size
    for output in range(0, layer.outputs, 4):
        weights = layer.weights + output * size
        for sample in range(0, samples, 2):
            inputs = layer.input + sample * size
            tile = zeros(shape(4, 2))
            for i in range(0, size, 8):
                tile = plus_products(
                    tile, work.params, weights + i, size, work.values, inputs + i, size
                )
            target = layer.output + sample * layer.output_size + output
            store_sums(tile, work.values, target, layer.output_size)
    _add_bias(layer, work, samples, rectified)


@part
def _add_bias(layer: Records, work: Workspace, samples: int, rectified: bool) -> None:
    zero = np.float32(0)
    for sample in range(samples):
        start = layer.output + sample * layer.output_size
        for i in range(layer.outputs):
            value = at(work.values, start + i) + at(work.params, layer.bias + i)
            put(work.values, start + i, zero if rectified and value <= zero else value)


@part
def backward_linear(
    layer: Records, work: Workspace, samples: int, rate: np.float32, rectified: bool, further: bool
) -> None:
    """An SGD step of the weights, and the slopes of the input if a layer precedes it.

    Slopes of the input: a sum of rows of weights for each sample. Gradient of a row of weights: a
    sum of samples. Both go along a list of the nonzero slopes of the output.
    """
    _list_slopes(layer, work, samples, rectified)
    size = layer.input_size
    by_ten = size - size % 80
    by_five = size - size % 40
    for column in range(0, by_ten, 80):
        _backward_columns(shape(1, 10), layer, work, samples, rate, further, column)
    for column in range(by_ten, by_five, 40):
        _backward_columns(shape(1, 5), layer, work, samples, rate, further, column)
    for column in range(by_five, size, 8):
        _backward_columns(shape(1, 1), layer, work, samples, rate, further, column)
    for output in range(layer.outputs):
        rows = work.by_output
        gains = sum_of_gains(rows, output * samples, at(rows.counts, output))
        bias = at(work.params, layer.bias + output)
        put(work.params, layer.bias + output, bias - rate * gains)


@part
def _backward_columns(
    tile_shape: Any,
    layer: Records,
    work: Workspace,
    samples: int,
    rate: np.float32,
    further: bool,
    column: int,
) -> None:
    """A few inputs of the layer, whose weights stay in the first-level cache."""
    size = layer.input_size
    if further:
        rows = work.by_sample
        for sample in range(samples):
            first, count = sample * layer.outputs, at(rows.counts, sample)
            total = weighted_sum(
                tile_shape, rows, first, count, work.params, layer.weights + column, 0
            )
            store(total, work.slopes, layer.input + sample * size + column, 0)
    rows = work.by_output
    for output in range(layer.outputs):
        first, count = output * samples, at(rows.counts, output)
        total = weighted_sum(tile_shape, rows, first, count, work.values, layer.input + column, 0)
        add_to(total, -rate, work.params, layer.weights + output * size + column, 0)


@part
def _list_slopes(layer: Records, work: Workspace, samples: int, rectified: bool) -> None:
    """List the nonzero slopes of the output, by sample and by output."""
    by_sample, by_output = work.by_sample, work.by_output
    size, outputs = layer.input_size, layer.outputs
    for output in range(outputs):
        put(by_output.counts, output, 0)
    for sample in range(samples):
        start = layer.output + sample * layer.output_size
        n = sample * outputs
        for output in range(outputs):
            gain = at(work.slopes, start + output)
            if gain == 0 or (rectified and at(work.values, start + output) <= 0):
                continue
            put(by_sample.gains, n, gain)
            put(by_sample.spots, n, np.int32(output * size))
            n += 1
            m = at(by_output.counts, output)
            put(by_output.gains, output * samples + m, gain)
            put(by_output.spots, output * samples + m, np.int32(sample * size))
            put(by_output.counts, output, m + 1)
        put(by_sample.counts, sample, n - sample * outputs)
