"""Two rows of a convolution with fewer products: rows of the input are mixed before they are used.

Down a column, two neighbouring outputs of a kernel with three rows are

    upper = d0 g0 + d1 g1 + d2 g2        lower = d1 g0 + d2 g1 + d3 g2

six products of inputs d and weights g. Four are enough, of mixed inputs and mixed weights, after
Winograd (Lavin and Gray, arXiv:1509.09308); with two rows three, after Karatsuba:

    sum      three rows                          two rows                 one row
    UPPER    (d0 - d2)  g0                       (d0 - d1)  g0            d0  g0
    BOTH     (d1 + d2) (g0 + g1 + g2) / 2         d1       (g0 + g1)
    SKEW     (d2 - d1) (g0 - g1 + g2) / 2
    LOWER    (d3 - d1)  g2                       (d2 - d1)  g1            d1  g0

    upper = UPPER + BOTH + SKEW          lower = LOWER + BOTH - SKEW

Any kernel is made of threes and a rest: five rows take seven products, not ten. Rows of the input
are mixed once for all columns of the kernel and all output channels, so that costs little. The only
factor is a half: equal rows still give equal outputs, and what was exact before remains exact.
"""

from __future__ import annotations

import numpy as np

from flexpress.learning.fast.compiled import part
from flexpress.learning.fast.layout import BOTH, LOWER, MIXTURE, SKEW, SUMS, UPPER, Records
from flexpress.learning.fast.memory import at, put
from flexpress.learning.fast.tiles import load, plus, shape, store
from flexpress.learning.fast.workspace import Workspace

BY_ROWS = {  # sum, row, other, sign, first, rows, flip
    3: [
        (UPPER, 0, 2, -1, 0, 1, 0),
        (BOTH, 1, 2, 1, 0, 3, 1),
        (SKEW, 2, 1, -1, 0, 3, -1),
        (LOWER, 3, 1, -1, 2, 1, 0),
    ],
    2: [(UPPER, 0, 1, -1, 0, 1, 0), (BOTH, 1, 1, 0, 0, 2, 1), (LOWER, 2, 1, -1, 1, 1, 0)],
    1: [(UPPER, 0, 0, 0, 0, 1, 0), (LOWER, 1, 1, 0, 0, 1, 0)],
}
"""The table above, as records of MIXTURE."""


def mixtures_of(kernel: int) -> Records:
    """Those of all its rows, in the order of the sums that they belong to."""
    pieces = []
    for first in range(0, kernel, 3):
        piece = np.array(BY_ROWS[min(3, kernel - first)], dtype=MIXTURE)
        for field in ("row", "other", "first"):
            piece[field] += first
        pieces.append(piece)
    mixtures = np.concatenate(pieces)
    return mixtures[np.argsort(mixtures["sum"], kind="stable")]


@part
def spread_weights(block: Records, work: Workspace) -> None:
    """The weights as the forward pass wants them: (taps, channels), behind what a sum begins with.

    That is the bias for the sum that goes into both outputs as it is, and 0 for the others.
    """
    taps, filled = block.row_taps, block.filled
    for channel in range(block.channels):
        source = block.weights + channel * block.kernel * block.patch_row
        target = block.spread + channel
        k = block.first_mixture
        for number in range(SUMS):
            if number == BOTH:
                put(work.spread, target, at(work.params, block.bias + channel))
            target += filled
            for _ in range(at(work.sums, block.first_sum + number)):
                mixture = work.mixtures[k]
                first = source + mixture.first * block.patch_row
                mix_weights(block, work, first, mixture.rows, np.float32(mixture.flip), target)
                target += taps * filled
                k += 1


@part
def mix_weights(
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
        put(work.spread, target + i * block.filled, weight)


@part
def mix_rows(block: Records, work: Workspace, corner: int) -> None:
    """Rows of the input, from this corner on."""
    for k in range(block.num_mixtures):
        mixture = work.mixtures[block.first_mixture + k]
        row, other = corner + mixture.row * block.row, corner + mixture.other * block.row
        sign, to = np.float32(mixture.sign), k * block.mixed_row
        for x in range(0, block.mixed_row, 16):
            tile = load(shape(1, 2), work.values, row + x, 0)
            tile = plus(tile, sign, work.values, other + x, 0)
            store(tile, work.mixed, to + x, 0)
