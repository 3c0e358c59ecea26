"""How a net lies in memory: where each layer finds its parameters and its samples' activations.

Images and activations are stored pixel by pixel with the channels inside, and padding around them.
Behind a convolution the channels of a pixel are filled up with zeros to a multiple of 8, so that a
pixel is a whole number of vectors. Six channels, padded by one:

    0 0 0 0 0 0 0 0   0 0 0 0 0 0 0 0   0 0 0 0 0 0 0 0   ...   row 0: padding
    0 0 0 0 0 0 0 0   a b c d e f 0 0   a b c d e f 0 0   ...   row 1
    <--- pixel ---->  <--- pixel ---->

The window that a kernel looks at is then a few runs of neighbouring floats, one for each of its
rows, and so are the kernel's weights: `patch` floats for an output channel, in `kernel` runs of
`patch_row`. The image keeps its own channels without filling: its rows are filled up at the end.

    window in a row of the image (3 channels, kernel 5):   rgb rgb rgb rgb rgb|x    16 floats
    weights of a row of the kernel:                        rgb rgb rgb rgb rgb|0    16 floats

Backward, a gradient goes through one window only, the one that won in the pool, so that weights
and inputs are added to each other as such runs. Forward, eight output channels are computed at
once, and want the same weights turned: `spread`, (taps, channels).

A linear layer has a row of weights for each output, like torch, filled up to a multiple of 8.
All parameters lie in one array, all activations in another: the samples of one layer side by side.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flexpress.learning.architecture import Architecture, Convolution

BLOCK = np.dtype(
    [
        ("input", "i8"),  # of the first sample, with its padding
        ("input_size", "i8"),  # floats from one sample to the next
        ("row", "i8"),  # floats from one row of the input to the next
        ("pixel", "i8"),  # floats from one pixel to the next
        ("depth", "i8"),  # input channels
        ("kernel", "i8"),
        ("patch_row", "i8"),
        ("taps", "i8"),  # weights of an output channel
        ("first_tap", "i8"),  # in the table of taps
        ("channels", "i8"),  # output channels
        ("filled", "i8"),  # the same, filled up: floats from one output pixel to the next
        ("weights", "i8"),
        ("bias", "i8"),
        ("spread", "i8"),  # the turned weights
        ("output", "i8"),  # of the first sample, its first pixel inside the padding
        ("output_size", "i8"),
        ("output_row", "i8"),
        ("height", "i8"),  # pixels behind the pool
        ("width", "i8"),
    ],
    align=True,
)
LINEAR = np.dtype(
    [
        ("input", "i8"),
        ("input_size", "i8"),  # floats from one sample to the next, and from row to row of weights
        ("outputs", "i8"),
        ("weights", "i8"),
        ("bias", "i8"),
        ("output", "i8"),
        ("output_size", "i8"),
    ],
    align=True,
)
Records = Any
"""A structured array, or one of its records. NumPy's types do not know its fields."""

WIDEST_TILE = 10
"""Pixels that a tile of a convolution has: so far it may look and write beyond a row's end."""

LARGEST = 2**31 - 1
"""Places in memory are kept in 32 bits."""


