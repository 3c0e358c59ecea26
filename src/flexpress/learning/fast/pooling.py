"""Max-pool 2 x 2 with ReLU, eight channels at once; and numbers in memory, without checks."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types

from flexpress.learning.fast.compiled import intrinsic
from flexpress.learning.fast.tiles import LANES, SHORT, SHORTS, VECTOR, Generator, Writer

DEAD = -1
"""In the place of the largest, where ReLU lets nothing through."""


@intrinsic
def pool(
    typing: Any,
    rows: Any,
    start: Any,
    row: Any,
    pixel: Any,
    places: Any,
    corner: Any,
    source_row: Any,
    source_pixel: Any,
    values: Any,
    output: Any,
) -> tuple[Any, Generator]:
    """values[output : + 8] = the largest of rows at start, start + pixel, start + row, ..., or 0.

    places[output : + 8] = where its window begins: corner, corner + source_pixel, ..., or DEAD if
    it is not above 0. Of equals the first in this order wins, and NaN wins over all, as in torch.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        write = Writer(context, builder)
        memory, start, row, pixel, into, corner, source_row, source_pixel, out, output = arguments
        largest, place = None, None
        for down, right in ((0, 0), (0, 1), (1, 0), (1, 1)):
            index = write.ahead(write.ahead(start, row, down), pixel, right)
            here = write.ahead(write.ahead(corner, source_row, down), source_pixel, right)
            vector = write.load(rows, memory, index)
            window = write.spread(builder.trunc(here, SHORT), SHORTS)
            if largest is None:
                largest, place = vector, window
                continue
            larger = builder.fcmp_ordered(">", vector, largest)
            wins = builder.or_(larger, builder.fcmp_unordered("uno", vector, vector))
            largest = builder.select(wins, vector, largest)
            place = builder.select(wins, window, place)
        zero = ir.Constant(VECTOR, None)
        dead = builder.fcmp_ordered("<=", largest, zero)
        nowhere = ir.Constant(SHORTS, [DEAD] * LANES)
        write.store(builder.select(dead, zero, largest), values, out, output)
        write.store(builder.select(dead, nowhere, place), places, into, output)
        return context.get_dummy_value()

    i = types.intp
    return types.none(rows, i, i, i, places, i, i, i, values, i), generate


@intrinsic
def at(typing: Any, array: Any, index: Any) -> tuple[Any, Generator]:
    """array[index], where index is known to lie inside: Numba's own test for < 0 is costly here."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(array)(context, builder, arguments[0]).data
        return builder.load(builder.gep(data, [arguments[1]], inbounds=True))

    return array.dtype(array, types.intp), generate


@intrinsic
def put(typing: Any, array: Any, index: Any, value: Any) -> tuple[Any, Generator]:
    """array[index] = value, where index is known to lie inside."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(array)(context, builder, arguments[0]).data
        builder.store(arguments[2], builder.gep(data, [arguments[1]], inbounds=True))
        return context.get_dummy_value()

    return types.none(array, types.intp, array.dtype), generate
