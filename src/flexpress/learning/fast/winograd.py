"""Two rows of a convolution with fewer products: Winograd's transforms of input and weights.

Down a column, two neighbouring outputs of a kernel with three rows are

    upper = d0 g0 + d1 g1 + d2 g2        lower = d1 g0 + d2 g1 + d3 g2

six products of inputs d and weights g. Four are enough, of transformed inputs and weights, after
Winograd (Lavin and Gray, arXiv:1509.09308); with two rows three, after Karatsuba:

    sum      three rows                          two rows                 one row
    UPPER    (d0 - d2)  g0                       (d0 - d1)  g0            d0  g0
    BOTH     (d1 + d2) (g0 + g1 + g2) / 2         d1       (g0 + g1)
    SKEW     (d2 - d1) (g0 - g1 + g2) / 2
    LOWER    (d3 - d1)  g2                       (d2 - d1)  g1            d1  g0

    upper = UPPER + BOTH + SKEW          lower = LOWER + BOTH - SKEW

Any kernel is made of threes and a rest: five rows take seven products, not ten. Rows of the input
are transformed once for all columns of the kernel and all output channels: that costs little. The
only factor is a half: equal rows still give equal outputs, and what was exact remains exact.
"""

from __future__ import annotations

import numpy as np

from flexpress.learning.fast.decorators import part
from flexpress.learning.fast.memory import at, put
from flexpress.learning.fast.tables import BOTH, LOWER, SKEW, SUMS, TRANSFORM, UPPER, Records
from flexpress.learning.fast.tiles import load, plus, shape, store
from flexpress.learning.fast.workspace import Workspace

_BY_ROWS = {  # sum, row, other, sign, first, rows, flip
    3: [
        (UPPER, 0, 2, -1, 0, 1, 0),
        (BOTH, 1, 2, 1, 0, 3, 1),
        (SKEW, 2, 1, -1, 0, 3, -1),
        (LOWER, 3, 1, -1, 2, 1, 0),
    ],
    2: [(UPPER, 0, 1, -1, 0, 1, 0), (BOTH, 1, 1, 0, 0, 2, 1), (LOWER, 2, 1, -1, 1, 1, 0)],
    1: [(UPPER, 0, 0, 0, 0, 1, 0), (LOWER, 1, 1, 0, 0, 1, 0)],
}
"""The table above, as records of TRANSFORM."""


def transforms_of(kernel: int) -> Records:
    """The transforms of all rows of a kernel, ordered by the sum that they belong to."""
    pieces = []
    for first in range(0, kernel, 3):
        piece = np.array(_BY_ROWS[min(3, kernel - first)], dtype=TRANSFORM)
        for field in ("row", "other", "first"):
            piece[field] += first
        pieces.append(piece)
    transforms = np.concatenate(pieces)
    return transforms[np.argsort(transforms["sum"], kind="stable")]


@part
def pack_weights(block: Records, work: Workspace) -> None:
    """The weights as the forward pass reads them: (taps, channels), after the sum's initial value.

    That is the bias for the sum that both outputs contain, and 0 for the others.
    """
    taps, filled = block.row_taps, block.filled
    for channel in range(block.channels):
        source = block.weights + channel * block.kernel * block.patch_row
        target = block.packed + channel
        k = block.first_transform
        for number in range(SUMS):
            if number == BOTH:
                put(work.packed, target, at(work.params, block.bias + channel))
            target += filled
            for _ in range(at(work.sums, block.first_sum + number)):
                transform = work.transforms[k]
                first = source + transform.first * block.patch_row
                _transform_weights(
                    block, work, first, transform.rows, np.float32(transform.flip), target
                )
                target += taps * filled
                k += 1


@part
def _transform_weights(
    block: Records, work: Workspace, first: int, rows: int, flip: np.float32, target: int
) -> None:
    """One, two or three rows of a kernel, for one output channel."""
    half, patch_row = np.float32(0.5), block.patch_row
    for i in range(block.row_taps):
        place = first + at(work.taps, block.first_tap + i)
        weight = at(work.params, place)
        if rows >= 2:
            weight += flip * at(work.params, place + patch_row)
        if rows == 3:
            weight = half * (weight + at(work.params, place + 2 * patch_row))
        put(work.packed, target + i * block.filled, weight)


@part
def transform_rows(block: Records, work: Workspace, corner: int) -> None:
    """Transform the rows of the input that begin at this corner."""
    for k in range(block.num_transforms):
        transform = work.transforms[block.first_transform + k]
        row, other = corner + transform.row * block.row, corner + transform.other * block.row
        sign, to = np.float32(transform.sign), k * block.transformed_row
        for x in range(0, block.transformed_row, 16):
            tile = load(shape(1, 2), work.values, row + x, 0)
            tile = plus(tile, sign, work.values, other + x, 0)
            store(tile, work.transformed, to + x, 0)
