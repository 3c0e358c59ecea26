"""A block forward: convolution, ReLU, max-pool; sixteen or eight output channels at a time."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types

from flexpress.learning.fast.decorators import Generator, inlined, intrinsic, part
from flexpress.learning.fast.memory import at
from flexpress.learning.fast.products import plus_outer, plus_slid
from flexpress.learning.fast.tables import BOTH, LOWER, SKEW, SUMS, UPPER, Records
from flexpress.learning.fast.tiles import (
    INDEX,
    LANES,
    SHORT,
    SHORTS,
    VECTOR,
    VectorBuilder,
    load,
    num_rows,
    shape,
    store,
)
from flexpress.learning.fast.winograd import transform_rows
from flexpress.learning.fast.workspace import Workspace

_DEAD = -1
"""Place of an output that ReLU sets to 0: it has no window."""


@part
def forward_block(block: Records, work: Workspace, sample: int) -> None:
    """Two rows of the convolution at a time, as sums of products, and then the pool."""
    start = block.input + sample * block.input_size
    output = block.output + sample * block.output_size
    line = 2 * block.width * block.filled
    for y in range(block.height):
        corner = start + 2 * y * block.row
        transform_rows(block, work, corner)
        first, weights = block.first_tap, block.packed
        for number in range(SUMS):
            taps = at(work.sums, block.first_sum + number) * block.row_taps
            _convolve_line(block, work, first, taps, weights, number * line)
            weights += (1 + taps) * block.filled
            first += taps
        _pool_line(block, work, corner, output + y * block.output_row)


@inlined
def _convolve_line(
    block: Records, work: Workspace, first: int, taps: int, weights: int, out: int
) -> None:
    """One of these sums for a whole row: sixteen channels at a time, then the last eight."""
    for channel in range(0, block.filled, 16):
        start, to = weights + channel, out + channel
        if channel + 16 <= block.filled:
            _convolve_pixels(shape(5, 2), block, work, first, taps, start, to)
        elif block.kernel == 5:
            _slide_pixels(shape(10, 1), block, work, first, taps, start, to)
        else:
            _convolve_pixels(shape(7, 1), block, work, first, taps, start, to)


@part
def _convolve_pixels(
    tile_shape: Any, block: Records, work: Workspace, first: int, taps: int, start: int, out: int
) -> None:
    """Some neighbouring pixels at a time, tap by tap; the last tile overlaps the one before it.

    In a row narrower than the tile, the pixels behind its end are computed and ignored.
    """
    pixel, filled = block.pixel, block.filled
    pixels, width = num_rows(tile_shape), 2 * block.width
    for left in range(0, width, pixels):
        x = left if left + pixels <= width or left == 0 else width - pixels
        tile = load(tile_shape, work.packed, start, 0)
        for tap in range(taps):
            place = x * pixel + at(work.taps, first + tap)
            weights = start + (1 + tap) * filled
            tile = plus_outer(tile, work.transformed, place, pixel, work.packed, weights)
        store(tile, work.lines, out + x * filled, filled)


@part
def _slide_pixels(
    tile_shape: Any, block: Records, work: Workspace, first: int, taps: int, start: int, out: int
) -> None:
    """The same, with the five taps of a row of the kernel sliding along the pixels.

    Eight channels are only one vector, and reading the pixels would take longer than multiplying:
    here each is read once for five taps.
    """
    pixel, filled = block.pixel, block.filled
    pixels, width = num_rows(tile_shape), 2 * block.width
    for left in range(0, width, pixels):
        x = left if left + pixels <= width or left == 0 else width - pixels
        tile = load(tile_shape, work.packed, start, 0)
        for tap in range(0, taps, 5):
            place, weights = x * pixel + at(work.taps, first + tap), start + (1 + tap) * filled
            tile = plus_slid(
                tile, shape(5, 1), work.transformed, place, pixel, work.packed, weights, filled
            )
        store(tile, work.lines, out + x * filled, filled)


@part
def _pool_line(block: Records, work: Workspace, corner: int, output: int) -> None:
    """The largest value in each square of four pixels of two rows of the convolution."""
    filled, row, pixel = block.filled, block.row, block.pixel
    line = 2 * block.width * filled
    for x in range(block.width):
        window, square, out = corner + 2 * x * pixel, 2 * x * filled, output + x * filled
        for channel in range(0, filled, 8):
            _pool(
                work.lines,
                square + channel,
                line,
                filled,
                window,
                row,
                pixel,
                work.values,
                work.places,
                out + channel,
            )


@intrinsic
def _pool(
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
    begins at `window`, `pixel` further, `row` further, or both: places[out : + 8] = that place, or
    -1 if ReLU sets the output to 0. Among equals the first in this order wins, and NaN wins over
    all, as in torch.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        emit = VectorBuilder(builder)
        lines, square, line, filled, window, row, pixel, values, places, out = arguments
        upper, lower = zip(
            *(_outputs(emit, lines, emit.ahead(square, filled, right), line) for right in (0, 1)),
            strict=True,
        )
        largest = upper[0]
        place = ir.Constant(SHORTS, None)
        for vector, down, right in ((upper[1], 0, 1), (lower[0], 1, 0), (lower[1], 1, 1)):
            step = emit.ahead(emit.ahead(ir.Constant(INDEX, 0), row, down), pixel, right)
            larger = builder.fcmp_ordered(">", vector, largest)
            wins = builder.or_(larger, builder.fcmp_unordered("uno", vector, vector))
            largest = builder.select(wins, vector, largest)
            place = builder.select(wins, emit.broadcast(builder.trunc(step, SHORT), SHORTS), place)
        place = builder.add(place, emit.broadcast(builder.trunc(window, SHORT), SHORTS))
        zero = ir.Constant(VECTOR, None)
        dead = builder.fcmp_ordered("<=", largest, zero)
        nowhere = ir.Constant(SHORTS, [_DEAD] * LANES)
        emit.store(builder.select(dead, zero, largest), values, out)
        emit.store(builder.select(dead, nowhere, place), places, out)
        return context.get_dummy_value()

    i = types.intp
    return types.none(lines, i, i, i, i, i, i, values, places, i), generate


def _outputs(emit: VectorBuilder, lines: Any, place: Any, line: Any) -> tuple[Any, Any]:
    """Two outputs of the convolution, one above the other, from its four sums."""
    sums = [emit.load(lines, emit.ahead(place, line, number)) for number in range(SUMS)]
    add, subtract = emit.builder.fadd, emit.builder.fsub
    upper = add(sums[UPPER], add(sums[BOTH], sums[SKEW]))
    return upper, add(sums[LOWER], subtract(sums[BOTH], sums[SKEW]))
