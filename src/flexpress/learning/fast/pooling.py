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
    lines: Any,
    square: Any,
    line: Any,
    filled: Any,
    window: Any,
    row: Any,
    pixel: Any,
    values: Any,
    places: Any,
    out: Any,
) -> tuple[Any, Generator]:
    """values[out : + 8] = the largest in the square of `lines`, or 0 if that is larger.

    The square is lines[square], and what lies `filled` to the right, `line` below, and both. The
    window that the largest was computed from begins at `window`, `pixel` further, `row` further, or
    both: places[out : + 8] is told which, or DEAD if ReLU lets nothing through. Among equals the
    first in this order wins, and NaN wins over all, as in torch.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        write = Writer(builder)
        lines, square, line, filled, window, row, pixel, values, places, out = arguments
        largest = write.load(lines, square)
        place = ir.Constant(SHORTS, None)
        for down, right in ((0, 1), (1, 0), (1, 1)):
            vector = write.load(lines, write.ahead(write.ahead(square, line, down), filled, right))
            step = write.ahead(write.ahead(ir.Constant(INDEX, 0), row, down), pixel, right)
            larger = builder.fcmp_ordered(">", vector, largest)
            wins = builder.or_(larger, builder.fcmp_unordered("uno", vector, vector))
            largest = builder.select(wins, vector, largest)
            place = builder.select(wins, write.spread(builder.trunc(step, SHORT), SHORTS), place)
        place = builder.add(place, write.spread(builder.trunc(window, SHORT), SHORTS))
        zero = ir.Constant(VECTOR, None)
        dead = builder.fcmp_ordered("<=", largest, zero)
        nowhere = ir.Constant(SHORTS, [DEAD] * LANES)
        write.store(builder.select(dead, zero, largest), values, out)
        write.store(builder.select(dead, nowhere, place), places, out)
        return context.get_dummy_value()

    i = types.intp
    return types.none(lines, i, i, i, i, i, i, values, places, i), generate
