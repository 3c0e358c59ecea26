"""A block backward: the gradient of its weights, and the slopes of its input.

Each derivative that is not 0 belongs to one window of the input, the one that won in the pool. The
weights' gradient is the sum of gain x window; every window's slopes get gain x weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from flexpress.learning.fast.compiled import once, part
from flexpress.learning.fast.convolution import spread_weights
from flexpress.learning.fast.layout import Records
from flexpress.learning.fast.memory import at, put
from flexpress.learning.fast.sparse import sum_of_gains, weighted_sum
from flexpress.learning.fast.tiles import add_to, load, shape
from flexpress.learning.fast.workspace import SparseRows, Workspace

CACHED = 8192
"""Floats that are worked on at once: so many fit into a first-level cache."""


@part
def backward_block(
    block: Records, work: Workspace, samples: int, rate: Any, further: bool
) -> None:
    """One step down the gradient; with slopes of the input if there is a block before it."""
    patch = block.kernel * block.patch_row
    num_weights = block.channels * patch
    for i in range(num_weights + block.filled):
        put(work.gradient, i, np.float32(0))
    if further:
        for i in range(block.input, block.input + samples * block.input_size):
            put(work.slopes, i, np.float32(0))
    group = CACHED // (2 * (block.input_size + block.output_size)) or 1
    for first in range(0, samples, group):
        last = first + group if first + group < samples else samples
        for channel in range(block.channels):
            count = list_winners(block, work, first, last, channel)
            add_gradient(block, work, channel * patch, work.by_output, count)
            gains = sum_of_gains(work.by_output, 0, count)
            bias = num_weights + channel
            put(work.gradient, bias, at(work.gradient, bias) + gains)
            if further:
                add_slopes(block, work, block.weights + channel * patch, work.by_output, count)
    descend(block, work, rate)


@part
def list_winners(block: Records, work: Workspace, first: int, last: int, channel: int) -> int:
    """All derivatives of a channel that ReLU lets through, with their windows; how many."""
    gains, spots = work.by_output.gains, work.by_output.spots
    size, filled, row, width = block.output_size, block.filled, block.output_row, block.width
    height, places, slopes = block.height, work.places, work.slopes
    start = block.output + channel
    count = 0
    for sample in range(first, last):
        for y in range(height):
            cell = start + sample * size + y * row
            for _ in range(width):
                place = at(places, cell)
                put(gains, count, at(slopes, cell))
                put(spots, count, place)
                count += place >= 0
                cell += filled
    return count


@once
def add_gradient(block: Records, work: Workspace, target: int, rows: SparseRows, n: int) -> None:
    """The sum of gain x window, in as few tiles as the registers allow."""
    if block.kernel == 5:
        for x in range(0, block.patch_row, 16):
            if x + 16 <= block.patch_row:
                add_windows(shape(5, 2), block, work, rows, n, x, target + x)
            else:
                add_windows(shape(5, 1), block, work, rows, n, x, target + x)
        return
    for y in range(block.kernel):
        start, to = y * block.row, target + y * block.patch_row
        for x in range(0, block.patch_row, 40):
            if x + 40 <= block.patch_row:
                add_windows(shape(1, 5), block, work, rows, n, start + x, to + x)
            else:
                for right in range(x, block.patch_row, 8):
                    add_windows(shape(1, 1), block, work, rows, n, start + right, to + right)


@part
def add_windows(
    tile_shape: Any, block: Records, work: Workspace, rows: SparseRows, n: int, start: int, to: int
) -> None:
    total = weighted_sum(tile_shape, rows, 0, n, work.values, start, block.row)
    add_to(total, np.float32(1), work.gradient, to, block.patch_row)


@once
def add_slopes(block: Records, work: Workspace, weights: int, rows: SparseRows, n: int) -> None:
    """Slopes of every window += gain x weights: a column at a time.

    The next window of the list is another column: so a processor need not wait for the slopes that
    it has just written before it adds to them again.
    """
    for x in range(0, block.patch_row, 8):
        if block.kernel == 5:
            add_weights(shape(5, 1), block, work, rows, n, x, weights + x)
        else:
            for y in range(block.kernel):
                source = weights + y * block.patch_row + x
                add_weights(shape(1, 1), block, work, rows, n, y * block.row + x, source)


@part
def add_weights(
    tile_shape: Any, block: Records, work: Workspace, rows: SparseRows, n: int, to: int, source: int
) -> None:
    tile = load(tile_shape, work.params, source, block.patch_row)
    row = block.row
    for i in range(n):
        add_to(tile, at(rows.gains, i), work.slopes, to + at(rows.spots, i), row)


@part
def descend(block: Records, work: Workspace, rate: Any) -> None:
    """Weights -= rate x gradient; the vectors' overhang beyond a kernel's rows is left out."""
    patch = block.kernel * block.patch_row
    for channel in range(block.channels):
        for y in range(block.kernel):
            for x in range(block.kernel):
                place = channel * patch + y * block.patch_row + x * block.pixel
                for z in range(block.depth):
                    weight = at(work.params, block.weights + place + z)
                    slope = at(work.gradient, place + z)
                    put(work.params, block.weights + place + z, weight - rate * slope)
        bias = at(work.params, block.bias + channel)
        slope = at(work.gradient, block.channels * patch + channel)
        put(work.params, block.bias + channel, bias - rate * slope)
    spread_weights(block, work)
