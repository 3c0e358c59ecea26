"""Max-pool 2 x 2 with ReLU, eight channels at once."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types

from flexpress.learning.fast.compiled import Generator, intrinsic
from flexpress.learning.fast.tiles import INDEX, LANES, SHORT, SHORTS, VECTOR, Writer

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
        rows, start, row, pixel, places, corner, *strides, values, output = arguments
        largest, place = None, None
        for down, right in ((0, 0), (0, 1), (1, 0), (1, 1)):
            vector = write.load(rows, write.ahead(write.ahead(start, row, down), pixel, right))
            step = write.ahead(write.ahead(ir.Constant(INDEX, 0), strides[0], down), strides[1], right)
            window = write.spread(builder.trunc(step, SHORT), SHORTS)
            if largest is None:
                largest, place = vector, window
                continue
            larger = builder.fcmp_ordered(">", vector, largest)
            wins = builder.or_(larger, builder.fcmp_unordered("uno", vector, vector))
            largest = builder.select(wins, vector, largest)
            place = builder.select(wins, window, place)
        place = builder.add(place, write.spread(builder.trunc(corner, SHORT), SHORTS))
        zero = ir.Constant(VECTOR, None)
        dead = builder.fcmp_ordered("<=", largest, zero)
        nowhere = ir.Constant(SHORTS, [DEAD] * LANES)
        write.store(builder.select(dead, zero, largest), values, output)
        write.store(builder.select(dead, nowhere, place), places, output)
        return context.get_dummy_value()

    i = types.intp
    return types.none(rows, i, i, i, places, i, i, i, values, i), generate
