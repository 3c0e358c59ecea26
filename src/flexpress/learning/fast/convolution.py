"""A block forward: convolution, ReLU, max-pool; sixteen or eight output channels at once."""

from __future__ import annotations

from typing import Any

from flexpress.learning.fast.compiled import inlined, part
from flexpress.learning.fast.layout import Records
from flexpress.learning.fast.memory import at, put
from flexpress.learning.fast.pooling import pool
from flexpress.learning.fast.products import plus_outer, plus_slid
from flexpress.learning.fast.tiles import load, num_rows, shape, store
from flexpress.learning.fast.workspace import Workspace


@part
def spread_weights(block: Records, work: Workspace) -> None:
    """The weights as the forward pass wants them: (taps, channels)."""
    patch = block.kernel * block.patch_row
    for tap in range(block.taps):
        source = block.weights + at(work.patch_taps, block.first_tap + tap)
        target = block.spread + tap * block.filled
        for channel in range(block.channels):
            put(work.spread, target + channel, at(work.params, source + channel * patch))


@part
def forward_block(block: Records, work: Workspace, sample: int) -> None:
    """Two rows of the convolution, then the row that the pool makes of them."""
    start = block.input + sample * block.input_size
    output = block.output + sample * block.output_size
    line = 2 * block.width * block.filled
    for y in range(block.height):
        for half in range(2):
            convolve_line(block, work, start + (2 * y + half) * block.row, half * line)
        pool_line(block, work, start + 2 * y * block.row, output + y * block.output_row)


@inlined
def convolve_line(block: Records, work: Workspace, corner: int, out: int) -> None:
    """A row of the output: sixteen channels at a time, and the last eight."""
    for channel in range(0, block.filled, 16):
        if channel + 16 <= block.filled:
            convolve_pixels(shape(5, 2), block, work, corner, channel, out)
        elif block.kernel == 5:
            slide_pixels(shape(10, 1), block, work, corner, channel, out)
        else:
            convolve_pixels(shape(7, 1), block, work, corner, channel, out)


@part
def convolve_pixels(
    tile_shape: Any, block: Records, work: Workspace, corner: int, channel: int, out: int
) -> None:
    """Some neighbouring pixels at a time, tap by tap; the last tile overlaps the one before it.

    In a row that is narrower than the tile, pixels behind its end are computed for nothing.
    """
    taps, first_tap, pixel, filled = block.taps, block.first_tap, block.pixel, block.filled
    bias, weights = block.bias + channel, block.spread + channel
    pixels, width = num_rows(tile_shape), 2 * block.width
    for left in range(0, width, pixels):
        x = left if left + pixels <= width or left == 0 else width - pixels
        window = corner + x * pixel
        tile = load(tile_shape, work.params, bias, 0)
        for tap in range(taps):
            place = window + at(work.window_taps, first_tap + tap)
            tile = plus_outer(tile, work.values, place, pixel, work.spread, weights + tap * filled)
        store(tile, work.lines, out + x * filled + channel, filled)


@part
def slide_pixels(
    tile_shape: Any, block: Records, work: Workspace, corner: int, channel: int, out: int
) -> None:
    """The same, with the five taps of a row of the kernel sliding along the pixels.

    Eight channels are one vector only, and reading the pixels would take longer than multiplying:
    here each is read once for five taps.
    """
    taps, first_tap, pixel, filled = block.taps, block.first_tap, block.pixel, block.filled
    bias, weights = block.bias + channel, block.spread + channel
    pixels, width = num_rows(tile_shape), 2 * block.width
    for left in range(0, width, pixels):
        x = left if left + pixels <= width or left == 0 else width - pixels
        window = corner + x * pixel
        tile = load(tile_shape, work.params, bias, 0)
        for tap in range(0, taps, 5):
            place, first = window + at(work.window_taps, first_tap + tap), weights + tap * filled
            tile = plus_slid(
                tile, shape(5, 1), work.values, place, pixel, work.spread, first, filled
            )
        store(tile, work.lines, out + x * filled + channel, filled)


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
