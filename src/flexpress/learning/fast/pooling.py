"""Max-pool 2 x 2 with ReLU, eight channels at once."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types

from flexpress.learning.fast.compiled import Generator, intrinsic
from flexpress.learning.fast.layout import BOTH, LOWER, SKEW, SUMS, UPPER
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
    """values[out : + 8] = the largest in a square of the convolution, or 0 if that is larger.

    Its four sums for the left half of the square are lines[square], lines[square + line], ..., and
    those for the right half lie `filled` further. The window that the largest was computed from
    begins at `window`, `pixel` further, `row` further, or both: places[out : + 8] is told which, or
    DEAD if ReLU lets nothing through. Among equals the first in this order wins, and NaN wins over
    all, as in torch.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        write = Writer(builder)
        lines, square, line, filled, window, row, pixel, values, places, out = arguments
        upper, lower = zip(
            *(outputs(write, lines, write.ahead(square, filled, right), line) for right in (0, 1)),
            strict=True,
        )
        largest = upper[0]
        place = ir.Constant(SHORTS, None)
        for vector, down, right in ((upper[1], 0, 1), (lower[0], 1, 0), (lower[1], 1, 1)):
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


def outputs(write: Writer, lines: Any, place: Any, line: Any) -> tuple[Any, Any]:
    """Two of the convolution, one above the other, of its four sums."""
    sums = [write.load(lines, write.ahead(place, line, number)) for number in range(SUMS)]
    add, subtract = write.builder.fadd, write.builder.fsub
    upper = add(sums[UPPER], add(sums[BOTH], sums[SKEW]))
    return upper, add(sums[LOWER], subtract(sums[BOTH], sums[SKEW]))
