"""Samples, and how they come into the workspace."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flexpress.learning.fast.compiled import part
from flexpress.learning.fast.memory import put


class Samples(NamedTuple):
    """Images of all clients, where they lie, and how a net sees them."""

    images: NDArray[Any]  # (samples, channels, height, width), uint8 or float32
    labels: NDArray[np.int32]
    scale: NDArray[np.float32]  # (channels,)
    shift: NDArray[np.float32]


@part
def gather(samples: Samples, row: int, padding: int, values: Any, start: int) -> None:
    """One sample: image * scale + shift, inside its padding."""
    images = samples.images
    _, channels, height, width = images.shape
    line = (width + 2 * padding) * channels
    for channel in range(channels):
        factor, offset = samples.scale[channel], samples.shift[channel]
        for y in range(height):
            target = start + (y + padding) * line + padding * channels + channel
            for x in range(width):
                value = np.float32(images[row, channel, y, x]) * factor + offset
                put(values, target + x * channels, value)
