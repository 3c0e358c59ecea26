"""A block backward: an SGD step of its weights, and the slopes of its input.

Each nonzero derivative belongs to one window of the input, the one that won in the pool. The
weights' gradient is the sum of gain x window; gain x weights is added to each window's slopes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from flexpress.learning.fast.decorators import inlined, part
from flexpress.learning.fast.memory import at, put
from flexpress.learning.fast.products import sum_of_gains, weighted_sum
from flexpress.learning.fast.tables import Records
from flexpress.learning.fast.tiles import add_to, load, shape
from flexpress.learning.fast.winograd import pack_weights
from flexpress.learning.fast.workspace import SparseRows, Workspace

_GROUP_FLOATS = 4096
"""Floats of input and output in a group of samples: with their slopes they fill a cache."""


@part
def backward_block(
    block: Records, work: Workspace, samples: int, rate: np.float32, further: bool
) -> None:
    """Channel by channel, a few samples at a time; slopes only if a block precedes it."""
    patch = block.kernel * block.patch_row
    biases = block.channels * patch
    for i in range(biases + block.filled):
        put(work.gradient, i, np.float32(0))
    if further:
        for i in range(block.input, block.input + samples * block.input_size):
            put(work.slopes, i, np.float32(0))
    group = _GROUP_FLOATS // (block.input_size + block.output_size) or 1
    rows = work.by_output
    for first in range(0, samples, group):
        last = first + group if first + group < samples else samples
        for channel in range(block.channels):
            count = _list_winners(block, work, first, last, channel)
            _add_gradient(block, work, rows, count, channel * patch)
            slope = at(work.gradient, biases + channel) + sum_of_gains(rows, 0, count)
            put(work.gradient, biases + channel, slope)
            if further:
                _add_slopes(block, work, rows, count, block.weights + channel * patch)
    _descend(block, work, rate)


@part
def _list_winners(block: Records, work: Workspace, first: int, last: int, channel: int) -> int:
    """List the derivatives of a channel that ReLU lets through, with their windows; count them."""
    gains, spots = work.by_output.gains, work.by_output.spots
    slopes, places = work.slopes, work.places
    start, size, row, filled = block.output, block.output_size, block.output_row, block.filled
    height, width = block.height, block.width
    count = 0
    for sample in range(first, last):
        for y in range(height):
            cell = start + sample * size + y * row + channel
            for _ in range(width):
                place = at(places, cell)
                put(gains, count, at(slopes, cell))
                put(spots, count, place)
                count += place >= 0
                cell += filled
    return count


@inlined
def _add_gradient(block: Records, work: Workspace, rows: SparseRows, count: int, to: int) -> None:
    """Gradient of a channel's weights += gain x window: whole columns of a kernel of 5, or rows."""
    if block.kernel == 5:
        for x in range(0, block.patch_row, 16):
            if x + 16 <= block.patch_row:
                _add_windows(shape(5, 2), block, work, rows, count, x, to + x)
            else:
                _add_windows(shape(5, 1), block, work, rows, count, x, to + x)
        return
    for y in range(block.kernel):
        start, target = y * block.row, to + y * block.patch_row
        for x in range(0, block.patch_row, 40):
            if x + 40 <= block.patch_row:
                _add_windows(shape(1, 5), block, work, rows, count, start + x, target + x)
            else:
                for z in range(x, block.patch_row, 8):
                    _add_windows(shape(1, 1), block, work, rows, count, start + z, target + z)


@part
def _add_windows(
    tile_shape: Any,
    block: Records,
    work: Workspace,
    rows: SparseRows,
    count: int,
    start: int,
    to: int,
) -> None:
    total = weighted_sum(tile_shape, rows, 0, count, work.values, start, block.row)
    add_to(total, np.float32(1), work.gradient, to, block.patch_row)


@inlined
def _add_slopes(
    block: Records, work: Workspace, rows: SparseRows, count: int, weights: int
) -> None:
    """Slopes of every window += gain x weights: a column of the kernel at a time.

    The next window of the list is in another column, so the processor need not wait for the slopes
    that it has just written.
    """
    for x in range(0, block.patch_row, 8):
        if block.kernel == 5:
            _add_weights(shape(5, 1), block, work, rows, count, weights + x, x)
        else:
            for y in range(block.kernel):
                source, to = weights + y * block.patch_row + x, y * block.row + x
                _add_weights(shape(1, 1), block, work, rows, count, source, to)


@part
def _add_weights(
    tile_shape: Any,
    block: Records,
    work: Workspace,
    rows: SparseRows,
    count: int,
    weights: int,
    to: int,
) -> None:
    tile = load(tile_shape, work.params, weights, block.patch_row)
    row = block.row
    for i in range(count):
        add_to(tile, at(rows.gains, i), work.slopes, to + at(rows.spots, i), row)


@part
def _descend(block: Records, work: Workspace, rate: np.float32) -> None:
    """Weights -= rate x gradient, without what vectors computed beyond a row of the kernel."""
    patch = block.kernel * block.patch_row
    for channel in range(block.channels):
        for row in range(channel * patch, (channel + 1) * patch, block.patch_row):
            for tap in range(block.row_taps):
                i = row + at(work.taps, block.first_tap + tap)
                weight = at(work.params, block.weights + i) - rate * at(work.gradient, i)
                put(work.params, block.weights + i, weight)
        slope = at(work.gradient, block.channels * patch + channel)
        bias = block.bias + channel
        put(work.params, bias, at(work.params, bias) - rate * slope)
    pack_weights(block, work)
