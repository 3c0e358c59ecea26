"""How a net lies in memory: where each layer finds its parameters and its samples' activations.

Images and activations are stored pixel by pixel with the channels inside, and padding around them.
After a convolution the channels of a pixel are padded with zeros to a multiple of 8, so that a
pixel is a whole number of vectors. Six channels a .. f, padded by one:

    row 0   0 0 0 0 0 0 0 0   0 0 0 0 0 0 0 0   0 0 0 0 0 0 0 0   ...
    row 1   0 0 0 0 0 0 0 0   a b c d e f 0 0   a b c d e f 0 0   ...
            <--- pixel ---->  <--- pixel ---->

What a kernel sees is then a run of neighbouring floats in each of some rows, and so are its
weights: `kernel` runs of `patch_row` floats for each output channel. An image keeps its channels as
they are, and only the runs of weights are padded. Three channels r, g, b, and a kernel of 5:

    row of the image     r g b r g b r g b r g b r g b|r      16 floats are read, 15 count
    weights of that row  r g b r g b r g b r g b r g b|0

Backward, a derivative goes through one window only, the one that won in the pool: windows and
weights are added to each other as such runs. Forward, eight output channels are computed at once,
from `packed` weights: transposed, (taps, channels), and transformed as winograd.py explains.

A linear layer has a row of weights for each output, as in torch, with its inputs in the order in
which they lie in memory. All parameters are in one array, all activations in another: there the
samples of one layer lie side by side, then those of the next layer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexpress.arrays import IntArray
from flexpress.learning.architecture import Architecture, Convolution
from flexpress.learning.fast.tables import (
    BLOCK,
    LARGEST_PLACE,
    LINEAR,
    SUMS,
    TRANSFORM,
    WIDEST_TILE,
    Layout,
    NetTables,
    Records,
    round_up,
)
from flexpress.learning.fast.winograd import transforms_of

_Record = dict[str, int]


@dataclass(frozen=True)
class _PixelGrid:
    """A layer's samples: pixels, each with all its channels, and padding around them."""

    start: int
    channels: int
    height: int  # with the padding
    width: int
    pixel: int
    padding: int

    @property
    def row(self) -> int:
        return self.width * self.pixel

    @property
    def transformed_row(self) -> int:
        """Transformed rows are written two vectors at a time."""
        return round_up(self.row, 16)

    @property
    def size(self) -> int:
        """Floats from one sample to the next."""
        return round_up(self.height * self.row)

    def order(self) -> IntArray:
        """Places in a sample of the values that torch flattens by channel, row, column."""
        z, y, x = np.indices((self.channels, self.height, self.width)).reshape(3, -1)
        return np.asarray(y * self.row + x * self.pixel + z)


def make_layout(architecture: Architecture, batch: int) -> Layout:
    """The layout for `batch` samples at once."""
    assert min(architecture.shapes()[-1]) >= 1
    return _LayoutBuilder(batch).layout(architecture)


