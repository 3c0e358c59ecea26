"""How certain a difference between runs is, from few seeds: Student's t."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean, stdev

from scipy.special import stdtrit

_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Interval:
    """A mean over seeds, and its 95 % confidence interval, which one value does not have."""

    values: tuple[float, ...]  # seed by seed
    mean: float
    low: float | None
    high: float | None


def interval(values: Sequence[float]) -> Interval:
    """mean +- t s / sqrt(n), for values that are independent and about normally distributed."""
    centre = float(mean(values))  # exact, as is stdev: equal values have no spread at all
    if len(values) < 2:
        return Interval(tuple(values), centre, None, None)
    t = float(stdtrit(len(values) - 1, (1 + _CONFIDENCE) / 2))
    reach = t * stdev(values) / math.sqrt(len(values))
    return Interval(tuple(values), centre, centre - reach, centre + reach)
