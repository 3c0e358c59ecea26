"""Repeated measurements as text: the median, and from which to which value they went."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np


def spread(values: Sequence[float], text: Callable[[float], str]) -> str:
    """`median (least-most)`; the median alone if they all read the same."""
    middle = text(float(np.median(values)))
    least, most = text(min(values)), text(max(values))
    return middle if least == most else f"{middle} ({least}-{most})"


def whole(value: float) -> str:
    return f"{value:,.0f}"


def tenths(value: float) -> str:
    return f"{value:,.1f}"


def three_digits(value: float) -> str:
    """0.0123, 1.23, 123, 12,345."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:#.3g}"