def filled_up(count: int, to: int = 8) -> int:
    """The next multiple."""
    return -(-count // to) * to


class Net(NamedTuple):
    """The tables that the compiled code reads."""

    blocks: Records  # (convolutions,) of BLOCK
    linears: Records  # (linear layers,) of LINEAR
    window_taps: NDArray[np.int32]  # (all taps,): from the corner of a window to each of its taps
    patch_taps: NDArray[np.int32]  # (all taps,): from the begin of a patch to each of its weights
    order: NDArray[np.int32]  # (params,): where our array has each of the model's parameters
    padding: int  # of the image


@dataclass(frozen=True, eq=False)
class Layout:
    """The tables, and how much memory is needed for so many samples at once."""

    net: Net
    batch: int
    num_params: int  # floats of our array
    num_values: int
    num_spread: int

    @classmethod
    def of(cls, architecture: Architecture, batch: int) -> Layout:
        """For so many samples at once."""
        return Drawing(architecture, batch).layout()


class Drawing:
    """Lays layer after layer."""

    def __init__(self, architecture: Architecture, batch: int) -> None:
        self.architecture = architecture
        self.batch = batch
        self.slots = filled_up(batch, 2)  # linear layers take samples in pairs
        self.num_params = self.num_values = self.num_spread = 0
        self.taps: list[NDArray[np.int64]] = [np.zeros((0, 2), dtype=np.int64)]
        self.order: list[NDArray[np.int64]] = []

    def layout(self) -> Layout:
        padding = [*(block.padding for block in self.architecture.convolutions), 0]
        channels, height, width = self.architecture.image
        pixel, height, width = channels, height + 2 * padding[0], width + 2 * padding[0]
        size = filled_up(height * width * pixel)
        start = self.take_values(size)
        blocks = []
        for convolution, after in zip(self.architecture.convolutions, padding[1:], strict=True):
            block = self.block(convolution, (channels, height, width), pixel, start, size, after)
            blocks.append(tuple(block[name] for name in BLOCK.names or ()))
            channels, height, width = convolution.channels, block["height"], block["width"]
            height, width, pixel = height + 2 * after, width + 2 * after, block["filled"]
            size, start = block["output_size"], block["first_output"]
        places = np.arange(height * width * pixel).reshape(height, width, pixel)
        inputs = places[:, :, :channels].transpose(2, 0, 1).ravel()
        linears = []
        for outputs in (*self.architecture.hidden, self.architecture.num_classes):
            linear = self.linear(inputs, start, size, outputs)
            linears.append(tuple(linear[name] for name in LINEAR.names or ()))
            start, size, inputs = linear["output"], linear["output_size"], np.arange(outputs)
        self.num_values += WIDEST_TILE * max([0, *(block[BLOCK.names.index("pixel")] for block in blocks)])
        assert max(self.num_params, self.num_values) <= LARGEST
        window_taps, patch_taps = np.concatenate(self.taps).astype(np.int32).T.copy()
        net = Net(
            np.array(blocks, dtype=BLOCK),
            np.array(linears, dtype=LINEAR),
            window_taps,
            patch_taps,
            np.concatenate(self.order).astype(np.int32),
            padding[0],
        )
        return Layout(
            net,
            self.batch,
            self.num_params,
            self.num_values,
            self.num_spread,
        )

    def block(
        self,
        convolution: Convolution,
        shape: tuple[int, int, int],
        pixel: int,
        start: int,
        size: int,
        padding_after: int,
    ) -> dict[str, int]:
        channels, height, width = shape
        kernel, outputs = convolution.kernel, convolution.channels
        patch_row = filled_up(kernel * pixel)
        filled = filled_up(outputs)
        pooled_height, pooled_width = (height - kernel + 1) // 2, (width - kernel + 1) // 2
        output_row = (pooled_width + 2 * padding_after) * filled
        output_size = (pooled_height + 2 * padding_after) * output_row
        weights = self.take_params(outputs * kernel * patch_row)
        bias = self.take_params(filled)
        inside = padding_after * (output_row + filled)
        first_output = self.take_values(output_size)
        z, y, x = np.indices((channels, kernel, kernel))
        patches = (y * patch_row + x * pixel + z).ravel()
        self.order += [
            (weights + np.arange(outputs)[:, None] * kernel * patch_row + patches).ravel(),
            bias + np.arange(outputs),
        ]
        spread = self.num_spread
        self.num_spread += kernel * kernel * channels * filled
        return {
            "input": start,
            "input_size": size,
            "row": width * pixel,
            "pixel": pixel,
            "depth": channels,
            "kernel": kernel,
            "patch_row": patch_row,
            "taps": patches.size,
            "first_tap": self.add_taps(kernel, channels, pixel, width * pixel, patch_row),
            "channels": outputs,
            "filled": filled,
            "weights": weights,
            "bias": bias,
            "spread": spread,
            "output": first_output + inside,
            "first_output": first_output,
            "output_size": output_size,
            "output_row": output_row,
            "height": pooled_height,
            "width": pooled_width,
        }

    def add_taps(self, kernel: int, channels: int, pixel: int, row: int, patch_row: int) -> int:
        """The taps of a kernel (row, channel, column), and the number of the first."""
        first = sum(len(taps) for taps in self.taps)
        y, z, x = np.indices((kernel, channels, kernel)).reshape(3, -1)
        inside = x * pixel + z
        self.taps.append(np.stack([y * row + inside, y * patch_row + inside], axis=1))
        return first

    def linear(
        self, inputs: NDArray[np.int64], start: int, size: int, outputs: int
    ) -> dict[str, int]:
        """`inputs` are the places of the model's inputs within a sample."""
        weights = self.take_params(filled_up(outputs, 4) * size)  # outputs are taken by four
        bias = self.take_params(filled_up(outputs))
        self.order += [
            (weights + np.arange(outputs)[:, None] * size + inputs).ravel(),
            bias + np.arange(outputs),
        ]
        return {
            "input": start,
            "input_size": size,
            "outputs": outputs,
            "weights": weights,
            "bias": bias,
            "output": self.take_values(filled_up(outputs)),
            "output_size": filled_up(outputs),
        }

    def take_params(self, count: int) -> int:
        start = self.num_params
        self.num_params += filled_up(count, 16)
        return start

    def take_values(self, size: int) -> int:
        start = self.num_values
        self.num_values += filled_up(size * self.slots, 16) + 16  # vectors may look a bit ahead
        return start
