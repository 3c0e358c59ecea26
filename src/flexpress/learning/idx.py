"""Arrays of bytes in the idx format of MNIST and its kin, packed by gzip or not."""

from __future__ import annotations

import gzip
import zlib
from math import prod
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from flexpress.errors import InputError
from flexpress.files.disk import read_bytes

GZIP = b"\x1f\x8b"
UNSIGNED_BYTES = b"\x00\x00\x08"
"""Two zeros, then the code of the type; the number of dimensions and their sizes follow."""


def read_idx(path: Path) -> NDArray[np.uint8]:
    content = unpack(read_bytes(path), path)
    if content[:3] != UNSIGNED_BYTES or len(content) < 4:
        raise InputError(f"{path}: not an idx file of bytes; put the official file there")
    dimensions = content[3]
    start = 4 + 4 * dimensions
    shape = np.frombuffer(content[4:start][: 4 * ((len(content) - 4) // 4)], dtype=">u4")
    if len(shape) < dimensions or len(content) - start != prod(shape.tolist()):
        sizes = " x ".join(map(str, shape))
        raise InputError(
            f"{path}: {max(len(content) - start, 0)} bytes for {sizes} entries; "
            "the file is damaged: put a whole one there"
        )
    return np.frombuffer(content, dtype=np.uint8, offset=start).reshape(shape.tolist())


def unpack(content: bytes, path: Path) -> bytes:
    if not content.startswith(GZIP):
        return content
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path}: damaged: {error}; put a whole file there") from None
