"""The memory of one thread: sized from the layout, and reused for every job."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flexpress.learning.fast.decorators import part
from flexpress.learning.fast.memory import pointer
from flexpress.learning.fast.tables import SUMS, WIDEST_TILE, Layout, round_up

CACHE_LINE = 64
"""Bytes: arrays are aligned to it, so that no vector crosses from one line to the next."""


class SparseRows(NamedTuple):
    """Rows of a matrix without their zeros: values (gains) and their places in memory (spots)."""

    gains: Any  # float32
    spots: Any  # int32
    counts: Any  # int64: entries of each row


class Workspace(NamedTuple):
    """Arrays; in compiled code, pointers to them.

    `values`, `slopes` and `places` have the same layout, that of the activations. A slope is the
    derivative of the loss by the value; a place is the window that won in the pool.
    """

    params: Any  # float32
    gradient: Any  # float32: of one convolution, its weights and then its biases
    packed: Any  # float32
    values: Any  # float32
    slopes: Any  # float32
    places: Any  # int32
    transformed: Any  # float32: transformed rows of a convolution's input
    lines: Any  # float32: the sums from which two rows of its output are computed
    by_sample: SparseRows
    by_output: SparseRows
    transforms: Any  # records, from the NetTables
    sums: Any  # int32, from the NetTables
    taps: Any  # int32, from the NetTables

    @classmethod
    def of(cls, layout: Layout) -> Workspace:
        blocks, outputs = layout.net.blocks, layout.net.linears["outputs"]
        gradients = blocks["channels"] * blocks["kernel"] * blocks["patch_row"] + blocks["filled"]
        transformed = (
            blocks["num_transforms"] * blocks["transformed_row"] + WIDEST_TILE * blocks["pixel"]
        )
        lines = (SUMS * 2 * blocks["width"] + WIDEST_TILE) * blocks["filled"]
        pooled = blocks["height"] * blocks["width"]
        listed = layout.batch * max([*pooled, *outputs])
        return cls(
            _aligned(layout.num_params, np.float32),
            _aligned(max([0, *gradients]), np.float32),
            _aligned(layout.num_packed, np.float32),
            _aligned(layout.num_values, np.float32),
            _aligned(layout.num_values, np.float32),
            _aligned(layout.num_values, np.int32),
            _aligned(max([0, *transformed]), np.float32),
            _aligned(max([0, *lines]), np.float32),
            _sparse_rows(listed, layout.batch),
            _sparse_rows(listed, max(outputs)),
            layout.net.transforms,
            layout.net.sums,
            layout.net.taps,
        )


def _sparse_rows(length: int, rows: int) -> SparseRows:
    """With room for one more: zeros are written too, and overwritten by the next entry."""
    length += 1
    return SparseRows(
        _aligned(length, np.float32), _aligned(length, np.int32), np.zeros(rows, dtype=np.int64)
    )


def _aligned(count: int, kind: Any) -> NDArray[Any]:
    """Zeros, aligned to a cache line."""
    item = np.dtype(kind).itemsize
    room = np.zeros(round_up(count, 16) + CACHE_LINE // item, dtype=kind)
    first = -room.ctypes.data % CACHE_LINE // item
    return room[first : first + round_up(count, 16)]


@part
def pointers(work: Workspace) -> Workspace:
    """Pointers to the arrays of a workspace."""
    return Workspace(
        pointer(work.params),
        pointer(work.gradient),
        pointer(work.packed),
        pointer(work.values),
        pointer(work.slopes),
        pointer(work.places),
        pointer(work.transformed),
        pointer(work.lines),
        _pointers_to_rows(work.by_sample),
        _pointers_to_rows(work.by_output),
        work.transforms,
        pointer(work.sums),
        pointer(work.taps),
    )


@part
def _pointers_to_rows(rows: SparseRows) -> SparseRows:
    return SparseRows(pointer(rows.gains), pointer(rows.spots), pointer(rows.counts))
