"""A line of a figure over several seeds: their mean, and from the lowest to the highest of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Course:
    """What one run measured: accuracies between 0 and 1, at these slots."""

    slots: Sequence[float]
    accuracies: Sequence[float]


@dataclass(frozen=True, eq=False)
class BandLine:
    """Runs that differ in their seed only, under one name."""

    label: str
    courses: tuple[Course, ...]
    hue: int = 0  # its colour: which of the palette's
    dashed: bool = False

    @property
    def seeds(self) -> int:
        return len(self.courses)


@dataclass(frozen=True, eq=False)
class Band:
    """In per cent, at the slots that all runs have measured: one that ended early ends it."""

    slots: FloatArray  # (points,)
    mean: FloatArray  # (points,)
    low: FloatArray  # (points,)
    high: FloatArray  # (points,)


def band_of(line: BandLine) -> Band:
    slots = common_slots(line.courses)
    each = np.array([at(course, slots) for course in line.courses]).reshape(line.seeds, len(slots))
    return Band(slots, each.mean(axis=0), each.min(axis=0), each.max(axis=0))


def common_slots(courses: Sequence[Course]) -> FloatArray:
    """In their order; where something else than a number was measured, nothing was."""
    measured = [finite(course)[0] for course in courses]
    return reduce(np.intersect1d, measured)


def at(course: Course, slots: FloatArray) -> FloatArray:
    """Per cent at these of its slots."""
    found, per_cent = finite(course)
    return per_cent[np.searchsorted(found, slots)]


def finite(course: Course) -> tuple[FloatArray, FloatArray]:
    """Slots and per cent of what was measured."""
    slots = np.asarray(course.slots, dtype=float)
    per_cent = 100 * np.asarray(course.accuracies, dtype=float)
    known = np.isfinite(per_cent)
    return slots[known], per_cent[known]
