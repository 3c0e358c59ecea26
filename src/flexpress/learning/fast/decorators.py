"""Decorators of the compiled functions: three layers of calls, since more would double the time.

Numba optimises a function together with all that it calls, again at every level of calls. So the
entry points call a few parts, the parts call loops over register tiles, and the rest is inlined.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import extending, njit

intrinsic: Any = extending.intrinsic
"""For functions that emit LLVM code; untyped, since callers omit the compiler's argument."""

Generator = Callable[[Any, Any, Any, Any], Any]
"""Such a function returns its signature and a generator, which emits the code."""

_FLAGS: dict[str, Any] = {
    "error_model": "numpy",
    "boundscheck": False,
    "fastmath": {"contract", "reassoc", "nsz"},  # none assumes that NaN and infinity do not occur
    "no_cfunc_wrapper": True,
}
_INTERNAL: dict[str, Any] = {**_FLAGS, "no_cpython_wrapper": True}

entry = njit(**_FLAGS, cache=True, nogil=True)
"""For functions that Python calls: cached on disk, and run without Python's lock."""

part = njit(**_INTERNAL)
"""For functions that only compiled code calls: without a Python wrapper they compile faster."""

exact = njit(**{**_INTERNAL, "fastmath": False})
"""For arithmetic that must round as NumPy and torch do, operation by operation."""

inlined = njit(**_INTERNAL, inline="always")
"""For functions with one caller, separate only for readability."""
