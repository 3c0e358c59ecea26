"""The memory in which one thread computes: sized from the layout, and used again for every job."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flexpress.learning.fast.compiled import part
from flexpress.learning.fast.layout import SUMS, WIDEST_TILE, Layout, filled_up
from flexpress.learning.fast.memory import pointer

CACHE_LINE = 64
"""Bytes: arrays begin with one, so that vectors do not lie across two of them."""


class SparseRows(NamedTuple):
    """Rows of a matrix without their zeros: gains, and the spots in memory where they belong."""

    gains: Any  # float32
    spots: Any  # int32
    counts: Any  # int64: how many each row has


class Workspace(NamedTuple):
    """Arrays; in compiled code, pointers to them.

    `values`, `slopes` and `places` belong together: all are laid out like the activations. A slope
    is the derivative of the loss by the value; a place is the window that won in the pool.
    """

    params: Any  # float32
    gradient: Any  # float32: of one convolution, its weights and then its biases
    spread: Any  # float32
    values: Any  # float32
    slopes: Any  # float32
    places: Any  # int32
    mixed: Any  # float32: mixtures of rows of a convolution's input
    lines: Any  # float32: the sums that two rows of its output are made of
    by_sample: SparseRows
    by_output: SparseRows
    mixtures: Any  # records, from the Net
    sums: Any  # int32, from the Net
    taps: Any  # int32, from the Net

    @classmethod
    def of(cls, layout: Layout) -> Workspace:
        blocks, outputs = layout.net.blocks, layout.net.linears["outputs"]
        gradients = blocks["channels"] * blocks["kernel"] * blocks["patch_row"] + blocks["filled"]
        mixed = blocks["num_mixtures"] * blocks["mixed_row"] + WIDEST_TILE * blocks["pixel"]
        lines = (SUMS * 2 * blocks["width"] + WIDEST_TILE) * blocks["filled"]
        pooled = blocks["height"] * blocks["width"]
        listed = layout.batch * max([*pooled, *outputs])
        return cls(
            aligned(layout.num_params, np.float32),
            aligned(max([0, *gradients]), np.float32),
            aligned(layout.num_spread, np.float32),
            aligned(layout.num_values, np.float32),
            aligned(layout.num_values, np.float32),
            aligned(layout.num_values, np.int32),
            aligned(max([0, *mixed]), np.float32),
            aligned(max([0, *lines]), np.float32),
            sparse_rows(listed, layout.batch),
            sparse_rows(listed, max(outputs)),
            layout.net.mixtures,
            layout.net.sums,
            layout.net.taps,
        )


def sparse_rows(length: int, rows: int) -> SparseRows:
    """With room for one more: a zero is written as well, and then overwritten by the next."""
    length += 1
    return SparseRows(
        aligned(length, np.float32), aligned(length, np.int32), np.zeros(rows, dtype=np.int64)
    )


def aligned(count: int, kind: Any) -> NDArray[Any]:
    """Zeros, from the begin of a cache line on."""
    item = np.dtype(kind).itemsize
    room = np.zeros(filled_up(count, 16) + CACHE_LINE // item, dtype=kind)
    first = -room.ctypes.data % CACHE_LINE // item
    return room[first : first + filled_up(count, 16)]


@part
def pointers(work: Workspace) -> Workspace:
    """To the arrays of a workspace."""
    return Workspace(
        pointer(work.params),
        pointer(work.gradient),
        pointer(work.spread),
        pointer(work.values),
        pointer(work.slopes),
        pointer(work.places),
        pointer(work.mixed),
        pointer(work.lines),
        pointers_to_rows(work.by_sample),
        pointers_to_rows(work.by_output),
        work.mixtures,
        pointer(work.sums),
        pointer(work.taps),
    )


@part
def pointers_to_rows(rows: SparseRows) -> SparseRows:
    return SparseRows(pointer(rows.gains), pointer(rows.spots), pointer(rows.counts))
