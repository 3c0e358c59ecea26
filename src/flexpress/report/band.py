"""A line of a figure over several seeds: their mean, and from the lowest to the highest of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from flexpress.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class Course:
    """What one run measured at these slots: accuracies between 0 and 1, losses if known."""

    slots: Sequence[float]
    accuracies: Sequence[float]
    losses: Sequence[float] = ()


@dataclass(frozen=True, eq=False)
class BandLine:
    """Runs that differ in their seed only, under one name."""

    label: str
    courses: tuple[Course, ...]
    hue: int = 0  # its colour: which of the palette's
    dashed: bool = False
    cut_short: bool = False  # whether a run of it was stopped, or diverged

    @property
    def seeds(self) -> int:
        return len(self.courses)


@dataclass(frozen=True, eq=False)
class Band:
    """At the slots that all runs have measured: one that ended early ends it."""

    slots: FloatArray  # (points,)
    mean: FloatArray  # (points,)
    low: FloatArray  # (points,)
    high: FloatArray  # (points,)


Measured = Callable[[Course], tuple[FloatArray, FloatArray]]
"""Slots, and what was measured there."""


def per_cent(course: Course) -> tuple[FloatArray, FloatArray]:
    slots, accuracies = finite(course.slots, course.accuracies)
    return slots, 100 * accuracies


def loss(course: Course) -> tuple[FloatArray, FloatArray]:
    return finite(course.slots[: len(course.losses)], course.losses)


def band_of(line: BandLine, measured: Measured = per_cent) -> Band:
    """At the slots that all courses have, in their order."""
    every = [measured(course) for course in line.courses]
    slots = reduce(np.intersect1d, [found for found, _ in every])
    rows = [values[np.searchsorted(found, slots)] for found, values in every]
    each = np.array(rows).reshape(line.seeds, len(slots))
    return Band(slots, each.mean(axis=0), each.min(axis=0), each.max(axis=0))


def finite(slots: Sequence[float], values: Sequence[float]) -> tuple[FloatArray, FloatArray]:
    """Where something else than a number was measured, nothing was."""
    found = np.asarray(values, dtype=float)
    known = np.isfinite(found)
    return np.asarray(slots, dtype=float)[known], found[known]