class _LayoutBuilder:
    """Keeps count of what is used of each array."""

    def __init__(self, batch: int) -> None:
        self.batch = batch
        self.num_params = self.num_values = self.num_packed = 0
        self.transforms: list[Records] = []
        self.sums: list[IntArray] = []
        self.taps: list[IntArray] = []
        self.order: list[IntArray] = []

    def layout(self, architecture: Architecture) -> Layout:
        convolutions = architecture.convolutions
        paddings = [*(convolution.padding for convolution in convolutions), 0]
        channels, height, width = architecture.image
        grids = [self.grid(channels, height, width, channels, paddings[0])]
        blocks = []
        for convolution, padding in zip(convolutions, paddings[1:], strict=True):
            grids.append(self.pooled(grids[-1], convolution, padding))
            blocks.append(self.block(grids[-2], convolution, grids[-1]))
        start, size, inputs = grids[-1].start, grids[-1].size, grids[-1].order()
        linears = []
        for outputs in (*architecture.hidden, architecture.num_classes):
            linears.append(self.linear(start, size, inputs, outputs))
            start, size = linears[-1]["output"], linears[-1]["output_size"]
            inputs = np.arange(outputs)
        self.num_values += WIDEST_TILE * max(grid.pixel for grid in grids)
        assert max(self.num_params, self.num_values) <= LARGEST_PLACE
        net = NetTables(
            _as_records(blocks, BLOCK),
            _as_records(linears, LINEAR),
            np.concatenate([np.zeros(0, dtype=TRANSFORM), *self.transforms]),
            _as_table(self.sums),
            _as_table(self.taps),
            _as_table(self.order),
            paddings[0],
        )
        return Layout(net, self.batch, self.num_params, self.num_values, self.num_packed)

    def grid(self, channels: int, height: int, width: int, pixel: int, padding: int) -> _PixelGrid:
        height, width = height + 2 * padding, width + 2 * padding
        start = self.take_values(round_up(height * width * pixel))
        return _PixelGrid(start, channels, height, width, pixel, padding)

    def pooled(self, before: _PixelGrid, convolution: Convolution, padding: int) -> _PixelGrid:
        """The output of a block; the pool drops an odd row or column."""
        height = (before.height - convolution.kernel + 1) // 2
        width = (before.width - convolution.kernel + 1) // 2
        channels = convolution.channels
        return self.grid(channels, height, width, round_up(channels), padding)

    def block(self, before: _PixelGrid, convolution: Convolution, after: _PixelGrid) -> _Record:
        kernel, channels = convolution.kernel, convolution.channels
        patch_row = round_up(kernel * before.pixel)
        weights = self.take_params(channels * kernel * patch_row)
        bias = self.take_params(after.pixel)
        z, y, x = np.indices((before.channels, kernel, kernel))
        patch = (y * patch_row + x * before.pixel + z).ravel()
        patches = weights + np.arange(channels)[:, None] * kernel * patch_row + patch
        self.order += [patches.ravel(), bias + np.arange(channels)]
        transforms, row_taps = transforms_of(kernel), before.channels * kernel
        return {
            "input": before.start,
            "input_size": before.size,
            "row": before.row,
            "pixel": before.pixel,
            "kernel": kernel,
            "patch_row": patch_row,
            "first_tap": _append(self.taps, _all_taps(len(transforms), before, kernel)),
            "row_taps": row_taps,
            "first_sum": _append(self.sums, np.bincount(transforms["sum"], minlength=SUMS)),
            "first_transform": _append(self.transforms, transforms),
            "num_transforms": len(transforms),
            "transformed_row": before.transformed_row,
            "channels": channels,
            "filled": after.pixel,
            "weights": weights,
            "bias": bias,
            "packed": self.take_packed((SUMS + len(transforms) * row_taps) * after.pixel),
            "output": after.start + after.padding * (after.row + after.pixel),
            "output_size": after.size,
            "output_row": after.row,
            "height": after.height - 2 * after.padding,
            "width": after.width - 2 * after.padding,
        }

    def linear(self, start: int, size: int, inputs: IntArray, outputs: int) -> _Record:
        """`inputs` are the places of the layer's inputs within a sample."""
        weights = self.take_params(round_up(outputs, 4) * size)  # outputs are computed by four
        bias = self.take_params(round_up(outputs))
        rows = weights + np.arange(outputs)[:, None] * size + inputs
        self.order += [rows.ravel(), bias + np.arange(outputs)]
        return {
            "input": start,
            "input_size": size,
            "outputs": outputs,
            "weights": weights,
            "bias": bias,
            "output": self.take_values(round_up(outputs)),
            "output_size": round_up(outputs),
        }

    def take_packed(self, count: int) -> int:
        self.num_packed += count
        return self.num_packed - count

    def take_params(self, count: int) -> int:
        start = self.num_params
        self.num_params += round_up(count, 16)
        return start

    def take_values(self, size: int) -> int:
        """Linear layers compute samples in pairs, and vectors may read a little ahead."""
        start = self.num_values
        self.num_values += round_up(size * round_up(self.batch, 2), 16) + 16
        return start


def _all_taps(num_transforms: int, before: _PixelGrid, kernel: int) -> IntArray:
    """The taps of one channel, in one row, are neighbours in the table."""
    k, z, x = np.indices((num_transforms, before.channels, kernel)).reshape(3, -1)
    return np.asarray(k * before.transformed_row + x * before.pixel + z)


def _append(table: list[NDArray[Any]], part: NDArray[Any]) -> int:
    """Append the part to the table; where it begins."""
    start = sum(len(before) for before in table)
    table.append(part)
    return start


def _as_records(rows: list[_Record], kind: np.dtype[Any]) -> NDArray[Any]:
    return np.array([tuple(row[name] for name in kind.names or ()) for row in rows], dtype=kind)


def _as_table(parts: list[IntArray]) -> NDArray[np.int32]:
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts]).astype(np.int32)
