"""A block backward: the gradient of its weights, and the slopes of its input.

Each derivative that is not 0 belongs to one window of the input, the one that won in the pool. The
weights' gradient is the sum of gain x window; every window's slopes get gain x weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from flexpress.learning.fast.compiled import part
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
    """All derivatives of a channel that ReLU lets through, with their windows; how many.

    Neighbours in the list are of different samples: so a processor need not wait for the slopes
    that it has just written before it adds to them again.
    """
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


@part
def add_gradient(block: Records, work: Workspace, target: int, rows: SparseRows, n: int) -> None:
    """The sum of gain x window, in as few tiles as the registers allow."""
    kernel, vectors = block.kernel, block.patch_row // 8
    if kernel == 5 and vectors <= 2:
        if vectors == 2:
            add_windows(shape(5, 2), block, work, rows, n, 0, target)
        else:
            add_windows(shape(5, 1), block, work, rows, n, 0, target)
        return
    for y in range(0, kernel, 2):
        for x in range(0, vectors, 5):
            start, to = y * block.row + 8 * x, target + y * block.patch_row + 8 * x
            if x + 5 <= vectors and y + 2 <= kernel:
                add_windows(shape(2, 5), block, work, rows, n, start, to)
            else:
                add_rest(block, work, rows, n, kernel - y, vectors - x, start, to)


@part
def add_rest(
    block: Records,
    work: Workspace,
    rows: SparseRows,
    n: int,
    height: int,
    width: int,
    start: int,
    to: int,
) -> None:
    """What is left of two rows of five vectors at the edge of a kernel."""
    for y in range(2 if height > 2 else height):
        here, there = start + y * block.row, to + y * block.patch_row
        if width >= 5:
            add_windows(shape(1, 5), block, work, rows, n, here, there)
        else:
            for x in range(0, 8 * width, 8):
                add_windows(shape(1, 1), block, work, rows, n, here + x, there + x)


@part
def add_windows(
    tile_shape: Any, block: Records, work: Workspace, rows: SparseRows, n: int, start: int, to: int
) -> None:
    total = weighted_sum(tile_shape, rows, 0, n, work.values, start, block.row)
    add_to(total, np.float32(1), work.gradient, to, block.patch_row)


@part
def add_slopes(block: Records, work: Workspace, weights: int, rows: SparseRows, n: int) -> None:
    """Slopes of every window += gain x weights: a row of the kernel at a time, or five vectors."""
    vectors = block.patch_row // 8
    for y in range(block.kernel):
        for x in range(0, vectors, 5):
            source, start = weights + y * block.patch_row + 8 * x, y * block.row + 8 * x
            if x + 5 <= vectors:
                add_weights(shape(1, 5), block, work, rows, n, start, source)
            else:
                for right in range(0, 8 * (vectors - x), 8):
                    add_weights(shape(1, 1), block, work, rows, n, start + right, source + right)


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
