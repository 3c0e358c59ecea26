"""The tables that the compiled code reads: where each layer finds its parameters and activations.

layout.py makes them, and explains how a net lies in memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

BLOCK = np.dtype(
    [
        ("input", "i8"),  # where the first sample's input begins, with its padding
        ("input_size", "i8"),  # floats from one sample to the next
        ("row", "i8"),  # floats from one row of the input to the next
        ("pixel", "i8"),  # floats from one pixel to the next
        ("kernel", "i8"),
        ("patch_row", "i8"),  # floats of a row of the kernel, in all its channels
        ("first_tap", "i8"),  # in the table of taps
        ("row_taps", "i8"),  # weights of a row of the kernel, for one output channel
        ("first_sum", "i8"),  # in the table of sums
        ("first_transform", "i8"),  # in the table of transforms
        ("num_transforms", "i8"),
        ("transformed_row", "i8"),  # floats from one transformed row to the next
        ("channels", "i8"),  # output channels
        ("filled", "i8"),  # floats from one pixel of the output to the next
        ("weights", "i8"),
        ("bias", "i8"),
        ("packed", "i8"),
        ("output", "i8"),  # the first sample's first pixel inside the padding
        ("output_size", "i8"),
        ("output_row", "i8"),
        ("height", "i8"),  # of the output, in pixels, without padding
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
TRANSFORM = np.dtype(
    [
        ("sum", "i8"),
        ("row", "i8"),  # of the input
        ("other", "i8"),  # that is added to it
        ("sign", "i8"),  # or subtracted, or neither
        ("first", "i8"),  # row of the kernel
        ("rows", "i8"),  # of the kernel; if three, half their sum
        ("flip", "i8"),  # the sign of the second
    ],
    align=True,
)
UPPER, BOTH, SKEW, LOWER = range(4)
SUMS = 4
"""Sums of products, from which two rows of a convolution are computed; see winograd.py."""

Records = Any
"""A structured array, or one of its records. NumPy's types do not know its fields."""

WIDEST_TILE = 10
"""Pixels of a tile: how far a convolution may read and write beyond the end of a row."""

LARGEST_PLACE = 2**31 - 1
"""Places in memory are 32-bit numbers."""


class NetTables(NamedTuple):
    """All tables of a net."""

    blocks: Records  # (convolutions,) of BLOCK
    linears: Records  # (linear layers,) of LINEAR
    transforms: Records  # (all transforms,) of TRANSFORM
    sums: NDArray[np.int32]  # (convolutions x SUMS,): how many transforms each has
    taps: NDArray[np.int32]  # (transforms x row taps,): from a window's corner in its transformed
    # rows; the first `row_taps` of a block hold for any row, of a window or of weights
    order: NDArray[np.int32]  # (params,): where our array has each of the model's parameters
    padding: int  # of the image


@dataclass(frozen=True, eq=False)
class Layout:
    """The tables, and the memory needed for `batch` samples at once."""

    net: NetTables
    batch: int
    num_params: int  # floats in our array, with padding
    num_values: int
    num_packed: int


def round_up(count: int, to: int = 8) -> int:
    """The next multiple of `to`."""
    return -(-count // to) * to
