"""Sums of products in register tiles: what convolutions and linear layers are made of."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types

from flexpress.learning.fast.compiled import intrinsic
from flexpress.learning.fast.tiles import FLOAT, LANES, SHORT, Generator, Writer

QUARTET = ir.VectorType(FLOAT, 4)


@intrinsic
def plus_outer(
    typing: Any, tile: Any, array: Any, start: Any, stride: Any, weights: Any, first: Any
) -> tuple[Any, Generator]:
    """tile[r, c] + array[start + r stride] weights[first + 8 c : + 8]: one number for each row."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        write = Writer(context, builder)
        vectors, memory, start, stride, weights_memory, first = arguments
        columns = [
            write.load(weights, weights_memory, write.cell(first, None, 0, column))
            for column in range(tile.columns)
        ]
        for number, row, column in tile.cells():
            if column == 0:
                factor = write.spread_from(array, memory, write.cell(start, stride, row, 0))
            before = builder.extract_value(vectors, number)
            total = write.multiply_add(factor, columns[column], before)
            vectors = builder.insert_value(vectors, total, number)
        return vectors

    return tile(tile, array, types.intp, types.intp, weights, types.intp), generate


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
        write = Writer(context, builder)
        vectors, memory_l, start_l, stride_l, memory_r, start_r, stride_r = arguments
        columns = [
            write.load(right, memory_r, write.cell(start_r, stride_r, column, 0))
            for column in range(tile.columns)
        ]
        for number, row, column in tile.cells():
            if column == 0:
                vector = write.load(left, memory_l, write.cell(start_l, stride_l, row, 0))
            before = builder.extract_value(vectors, number)
            total = write.multiply_add(vector, columns[column], before)
            vectors = builder.insert_value(vectors, total, number)
        return vectors

    index = types.intp
    return tile(tile, left, index, index, right, index, index), generate


@intrinsic
def store_sums(
    typing: Any, tile: Any, array: Any, start: Any, stride: Any
) -> tuple[Any, Generator]:
    """array[start + c stride + r] = the sum over the lanes of tile[r, c]; four rows."""
    assert tile.rows == 4

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        write = Writer(context, builder)
        vectors, memory, start, stride = arguments
        for column in range(tile.columns):
            rows = [builder.extract_value(vectors, r * tile.columns + column) for r in range(4)]
            pairs = [in_pairs(builder, *rows[:2]), in_pairs(builder, *rows[2:])]
            sums = halves_added(builder, in_pairs(builder, *pairs))
            write.store(sums, array, memory, write.cell(start, stride, column, 0))
        return context.get_dummy_value()

    return types.none(tile, array, types.intp, types.intp), generate


def in_pairs(builder: Any, left: Any, right: Any) -> Any:
    """Neighbours added, within each half of both vectors: AVX has an instruction for that."""
    even = ir.Constant(ir.VectorType(SHORT, LANES), [0, 2, 8, 10, 4, 6, 12, 14])
    odd = ir.Constant(ir.VectorType(SHORT, LANES), [1, 3, 9, 11, 5, 7, 13, 15])
    return builder.fadd(
        builder.shuffle_vector(left, right, even), builder.shuffle_vector(left, right, odd)
    )


def halves_added(builder: Any, vector: Any) -> Any:
    low = ir.Constant(ir.VectorType(SHORT, 4), [0, 1, 2, 3])
    high = ir.Constant(ir.VectorType(SHORT, 4), [4, 5, 6, 7])
    return builder.fadd(
        builder.shuffle_vector(vector, vector, low), builder.shuffle_vector(vector, vector, high)
    )
