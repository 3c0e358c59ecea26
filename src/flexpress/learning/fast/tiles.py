"""Register tiles: small grids of vectors that the processor holds in its registers while it works.

A tile of shape (rows, columns) is rows x columns vectors of 8 floats. In memory the vectors of a
row lie side by side, and its rows a stride apart:

    start               start + 8           start + 16
    [0 1 2 3 4 5 6 7]   [0 1 2 3 4 5 6 7]   [0 1 2 3 4 5 6 7]    row 0
    start + stride ...                                           row 1

Numba has no such type, so we emit LLVM vectors, and LLVM allocates the registers: AVX has 16, so up
to 12 vectors in a tile leave room for the operands. On processors with narrower vectors LLVM uses
several registers for each: slower, with the same result.

A shape is a type, not a value: every loop over a tile is compiled for its shape. The flags of the
arithmetic let LLVM fuse products and sums; none assumes that NaN or infinity do not occur.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import models, register_model

from flexpress.learning.fast.decorators import Generator, intrinsic

LANES = 8
_FLOAT = ir.FloatType()
INDEX = ir.IntType(64)
SHORT = ir.IntType(32)
VECTOR = ir.VectorType(_FLOAT, LANES)
SHORTS = ir.VectorType(SHORT, LANES)
_FUSED = ("contract", "nsz")


class _Shape(types.Type):
    """Rows and columns of a tile, known when code is compiled."""

    def __init__(self, rows: int, columns: int) -> None:
        self.rows, self.columns = rows, columns
        super().__init__(f"Shape({rows}, {columns})")


class _Tile(types.Type):
    """A grid of vectors."""

    def __init__(self, rows: int, columns: int) -> None:
        self.rows, self.columns = rows, columns
        super().__init__(f"Tile({rows}, {columns})")

    @property
    def model(self) -> ir.ArrayType:
        return ir.ArrayType(VECTOR, self.rows * self.columns)

    def cells(self) -> Iterator[tuple[int, int, int]]:
        """Number, row and column of every vector."""
        for row in range(self.rows):
            for column in range(self.columns):
                yield row * self.columns + column, row, column


register_model(_Shape)(models.OpaqueModel)


@register_model(_Tile)
class _TileModel(models.PrimitiveModel):
    def __init__(self, manager: Any, tile: _Tile) -> None:
        super().__init__(manager, tile, tile.model)  # type: ignore[no-untyped-call]  # Numba's


class VectorBuilder:
    """Emits LLVM instructions on vectors: shorthands for LLVM's builder."""

    def __init__(self, builder: Any) -> None:
        self.builder = builder

    def pointer(self, memory: Any, index: Any, kind: Any) -> Any:
        place = self.builder.gep(memory, [index], inbounds=True)
        return self.builder.bitcast(place, kind.as_pointer())

    def load(self, memory: Any, index: Any, kind: Any = VECTOR) -> Any:
        return self.builder.load(self.pointer(memory, index, kind), align=4)

    def store(self, what: Any, memory: Any, index: Any) -> None:
        self.builder.store(what, self.pointer(memory, index, what.type), align=4)

    def broadcast(self, scalar: Any, kind: Any = VECTOR) -> Any:
        """A vector of equal numbers."""
        nothing = ir.Constant(kind, ir.Undefined)
        first = self.builder.insert_element(nothing, scalar, ir.Constant(SHORT, 0))
        return self.builder.shuffle_vector(first, nothing, ir.Constant(SHORTS, [0] * LANES))

    def broadcast_from(self, memory: Any, index: Any) -> Any:
        return self.broadcast(self.load(memory, index, _FLOAT))

    def ahead(self, index: Any, stride: Any, times: int) -> Any:
        step = self.builder.mul(stride, ir.Constant(INDEX, times), flags=("nsw",))
        return self.builder.add(index, step, flags=("nsw",))

    def cell(self, start: Any, stride: Any, row: int, column: int) -> Any:
        """The place in memory where a vector of a tile begins."""
        place = self.ahead(start, stride, row) if row else start
        return self.ahead(place, ir.Constant(INDEX, LANES), column) if column else place

    def multiply_add(self, a: Any, b: Any, c: Any) -> Any:
        return self.builder.fadd(self.builder.fmul(a, b, flags=_FUSED), c, flags=_FUSED)


@intrinsic(prefer_literal=True)
def shape(typing: Any, rows: Any, columns: Any) -> tuple[Any, Generator]:
    """The shape of these literal numbers."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.get_dummy_value()

    return _Shape(rows.literal_value, columns.literal_value)(rows, columns), generate


@intrinsic
def num_rows(typing: Any, shape: Any) -> tuple[Any, Generator]:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return ir.Constant(INDEX, shape.rows)

    return types.intp(shape), generate


@intrinsic
def zeros(typing: Any, shape: Any) -> tuple[Any, Generator]:
    tile = _Tile(shape.rows, shape.columns)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return ir.Constant(tile.model, None)

    return tile(shape), generate


@intrinsic
def load(typing: Any, shape: Any, memory: Any, start: Any, stride: Any) -> tuple[Any, Generator]:
    """tile[r, c] = memory[start + r stride + 8 c : + 8]."""
    tile = _Tile(shape.rows, shape.columns)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        emit = VectorBuilder(builder)
        _, memory, start, stride = arguments
        loaded = ir.Constant(tile.model, ir.Undefined)
        for number, row, column in tile.cells():
            vector = emit.load(memory, emit.cell(start, stride, row, column))
            loaded = builder.insert_value(loaded, vector, number)
        return loaded

    return tile(shape, memory, types.intp, types.intp), generate


@intrinsic
def store(typing: Any, tile: Any, memory: Any, start: Any, stride: Any) -> tuple[Any, Generator]:
    """memory[start + r stride + 8 c : + 8] = tile[r, c]."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        emit = VectorBuilder(builder)
        vectors, memory, start, stride = arguments
        for number, row, column in tile.cells():
            vector = builder.extract_value(vectors, number)
            emit.store(vector, memory, emit.cell(start, stride, row, column))
        return context.get_dummy_value()

    return types.none(tile, memory, types.intp, types.intp), generate


@intrinsic
def add_to(
    typing: Any, tile: Any, factor: Any, memory: Any, start: Any, stride: Any
) -> tuple[Any, Generator]:
    """memory[start + r stride + 8 c : + 8] += factor tile[r, c]."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        emit = VectorBuilder(builder)
        vectors, factor, memory, start, stride = arguments
        factors = emit.broadcast(factor)
        for number, row, column in tile.cells():
            place = emit.cell(start, stride, row, column)
            before = emit.load(memory, place)
            vector = builder.extract_value(vectors, number)
            emit.store(emit.multiply_add(factors, vector, before), memory, place)
        return context.get_dummy_value()

    return types.none(tile, types.float32, memory, types.intp, types.intp), generate


@intrinsic
def plus(
    typing: Any, tile: Any, factor: Any, memory: Any, start: Any, stride: Any
) -> tuple[Any, Generator]:
    """tile[r, c] + factor memory[start + r stride + 8 c : + 8]."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        emit = VectorBuilder(builder)
        vectors, factor, memory, start, stride = arguments
        factors = emit.broadcast(factor)
        for number, row, column in tile.cells():
            vector = emit.load(memory, emit.cell(start, stride, row, column))
            total = emit.multiply_add(factors, vector, builder.extract_value(vectors, number))
            vectors = builder.insert_value(vectors, total, number)
        return vectors

    return tile(tile, types.float32, memory, types.intp, types.intp), generate
