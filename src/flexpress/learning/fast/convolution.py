"""A block forward: convolution, ReLU, max-pool; sixteen or eight output channels at once."""

from __future__ import annotations

from typing import Any

from flexpress.learning.fast.compiled import inlined, part
from flexpress.learning.fast.layout import SUMS, Records
from flexpress.learning.fast.memory import at
from flexpress.learning.fast.pooling import pool
from flexpress.learning.fast.products import plus_outer, plus_slid
from flexpress.learning.fast.tiles import load, num_rows, shape, store
from flexpress.learning.fast.winograd import mix_rows
from flexpress.learning.fast.workspace import Workspace


@part
def forward_block(block: Records, work: Workspace, sample: int) -> None:
    """The sums that two rows of the convolution are made of, and what the pool makes of them."""
    start = block.input + sample * block.input_size
    output = block.output + sample * block.output_size
    line = 2 * block.width * block.filled
    for y in range(block.height):
        corner = start + 2 * y * block.row
        mix_rows(block, work, corner)
        first, weights = block.first_tap, block.spread
        for number in range(SUMS):
            taps = at(work.sums, block.first_sum + number) * block.row_taps
            convolve_line(block, work, first, taps, weights, number * line)
            weights += (1 + taps) * block.filled
            first += taps
        pool_line(block, work, corner, output + y * block.output_row)


@inlined
def convolve_line(
    block: Records, work: Workspace, first: int, taps: int, weights: int, out: int
) -> None:
    """One of these sums, for a whole row: sixteen channels at a time, and the last eight."""
    for channel in range(0, block.filled, 16):
        start, to = weights + channel, out + channel
        if channel + 16 <= block.filled:
            convolve_pixels(shape(5, 2), block, work, first, taps, start, to)
        elif block.kernel == 5:
            slide_pixels(shape(10, 1), block, work, first, taps, start, to)
        else:
            convolve_pixels(shape(7, 1), block, work, first, taps, start, to)


@part
def convolve_pixels(
    tile_shape: Any, block: Records, work: Workspace, first: int, taps: int, start: int, out: int
) -> None:
    """Some neighbouring pixels at a time, tap by tap; the last tile overlaps the one before it.

    In a row that is narrower than the tile, pixels behind its end are computed for nothing.
    """
    pixel, filled = block.pixel, block.filled
    pixels, width = num_rows(tile_shape), 2 * block.width
    for left in range(0, width, pixels):
        x = left if left + pixels <= width or left == 0 else width - pixels
        tile = load(tile_shape, work.spread, start, 0)
        for tap in range(taps):
            place = x * pixel + at(work.taps, first + tap)
            weights = start + (1 + tap) * filled
            tile = plus_outer(tile, work.mixed, place, pixel, work.spread, weights)
        store(tile, work.lines, out + x * filled, filled)


@part
def slide_pixels(
    tile_shape: Any, block: Records, work: Workspace, first: int, taps: int, start: int, out: int
) -> None:
    """The same, with the five taps of a row of the kernel sliding along the pixels.

    Eight channels are one vector only, and reading the pixels would take longer than multiplying:
    here each is read once for five taps.
    """
    pixel, filled = block.pixel, block.filled
    pixels, width = num_rows(tile_shape), 2 * block.width
    for left in range(0, width, pixels):
        x = left if left + pixels <= width or left == 0 else width - pixels
        tile = load(tile_shape, work.spread, start, 0)
        for tap in range(0, taps, 5):
            place, weights = x * pixel + at(work.taps, first + tap), start + (1 + tap) * filled
            tile = plus_slid(
                tile, shape(5, 1), work.mixed, place, pixel, work.spread, weights, filled
            )
        store(tile, work.lines, out + x * filled, filled)


@part
def pool_line(block: Records, work: Workspace, corner: int, output: int) -> None:
    """Of two rows of the convolution the largest in each square of four pixels."""
    filled, row, pixel = block.filled, block.row, block.pixel
    line = 2 * block.width * filled
    for x in range(block.width):
        window, square, out = corner + 2 * x * pixel, 2 * x * filled, output + x * filled
        for channel in range(0, filled, 8):
            pool(
                work.lines,
                square + channel,
                line,
                filled,
                window,
                row,
                pixel,
                work.values,
                work.places,
                out + channel,
            )
