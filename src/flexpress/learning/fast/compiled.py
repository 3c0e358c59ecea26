"""How the functions of this folder are compiled: three layers, or it would take twice as long.

Numba optimises a function together with all that it calls, again at every level of calls. So the
entries call a few parts, these the loops over register tiles, and what lies between is inlined.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import extending, njit

intrinsic: Any = extending.intrinsic
"""For functions that write LLVM's code; mypy would miss the compiler's argument in every call."""

Generator = Callable[[Any, Any, Any, Any], Any]
"""What such a function gives back beside its signature: it writes the code."""

FLAGS: dict[str, Any] = {
    "error_model": "numpy",
    "boundscheck": False,
    "fastmath": {"contract", "reassoc", "nsz"},  # none assumes that NaN and infinity do not occur
    "no_cfunc_wrapper": True,
}
INTERNAL: dict[str, Any] = {**FLAGS, "no_cpython_wrapper": True}

entry = njit(**FLAGS, cache=True, nogil=True)
"""For what Python calls: kept on the disk, and other threads run meanwhile."""

part = njit(**INTERNAL)
"""For functions that only compiled code calls: without a wrapper for Python they compile faster."""

exact = njit(**{**INTERNAL, "fastmath": False})
"""For arithmetic that must round as NumPy and torch do, operation by operation."""

inlined = njit(**INTERNAL, inline="always")
"""For functions that one other function calls, and that are apart only to be read."""
