"""Gradients as lists without their zeros, and what is summed along such lists.

Behind ReLU and pool most derivatives are exactly 0: three of four by the pool, about half of the
others by ReLU. They are left out, which changes nothing in the sums.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from flexpress.learning.fast.compiled import part
from flexpress.learning.fast.memory import at
from flexpress.learning.fast.tiles import plus, zeros
from flexpress.learning.fast.workspace import SparseRows


@part
def weighted_sum(
    tile_shape: Any, rows: SparseRows, first: int, count: int, array: Any, start: int, stride: int
) -> Any:
    """Sum of gain x the tile at its spot, along a list: a tile."""
    total = zeros(tile_shape)
    for i in range(first, first + count):
        spot = start + at(rows.spots, i)
        total = plus(total, at(rows.gains, i), array, spot, stride)
    return total


@part
def sum_of_gains(rows: SparseRows, first: int, count: int) -> Any:
    total = np.float32(0)
    for i in range(first, first + count):
        total += at(rows.gains, i)
    return total
