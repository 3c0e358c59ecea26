"""Sums of products in register tiles: what convolutions and linear layers are made of.

Backward they go along lists of gradients without their zeros. Behind ReLU and pool most derivatives
are exactly 0: three of four because of the pool, about half of the others because of ReLU. Omitting
them changes nothing in the sums.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from flexpress.learning.fast.decorators import Generator, intrinsic, part
from flexpress.learning.fast.memory import at
from flexpress.learning.fast.tiles import LANES, SHORT, VectorBuilder, plus, zeros
from flexpress.learning.fast.workspace import SparseRows


@intrinsic
def plus_outer(
    typing: Any, tile: Any, memory: Any, start: Any, stride: Any, weights: Any, first: Any
) -> tuple[Any, Generator]:
    """tile[r, c] + memory[start + r stride] weights[first + 8 c : + 8]: one number for each row."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        emit = VectorBuilder(builder)
        vectors, memory, start, stride, weights, first = arguments
        columns = [
            emit.load(weights, emit.cell(first, None, 0, column)) for column in range(tile.columns)
        ]
        for number, row, column in tile.cells():
            if column == 0:
                factor = emit.broadcast_from(memory, emit.cell(start, stride, row, 0))
            before = builder.extract_value(vectors, number)
            total = emit.multiply_add(factor, columns[column], before)
            vectors = builder.insert_value(vectors, total, number)
        return vectors

    return tile(tile, memory, types.intp, types.intp, weights, types.intp), generate


@intrinsic
def plus_slid(
    typing: Any,
    tile: Any,
    taps: Any,
    memory: Any,
    start: Any,
    pixel: Any,
    weights: Any,
    first: Any,
    stride: Any,
) -> tuple[Any, Generator]:
    """tile[r, 0] + the sum over t of memory[start + (r + t) pixel] weights[first + t stride : + 8].

    As many taps as `taps` has rows slide along the pixels: each pixel is read once for all of them.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        emit = VectorBuilder(builder)
        vectors, _, memory, start, pixel, weights, first, stride = arguments
        kernel = [emit.load(weights, emit.cell(first, stride, tap, 0)) for tap in range(taps.rows)]
        place = start
        for number in range(tile.rows + taps.rows - 1):
            factor = emit.broadcast_from(memory, place)
            place = emit.ahead(place, pixel, 1)
            for tap in range(taps.rows):
                if 0 <= number - tap < tile.rows:
                    before = builder.extract_value(vectors, number - tap)
                    total = emit.multiply_add(factor, kernel[tap], before)
                    vectors = builder.insert_value(vectors, total, number - tap)
        return vectors

    i = types.intp
    return tile(tile, taps, memory, i, i, weights, i, i), generate


@intrinsic
def plus_products(
    typing: Any,
    tile: Any,
    left: Any,
    left_start: Any,
    left_stride: Any,
    right: Any,
    right_start: Any,
    right_stride: Any,
) -> tuple[Any, Generator]:
    """tile[r, c] + left[start + r stride : + 8] right[start + c stride : + 8], lane by lane."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        emit = VectorBuilder(builder)
        vectors, left, start_l, stride_l, right, start_r, stride_r = arguments
        columns = [
            emit.load(right, emit.cell(start_r, stride_r, column, 0))
            for column in range(tile.columns)
        ]
        for number, row, column in tile.cells():
            if column == 0:
                vector = emit.load(left, emit.cell(start_l, stride_l, row, 0))
            before = builder.extract_value(vectors, number)
            total = emit.multiply_add(vector, columns[column], before)
            vectors = builder.insert_value(vectors, total, number)
        return vectors

    index = types.intp
    return tile(tile, left, index, index, right, index, index), generate


@intrinsic
def store_sums(
    typing: Any, tile: Any, memory: Any, start: Any, stride: Any
) -> tuple[Any, Generator]:
    """memory[start + c stride + r] = the sum over the lanes of tile[r, c]; four rows."""
    assert tile.rows == 4

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        emit = VectorBuilder(builder)
        vectors, memory, start, stride = arguments
        for column in range(tile.columns):
            rows = [builder.extract_value(vectors, r * tile.columns + column) for r in range(4)]
            pairs = [_add_pairs(builder, *rows[:2]), _add_pairs(builder, *rows[2:])]
            sums = _add_halves(builder, _add_pairs(builder, *pairs))
            emit.store(sums, memory, emit.cell(start, stride, column, 0))
        return context.get_dummy_value()

    return types.none(tile, memory, types.intp, types.intp), generate


def _add_pairs(builder: Any, left: Any, right: Any) -> Any:
    """Add neighbours, within each half of both vectors: AVX has an instruction for that."""
    even = ir.Constant(ir.VectorType(SHORT, LANES), [0, 2, 8, 10, 4, 6, 12, 14])
    odd = ir.Constant(ir.VectorType(SHORT, LANES), [1, 3, 9, 11, 5, 7, 13, 15])
    return builder.fadd(
        builder.shuffle_vector(left, right, even), builder.shuffle_vector(left, right, odd)
    )


def _add_halves(builder: Any, vector: Any) -> Any:
    low = ir.Constant(ir.VectorType(SHORT, 4), [0, 1, 2, 3])
    high = ir.Constant(ir.VectorType(SHORT, 4), [4, 5, 6, 7])
    return builder.fadd(
        builder.shuffle_vector(vector, vector, low), builder.shuffle_vector(vector, vector, high)
    )


@part
def weighted_sum(
    tile_shape: Any, rows: SparseRows, first: int, count: int, array: Any, start: int, stride: int
) -> Any:
    """A tile: the sum of gain x the tile at its spot, along a list."""
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
