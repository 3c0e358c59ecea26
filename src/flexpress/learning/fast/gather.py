"""Samples, and how they come into the workspace.

The product and the sum are rounded one after the other, as elsewhere: of two pixels that differ by
rounding only, another one might win in the pool, and training would take another course.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flexpress.learning.fast.compiled import exact, part
from flexpress.learning.fast.memory import at, fetch, float_pointer, pointer, put
from flexpress.learning.fast.workspace import CACHE_LINE


class Samples(NamedTuple):
    """Images of all clients, where they lie, and how a net sees them."""

    memory: NDArray[np.uint8]  # of (samples, channels, height, width)
    floats: bool  # whether these are float32, or else bytes
    channels: int
    height: int
    width: int
    labels: NDArray[np.int32]
    scale: NDArray[np.float32]  # (channels,)
    shift: NDArray[np.float32]


@part
def gather(samples: Samples, row: int, padding: int, values: Any, start: int) -> None:
    """One image into its padding, channels inside: image * scale + shift."""
    if samples.floats:
        gather_rows(samples, float_pointer(samples.memory), row, padding, values, start)
    else:
        gather_rows(samples, pointer(samples.memory), row, padding, values, start)


@part
def fetch_image(samples: Samples, row: int) -> None:
    """It will be gathered next: samples are drawn from all over the memory."""
    size = samples.channels * samples.height * samples.width * (4 if samples.floats else 1)
    for place in range(row * size, (row + 1) * size, CACHE_LINE):
        fetch(pointer(samples.memory), place)


@exact
def gather_rows(
    samples: Samples, pixels: Any, row: int, padding: int, values: Any, start: int
) -> None:
    """Row by row; without padding the image is one long row."""
    channels, size = samples.channels, samples.height * samples.width
    height, width = samples.height, samples.width
    if padding == 0:
        height, width = 1, size
    line = (width + 2 * padding) * channels
    for y in range(height):
        source = row * channels * size + y * width
        target = start + (y + padding) * line + padding * channels
        if channels == 3:
            gather_colours(samples, pixels, source, width, values, target)
        else:
            for channel in range(channels):
                scale, shift = samples.scale[channel], samples.shift[channel]
                for x in range(width):
                    value = np.float32(at(pixels, source + x)) * scale + shift
                    put(values, target + x * channels + channel, value)
                source += size


@exact
def gather_colours(
    samples: Samples, pixels: Any, red: int, width: int, values: Any, target: int
) -> None:
    """A row with its three channels at once: LLVM makes it vectors, which saves two thirds."""
    green, blue = red + samples.height * samples.width, red + 2 * samples.height * samples.width
    scale_0, scale_1, scale_2 = samples.scale[0], samples.scale[1], samples.scale[2]
    shift_0, shift_1, shift_2 = samples.shift[0], samples.shift[1], samples.shift[2]
    for x in range(width):
        put(values, target + 3 * x, np.float32(at(pixels, red + x)) * scale_0 + shift_0)
        put(values, target + 3 * x + 1, np.float32(at(pixels, green + x)) * scale_1 + shift_1)
        put(values, target + 3 * x + 2, np.float32(at(pixels, blue + x)) * scale_2 + shift_2)
