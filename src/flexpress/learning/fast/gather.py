"""Samples, and their normalised copy in the workspace.

The product and the sum are rounded one after the other, as in torch: otherwise, of two pixels that
differ only by rounding, another one might win in the pool, and training would take another course.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flexpress.learning.fast.decorators import exact, part
from flexpress.learning.fast.memory import at, fetch, float_pointer, pointer, put
from flexpress.learning.fast.workspace import CACHE_LINE


class SampleArrays(NamedTuple):
    """Images of all clients with their labels, and how they are normalised."""

    memory: NDArray[np.uint8]  # of (samples, channels, height, width)
    floats: bool  # whether these are float32; else bytes
    channels: int
    height: int
    width: int
    labels: NDArray[np.int32]
    scale: NDArray[np.float32]  # (channels,)
    shift: NDArray[np.float32]


@part
def gather(samples: SampleArrays, row: int, padding: int, values: Any, start: int) -> None:
    """Copy one image, with padding and channels inside: image * scale + shift."""
    if samples.floats:
        _gather_rows(samples, float_pointer(samples.memory), row, padding, values, start)
    else:
        _gather_rows(samples, pointer(samples.memory), row, padding, values, start)


@part
def fetch_image(samples: SampleArrays, row: int) -> None:
    """Prefetch the image that is gathered next: samples lie all over the memory."""
    size = samples.channels * samples.height * samples.width * (4 if samples.floats else 1)
    for place in range(row * size, (row + 1) * size, CACHE_LINE):
        fetch(pointer(samples.memory), place)


@exact
def _gather_rows(
    samples: SampleArrays, pixels: Any, row: int, padding: int, values: Any, start: int
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
            _gather_colours(samples, pixels, source, width, values, target)
        else:
            for channel in range(channels):
                scale, shift = samples.scale[channel], samples.shift[channel]
                for x in range(width):
                    value = np.float32(at(pixels, source + x)) * scale + shift
                    put(values, target + x * channels + channel, value)
                source += size


@exact
def _gather_colours(
    samples: SampleArrays, pixels: Any, red: int, width: int, values: Any, target: int
) -> None:
    """A row with its three channels at once: LLVM vectorises it, which saves two thirds."""
    green, blue = red + samples.height * samples.width, red + 2 * samples.height * samples.width
    scale_0, scale_1, scale_2 = samples.scale[0], samples.scale[1], samples.scale[2]
    shift_0, shift_1, shift_2 = samples.shift[0], samples.shift[1], samples.shift[2]
    for x in range(width):
        put(values, target + 3 * x, np.float32(at(pixels, red + x)) * scale_0 + shift_0)
        put(values, target + 3 * x + 1, np.float32(at(pixels, green + x)) * scale_1 + shift_1)
        put(values, target + 3 * x + 2, np.float32(at(pixels, blue + x)) * scale_2 + shift_2)
