"""How a net lies in memory: where each layer finds its parameters and its samples' activations.

Images and activations are stored pixel by pixel with the channels inside, and padding around them.
Behind a convolution the channels of a pixel are filled up with zeros to a multiple of 8, so that a
pixel is a whole number of vectors. Six channels a .. f, padded by one:

    row 0   0 0 0 0 0 0 0 0   0 0 0 0 0 0 0 0   0 0 0 0 0 0 0 0   ...
    row 1   0 0 0 0 0 0 0 0   a b c d e f 0 0   a b c d e f 0 0   ...
            <--- pixel ---->  <--- pixel ---->

What a kernel sees is then a run of neighbouring floats in each of some rows, and so are its
weights: `kernel` runs of `patch_row` floats for each output channel. An image keeps its channels as
they are, and only the runs of weights are filled up. Three channels r, g, b, and a kernel of 5:

    row of the image     r g b r g b r g b r g b r g b|r      16 floats are read, 15 count
    weights of that row  r g b r g b r g b r g b r g b|0

Backward, a derivative goes through one window only, the one that won in the pool: windows and
weights are added to each other as such runs. Forward, eight output channels are computed at once,
which want the same weights turned, (taps, channels), and mixed as mixing.py tells: `spread`.

A linear layer has a row of weights for each output, as in torch, with its inputs in the order in
which they lie in memory. All parameters are in one array, all activations in another: there the
samples of one layer lie side by side, then those of the next layer.
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
        ("first_mixture", "i8"),  # in the table of mixtures
        ("num_mixtures", "i8"),
        ("mixed_row", "i8"),  # floats from one mixed row of the input to the next
        ("channels", "i8"),  # output channels
        ("filled", "i8"),  # floats from one pixel of the output to the next
        ("weights", "i8"),
        ("bias", "i8"),
        ("spread", "i8"),
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
MIXTURE = np.dtype(
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
"""Of products of mixed rows and mixed weights: two rows of a convolution are made of them."""

Records = Any
"""A structured array, or one of its records. NumPy's types do not know its fields."""

WIDEST_TILE = 10
"""Pixels of a tile: so far a convolution may read and write beyond the end of a row."""

LARGEST = 2**31 - 1
"""Places in memory are kept in 32 bits."""


class Net(NamedTuple):
    """The tables that the compiled code reads."""

    blocks: Records  # (convolutions,) of BLOCK
    linears: Records  # (linear layers,) of LINEAR
    mixtures: Records  # (all mixtures,) of MIXTURE
    sums: NDArray[np.int32]  # (convolutions x SUMS,): how many mixtures each has
    taps: NDArray[np.int32]  # (mixtures x row taps,): from a window's corner in the mixed rows; so
    # the first `row_taps` of a block are those of any row, of a window or of weights
    order: NDArray[np.int32]  # (params,): where our array has each of the model's parameters
    padding: int  # of the image


@dataclass(frozen=True, eq=False)
class Layout:
    """The tables, and how much memory is needed for so many samples at once."""

    net: Net
    batch: int
    num_params: int  # floats in our array, with what is filled up
    num_values: int
    num_spread: int


def filled_up(count: int, to: int = 8) -> int:
    """The next multiple."""
    return -(-count // to) * to
