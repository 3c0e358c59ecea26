"""Street View House Numbers, cropped digits: Netzer et al., 2011. 32 x 32 in MATLAB files.

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
from flexpress.learning.official import OfficialDataset, Samples, check_labels

_Array = NDArray[Any]

_HEADER = 128
_BYTE_ORDERS = {b"IM": "<", b"MI": ">"}
"""By the last two bytes of the header."""

_MATRIX, _COMPRESSED = 14, 15
_COMPLEX = 0x800

_TYPES = dict(
    zip(
        (1, 2, 3, 4, 5, 6, 7, 9, 12, 13),
        ["i1", "u1", "i2", "u2", "i4", "u4", "f4", "f8", "i8", "u8"],
        strict=True,
    )
)
"""Types of stored numbers; small whole numbers are stored small, whatever their class."""

_CLASSES = dict(
    zip(range(6, 16), ["f8", "f4", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"], strict=True)
)
"""Classes of numeric arrays; cells, structures, text and sparse arrays are skipped."""


def _read_files(files: list[Path]) -> tuple[Samples, Samples]:
    train, test = files
    return _read_file(train), _read_file(test)


def _read_file(path: Path) -> Samples:
    """X is (height, width, channels, samples); the digit 0 has the label 10."""
    arrays = _read_mat(path)
    if not {"X", "y"} <= set(arrays):
        raise InputError(f"{path}: no arrays X and y; put the official file there")
    images, labels = arrays["X"], arrays["y"]
    if images.ndim != 4 or images.shape[:3] != (32, 32, 3) or images.dtype != np.uint8:
        text = f"{images.shape} of {images.dtype}: must be (32, 32, 3, samples) of uint8"
        raise InputError(f"{path}: X is {text}")
    if labels.size != images.shape[3]:
        raise InputError(f"{path}: {labels.size} labels for {images.shape[3]} images")
    digits = check_labels(labels.ravel(), 1, path) % 10
    return np.ascontiguousarray(images.transpose(3, 2, 0, 1)), digits


def _read_mat(path: Path) -> dict[str, _Array]:
    """Name -> array, for every array of real numbers in a MATLAB 5 file.

    By hand, since scipy.io.loadmat (1.17) crashes the process on some damaged files.
    """
    content = read_bytes(path)
    order = _BYTE_ORDERS.get(content[_HEADER - 2 : _HEADER])
    if order is None or not content.startswith(b"MATLAB 5.0"):
        raise InputError(f"{path}: not a MATLAB 5 file; put the official file there")
    try:
        return dict(_arrays(memoryview(content)[_HEADER:], order))
    except (ValueError, IndexError, struct.error, zlib.error) as error:
        raise InputError(f"{path}: damaged: {error}; put a complete file there") from None


def _arrays(content: memoryview, order: str) -> Iterator[tuple[str, _Array]]:
    for kind, data in _elements(content, order):
        if kind == _COMPRESSED:
            yield from _arrays(memoryview(zlib.decompress(data)), order)
        elif kind == _MATRIX:
            yield from _array(data, order)


def _array(content: memoryview, order: str) -> Iterator[tuple[str, _Array]]:
    """The array with its name; nothing if it is complex, or of another class."""
    parts = [data for _, data in _elements(content, order, most=3)]
    flags = struct.unpack_from(f"{order}I", parts[0])[0]
    if flags & 0xFF not in _CLASSES or flags & _COMPLEX:
        return
    *_, (kind, data) = _elements(content, order, most=4)
    shape = np.frombuffer(parts[1], f"{order}i4").tolist()
    numbers = np.frombuffer(data, order + _TYPES[kind]) if kind in _TYPES else np.empty(0)
    if len(numbers) != prod(shape):
        raise ValueError(f"{len(numbers)} numbers for {shape} entries")
    array = numbers.astype(_CLASSES[flags & 0xFF], copy=False).reshape(shape, order="F")
    yield bytes(parts[2]).decode("ascii"), array


def _elements(content: memoryview, order: str, most: int = -1) -> Iterator[tuple[int, memoryview]]:
    """Type and data of each element, at most `most` of them."""
    at = 0
    while at < len(content) and most != 0:
        kind, size = struct.unpack_from(f"{order}II", content, at)
        start = at + 8
        if kind >> 16:  # four bytes or fewer are part of the tag
            kind, size, start = kind & 0xFFFF, kind >> 16, at + 4
        end = start + size
        if end > len(content):
            raise ValueError(f"{len(content) - start} bytes of {size} are present")
        yield kind, content[start:end]
        at = end if kind == _COMPRESSED else (end + 7) // 8 * 8
        most -= 1


SVHN = OfficialDataset(
    name="svhn",
    url="http://ufldl.stanford.edu/housenumbers/",
    folders=("svhn",),
    checksums={
        "train_32x32.mat": "435e94d69a87fde4fd4d7f3dd208dfc32cb6ae8af2240d066de1df7508d083b8",
        "test_32x32.mat": "cdce80dfb2a2c4c6160906d0bd7c68ec5a99d7ca4831afa54f09182025b6a75b",
    },
    read=_read_files,
)
