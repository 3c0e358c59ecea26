"""Numeric arrays out of MATLAB 5 files, as far as data sets need it.

"MAT-File Format", The MathWorks: a header of 128 bytes, then elements, each with a tag of its type
and size; an array is an element of elements: flags, dimensions, name, numbers column by column.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexpress.errors import InputError
from flexpress.files.disk import read_bytes

Array = NDArray[Any]

HEADER = 128
ORDERS = {b"IM": "<", b"MI": ">"}
"""What the last bytes of the header say of the order of bytes in all numbers."""

MATRIX, COMPRESSED = 14, 15

STORED = {
    1: "i1",
    2: "u1",
    3: "i2",
    4: "u2",
    5: "i4",
    6: "u4",
    7: "f4",
    9: "f8",
    12: "i8",
    13: "u8",
}
"""Types of numbers in the file; small whole numbers are stored small, whatever their class."""

CLASSES = {
    6: "f8",
    7: "f4",
    8: "i1",
    9: "u1",
    10: "i2",
    11: "u2",
    12: "i4",
    13: "u4",
    14: "i8",
    15: "u8",
}
"""Classes of arrays; cells, structures, text and sparse arrays are passed over."""

COMPLEX = 0x800


def read_mat(path: Path) -> dict[str, Array]:
    """Name -> array, for every array of real numbers in the file."""
    content = read_bytes(path)
    order = ORDERS.get(content[HEADER - 2 : HEADER])
    if order is None or not content.startswith(b"MATLAB 5.0"):
        raise InputError(f"{path}: not a MATLAB 5 file; put the official file there")
    try:
        return dict(_arrays(memoryview(content)[HEADER:], order))
    except (ValueError, IndexError, struct.error, zlib.error) as error:
        raise InputError(f"{path}: damaged: {error}; put a whole file there") from None


def _arrays(content: memoryview, order: str) -> Iterator[tuple[str, Array]]:
    for kind, data in _elements(content, order):
        if kind == COMPRESSED:
            yield from _arrays(memoryview(zlib.decompress(data)), order)
        elif kind == MATRIX:
            yield from _array(data, order)


def _array(content: memoryview, order: str) -> Iterator[tuple[str, Array]]:
    """One array, or none if it is of a class that data sets do not have."""
    parts = [data for _, data in _elements(content, order, most=3)]
    flags = struct.unpack_from(f"{order}I", parts[0])[0]
    if flags & 0xFF not in CLASSES or flags & COMPLEX:
        return
    *_, (kind, data) = _elements(content, order, most=4)
    shape = np.frombuffer(parts[1], f"{order}i4").tolist()
    numbers = np.frombuffer(data, order + STORED[kind]) if kind in STORED else np.empty(0)
    if len(numbers) != prod(shape):
        raise ValueError(f"{len(numbers)} numbers for {shape} entries")
    array = numbers.astype(CLASSES[flags & 0xFF], copy=False).reshape(shape, order="F")
    yield bytes(parts[2]).decode("ascii"), array


def _elements(content: memoryview, order: str, most: int = -1) -> Iterator[tuple[int, memoryview]]:
    """Type and data of each element; at most so many."""
    at = 0
    while at < len(content) and most != 0:
        kind, size = struct.unpack_from(f"{order}II", content, at)
        start = at + 8
        if kind >> 16:  # four bytes or fewer stand in the tag itself
            kind, size, start = kind & 0xFFFF, kind >> 16, at + 4
        end = start + size
        if end > len(content):
            raise ValueError(f"{len(content) - start} bytes of {size} are there")
        yield kind, content[start:end]
        at = end if kind == COMPRESSED else (end + 7) // 8 * 8
        most -= 1
