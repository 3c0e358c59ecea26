"""Lays a net out in memory, layer after layer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexpress.learning.architecture import Architecture, Convolution
from flexpress.learning.fast.layout import (
    BLOCK,
    LARGEST,
    LINEAR,
    MIXTURE,
    SUMS,
    WIDEST_TILE,
    Layout,
    Net,
    Records,
    filled_up,
)
from flexpress.learning.fast.winograd import mixtures_of

Record = dict[str, int]


@dataclass(frozen=True)
class Grid:
    """The samples of a layer: pixels with their channels inside and padding around them."""

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
    def mixed_row(self) -> int:
        """A row that is mixed with others is copied by two vectors at a time."""
        return filled_up(self.row, 16)

    @property
    def size(self) -> int:
        """Floats from one sample to the next."""
        return filled_up(self.height * self.row)

    def order(self) -> NDArray[np.int64]:
        """Where in a sample the values are that torch flattens by channel, row, column."""
        z, y, x = np.indices((self.channels, self.height, self.width)).reshape(3, -1)
        return np.asarray(y * self.row + x * self.pixel + z)


def draw_layout(architecture: Architecture, batch: int) -> Layout:
    """For so many samples at once."""
    assert min(architecture.shapes()[-1]) >= 1
    return Drawing(batch).layout(architecture)


class Drawing:
    """What has been given away so far of each array."""

    def __init__(self, batch: int) -> None:
        self.batch = batch
        self.num_params = self.num_values = self.num_spread = 0
        self.mixtures: list[Records] = []
        self.sums: list[NDArray[np.int64]] = []
        self.taps: list[NDArray[np.int64]] = []
        self.order: list[NDArray[np.int64]] = []

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
        assert max(self.num_params, self.num_values) <= LARGEST
        net = Net(
            as_records(blocks, BLOCK),
            as_records(linears, LINEAR),
            np.concatenate([np.zeros(0, dtype=MIXTURE), *self.mixtures]),
            as_table(self.sums),
            as_table(self.taps),
            as_table(self.order),
            paddings[0],
        )
        return Layout(net, self.batch, self.num_params, self.num_values, self.num_spread)

    def grid(self, channels: int, height: int, width: int, pixel: int, padding: int) -> Grid:
        height, width = height + 2 * padding, width + 2 * padding
        start = self.take_values(filled_up(height * width * pixel))
        return Grid(start, channels, height, width, pixel, padding)

    def pooled(self, before: Grid, convolution: Convolution, padding: int) -> Grid:
        """What comes out of a block; a last odd row or column is cut."""
        height = (before.height - convolution.kernel + 1) // 2
        width = (before.width - convolution.kernel + 1) // 2
        channels = convolution.channels
        return self.grid(channels, height, width, filled_up(channels), padding)

    def block(self, before: Grid, convolution: Convolution, after: Grid) -> Record:
        kernel, channels = convolution.kernel, convolution.channels
        patch_row = filled_up(kernel * before.pixel)
        weights = self.take_params(channels * kernel * patch_row)
        bias = self.take_params(after.pixel)
        z, y, x = np.indices((before.channels, kernel, kernel))
        patch = (y * patch_row + x * before.pixel + z).ravel()
        patches = weights + np.arange(channels)[:, None] * kernel * patch_row + patch
        self.order += [patches.ravel(), bias + np.arange(channels)]
        mixtures, row_taps = mixtures_of(kernel), before.channels * kernel
        return {
            "input": before.start,
            "input_size": before.size,
            "row": before.row,
            "pixel": before.pixel,
            "kernel": kernel,
            "patch_row": patch_row,
            "first_tap": take(self.taps, all_taps(len(mixtures), before, kernel)),
            "row_taps": row_taps,
            "first_sum": take(self.sums, np.bincount(mixtures["sum"], minlength=SUMS)),
            "first_mixture": take(self.mixtures, mixtures),
            "num_mixtures": len(mixtures),
            "mixed_row": before.mixed_row,
            "channels": channels,
            "filled": after.pixel,
            "weights": weights,
            "bias": bias,
            "spread": self.take_spread((SUMS + len(mixtures) * row_taps) * after.pixel),
            "output": after.start + after.padding * (after.row + after.pixel),
            "output_size": after.size,
            "output_row": after.row,
            "height": after.height - 2 * after.padding,
            "width": after.width - 2 * after.padding,
        }

    def linear(self, start: int, size: int, inputs: NDArray[np.int64], outputs: int) -> Record:
        """`inputs` are the places of the model's inputs within a sample."""
        weights = self.take_params(filled_up(outputs, 4) * size)  # outputs are taken by four
        bias = self.take_params(filled_up(outputs))
        rows = weights + np.arange(outputs)[:, None] * size + inputs
        self.order += [rows.ravel(), bias + np.arange(outputs)]
        return {
            "input": start,
            "input_size": size,
            "outputs": outputs,
            "weights": weights,
            "bias": bias,
            "output": self.take_values(filled_up(outputs)),
            "output_size": filled_up(outputs),
        }

    def take_spread(self, count: int) -> int:
        self.num_spread += count
        return self.num_spread - count

    def take_params(self, count: int) -> int:
        start = self.num_params
        self.num_params += filled_up(count, 16)
        return start

    def take_values(self, size: int) -> int:
        """Linear layers take samples in pairs, and vectors may look a bit ahead."""
        start = self.num_values
        self.num_values += filled_up(size * filled_up(self.batch, 2), 16) + 16
        return start


def all_taps(num_mixtures: int, before: Grid, kernel: int) -> NDArray[np.int64]:
    """Those of one channel, in one row, are neighbours in the table."""
    k, z, x = np.indices((num_mixtures, before.channels, kernel)).reshape(3, -1)
    return np.asarray(k * before.mixed_row + x * before.pixel + z)


def take(table: list[NDArray[Any]], part: NDArray[Any]) -> int:
    """Adds it to the table, and tells where it begins there."""
    start = sum(len(before) for before in table)
    table.append(part)
    return start


def as_records(rows: list[Record], kind: np.dtype[Any]) -> NDArray[Any]:
    return np.array([tuple(row[name] for name in kind.names or ()) for row in rows], dtype=kind)


def as_table(parts: list[NDArray[np.int64]]) -> NDArray[np.int32]:
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts]).astype(np.int32)
