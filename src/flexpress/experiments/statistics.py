"""How certain a difference between runs is: Student's t, without SciPy.

Networks are the unit. No two of them share a seed, so the mean over a network's seeds is one
independent draw of its chance and theirs, and the interval over networks covers both.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import mean, stdev

from flexpress.experiments.protocol import protocol


@dataclass(frozen=True)
class Interval:
    """A mean, and its 95 % confidence interval, which one value does not have."""

    values: tuple[float, ...]  # independent of each other
    mean: float
    low: float | None
    high: float | None


def interval(values: Sequence[float]) -> Interval:
    """mean +- t s / sqrt(n), for values that are independent and about normally distributed."""
    centre = float(mean(values))  # exact, as is stdev: equal values have no spread at all
    if len(values) < 2:
        return Interval(tuple(values), centre, None, None)
    quantile = _quantile(len(values) - 1, protocol().judging.confidence)
    reach = quantile * stdev(values) / math.sqrt(len(values))
    return Interval(tuple(values), centre, centre - reach, centre + reach)


def over_networks(values: Mapping[tuple[int, int], float]) -> Interval:
    """Of values by network and seed: over the means of networks; over the seeds if there is one."""
    by_network: dict[int, list[float]] = {}
    for (network, _), value in values.items():
        by_network.setdefault(network, []).append(value)
    if len(by_network) == 1:
        return interval(list(values.values()))
    return interval([mean(each) for each in by_network.values()])


@cache
def _quantile(freedom: int, confidence: float) -> float:
    """The t for which P(|T| <= t) is the confidence; T has Student's distribution."""
    low, high = 0.0, math.pi / 2
    while low < (middle := (low + high) / 2) < high:
        if _within(middle, freedom) < confidence:
            low = middle
        else:
            high = middle
    return math.sqrt(freedom) * math.tan(high)


def _within(angle: float, freedom: int) -> float:
    """P(|T| <= sqrt(freedom) tan(angle)).

    Finite sums of Abramowitz and Stegun, 26.7.3 for odd and 26.7.4 for even degrees of freedom.
    """
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = freedom % 2
    term = cosine if odd else 1.0
    total = 0.0
    for power in range(odd, freedom - 1, 2):
        total += term
        term *= (power + 1) / (power + 2) * cosine**2
    return 2 / math.pi * (angle + sine * total) if odd else sine * total
