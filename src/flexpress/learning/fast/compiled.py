"""How the functions of this folder are compiled."""

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
INTERNAL: dict[str, Any] = {"no_cpython_wrapper": True}
part = njit(**FLAGS, **INTERNAL)
"""For functions that only compiled code calls: without a wrapper for Python they compile faster."""

entry = njit(**FLAGS, cache=True, nogil=True)
"""For what Python calls: kept on the disk, and other threads run meanwhile."""

once = njit(**FLAGS, **INTERNAL, inline="always")
