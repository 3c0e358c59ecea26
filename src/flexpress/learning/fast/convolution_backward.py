"""A block backward: the gradient of its weights, and the slopes of its input.

Each derivative that is not 0 belongs to one window of the input, the one that won in the pool. The
weights' gradient is the sum of gain x window; every window's slopes get gain x weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from flexpress.learning.fast.compiled import part
from flexpress.learning.fast.layout import Net, Records
from flexpress.learning.fast.pooling import at, put
from flexpress.learning.fast.sparse import sum_of_gains, weighted_sum
from flexpress.learning.fast.tiles import add_to, load, shape
from flexpress.learning.fast.workspace import SparseRows, Workspace

CACHED = 4096
"""Floats of input that are worked on at once: half of a first-level cache."""


@part
def backward_block(
    block: Records, net: Net, work: Workspace, samples: int, rate: Any, further: bool
) -> None:
    """One step down the gradient; with slopes of the input if there is a block before it."""
    patch = block.kernel * block.patch_row
    num_weights = block.channels * patch
    for i in range(num_weights + block.filled):
        put(work.gradient, i, np.float32(0))
    if further:
        for i in range(block.input, block.input + samples * block.input_size):
            put(work.slopes, i, np.float32(0))
    group = max(1, CACHED // block.input_size)
    for first in range(0, samples, group):
        last = min(first + group, samples)
        for channel in range(block.channels):
            count = list_winners(block, work, first, last, channel)
            add_gradient(block, work, channel * patch, work.by_output, count)
            gains = sum_of_gains(work.by_output, 0, count)
            put(work.gradient, num_weights + channel, work.gradient[num_weights + channel] + gains)
            if further:
                add_slopes(block, work, block.weights + channel * patch, work.by_output, count)
    descend(block, net, work, rate)


@part
def list_winners(block: Records, work: Workspace, first: int, last: int, channel: int) -> int:
    """All derivatives of a channel that ReLU lets through, with their windows; how many."""
    gains, spots = work.by_output.gains, work.by_output.spots
    count = 0
    for sample in range(first, last):
        for y in range(block.height):
            line = block.output + sample * block.output_size + y * block.output_row + channel
            for x in range(block.width):
                place = at(work.places, line + x * block.filled)
                put(gains, count, at(work.slopes, line + x * block.filled))
                put(spots, count, place)
                count += place >= 0
    return count


@part
def add_gradient(block: Records, work: Workspace, target: int, rows: SparseRows, n: int) -> None:
    """The sum of gain x window, in as few tiles as the registers allow."""
    vectors = block.patch_row // 8
    y = 0
    while y < block.kernel:
        left = block.kernel - y
        height = 5 if left >= 5 and vectors < 3 else (2 if left >= 2 else 1)
        x = 0
        while x < vectors:
            wide = vectors - x >= 5
            to = target + y * block.patch_row + 8 * x
            start = y * block.row + 8 * x
            if height == 5:
                add_windows(shape(5, 1), block, work, rows, n, start, to)
            elif height == 2 and wide:
                add_windows(shape(2, 5), block, work, rows, n, start, to)
            elif height == 2:
                add_windows(shape(2, 1), block, work, rows, n, start, to)
            elif wide:
                add_windows(shape(1, 5), block, work, rows, n, start, to)
            else:
                add_windows(shape(1, 1), block, work, rows, n, start, to)
            x += 5 if height < 5 and wide else 1
        y += height


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
        x = 0
        while x < vectors:
            source = weights + y * block.patch_row + 8 * x
            start = y * block.row + 8 * x
            if vectors - x >= 5:
                add_weights(shape(1, 5), block, work, rows, n, start, source)
                x += 5
            else:
                add_weights(shape(1, 1), block, work, rows, n, start, source)
                x += 1


@part
def add_weights(
    tile_shape: Any, block: Records, work: Workspace, rows: SparseRows, n: int, to: int, source: int
) -> None:
    tile = load(tile_shape, work.params, source, block.patch_row)
    row = block.row
    for i in range(n):
        add_to(tile, at(rows.gains, i), work.slopes, to + at(rows.spots, i), row)


@part
def descend(block: Records, net: Net, work: Workspace, rate: Any) -> None:
    """Weights -= rate x gradient; the vectors' overhang beyond a patch's rows is left out."""
    patch = block.kernel * block.patch_row
    for channel in range(block.channels):
        for tap in range(block.taps):
            i = channel * patch + at(net.patch_taps, block.first_tap + tap)
            weight = at(work.params, block.weights + i) - rate * at(work.gradient, i)
            put(work.params, block.weights + i, weight)
            put(work.spread, block.spread + tap * block.filled + channel, weight)
        bias = at(work.params, block.bias + channel)
        slope = at(work.gradient, block.channels * patch + channel)
        put(work.params, block.bias + channel, bias - rate * slope)
