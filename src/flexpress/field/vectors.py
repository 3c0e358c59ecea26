"""Models and updates as they travel, and what is checked of them. No copies: they are large."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from flexpress.learning import Vector

_BLOCK = 2**18
"""Numbers that are looked at together."""


def bytes_of(vector: Vector, dtype: DTypeLike) -> memoryview:
    """Little-endian; on most machines these are the bytes of the vector itself."""
    little = np.dtype(dtype).newbyteorder("<")
    return np.ascontiguousarray(vector.astype(little, copy=False)).data.cast("B")


def is_finite(vector: Vector) -> bool:
    """A block at a time: what is found takes memory too."""
    blocks = range(0, vector.size, _BLOCK)
    return all(bool(np.isfinite(vector[start : start + _BLOCK]).all()) for start in blocks)
