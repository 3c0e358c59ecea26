"""A block forward: convolution, ReLU, max-pool; eight output channels at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexpress.learning.fast.compiled import part
from flexpress.learning.fast.layout import Net, Records
from flexpress.learning.fast.pooling import at, pool, put
from flexpress.learning.fast.products import plus_outer
from flexpress.learning.fast.tiles import load, shape, store
from flexpress.learning.fast.workspace import Workspace


@part
def spread_weights(block: Records, net: Net, work: Workspace) -> None:
    """The weights as the forward pass wants them: (taps, channels)."""
    patch = block.kernel * block.patch_row
    for tap in range(block.taps):
        source = block.weights + at(net.patch_taps, block.first_tap + tap)
        target = block.spread + tap * block.filled
        for channel in range(block.channels):
            put(work.spread, target + channel, at(work.params, source + channel * patch))


@part
def convolve_pixels(
    tile_shape: Any, block: Records, net: Net, work: Workspace, corner: int, channel: int, out: int
) -> None:
    """Some neighbouring pixels (rows of the tile) of some channels (its columns)."""
    tile = load(tile_shape, work.params, block.bias + channel, 0)
    weights = block.spread + channel
    pixel, filled, first = block.pixel, block.filled, block.first_tap
    for tap in range(block.taps):
        window = corner + at(net.window_taps, first + tap)
        tile = plus_outer(tile, work.values, window, pixel, work.spread, weights + tap * filled)
    store(tile, work.lines, out, filled)


@part
def convolve_line(
    tile_shape: Any,
    pixels: int,
    block: Records,
    net: Net,
    work: Workspace,
    corner: int,
    channel: int,
    out: int,
) -> None:
    """A row of the output, so many pixels at a time; the last ones may be computed twice."""
    width = 2 * block.width
    x = 0
    while x < width:
        x = min(x, width - pixels)
        convolve_pixels(
            tile_shape,
            block,
            net,
            work,
            corner + x * block.pixel,
            channel,
            out + x * block.filled,
        )
        x += pixels


@part
def forward_block(block: Records, net: Net, work: Workspace, sample: int) -> None:
    """Two rows of the convolution, then the row that the pool makes of them."""
    start = block.input + sample * block.input_size
    output = block.output + sample * block.output_size
    width = 2 * block.width
    line = width * block.filled
    for y in range(block.height):
        for half in range(2):
            corner = start + (2 * y + half) * block.row
            channel = 0
            while channel + 16 <= block.filled:
                out = half * line + channel
                if width >= 5:
                    convolve_line(shape(5, 2), 5, block, net, work, corner, channel, out)
                else:
                    convolve_line(shape(2, 2), 2, block, net, work, corner, channel, out)
                channel += 16
            if channel < block.filled:
                out = half * line + channel
                if width >= 14:
                    convolve_line(shape(14, 1), 14, block, net, work, corner, channel, out)
                else:
                    convolve_line(shape(2, 1), 2, block, net, work, corner, channel, out)
        pool_line(block, work, start + 2 * y * block.row, output + y * block.output_row)


@part
def pool_line(block: Records, work: Workspace, corner: int, output: int) -> None:
    filled, row, pixel = block.filled, block.row, block.pixel
    line = 2 * block.width * filled
    for x in range(block.width):
        for channel in range(0, filled, 8):
            pool(
                work.lines,
                2 * x * filled + channel,
                line,
                filled,
                work.places,
                corner + 2 * x * pixel,
                row,
                pixel,
                work.values,
                output + x * filled + channel,
            )


@part
def gather(
    images: Any, row: int, scale: Any, shift: Any, padding: int, values: Any, start: int
) -> None:
    """One sample into the workspace: image * scale + shift, inside its padding."""
    _, channels, height, width = images.shape
    line = (width + 2 * padding) * channels
    for channel in range(channels):
        factor, offset = scale[channel], shift[channel]
        for y in range(height):
            target = start + (y + padding) * line + padding * channels + channel
            for x in range(width):
                value = np.float32(images[row, channel, y, x]) * factor + offset
                put(values, target + x * channels, value)
