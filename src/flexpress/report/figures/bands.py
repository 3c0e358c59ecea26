"""Runs that differ only in their seed: their mean, and the band from the lowest to the highest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from flexpress.arrays import FloatArray

_WINDOW = 5  # measurements of a running mean
_LONG = 25  # measurements from which leads are running means

WHOLE_SLOTS = "the clock counts whole slots"
"""What dashed lines have in common, unless something else is said."""


@dataclass(frozen=True, eq=False)
class Course:
    """What one run measured at these slots: accuracies between 0 and 1, losses if known."""

    slots: Sequence[float]
    accuracies: Sequence[float]
    losses: Sequence[float] = ()


@dataclass(frozen=True, eq=False)
class BandLine:
    """One or more runs that differ only in their seed."""

    label: str
    courses: tuple[Course, ...]
    hue: int = 0  # index of its colour in the palette
    dashed: bool = False
    cut_short: bool = False  # whether one of its runs was stopped or diverged

    @property
    def seeds(self) -> int:
        return len(self.courses)

    @property
    def has_loss(self) -> bool:
        return any(len(loss(course)[0]) for course in self.courses)


@dataclass(frozen=True, eq=False)
class Band:
    """At the slots that all runs measured: it ends with the run that ends first."""

    slots: FloatArray  # (points,)
    mean: FloatArray  # (points,)
    low: FloatArray  # (points,)
    high: FloatArray  # (points,)


CourseValues = Callable[[Course], tuple[FloatArray, FloatArray]]
"""Takes the slots of a course, and the values measured there."""


def per_cent(course: Course) -> tuple[FloatArray, FloatArray]:
    slots, accuracies = _finite(course.slots, course.accuracies)
    return slots, 100 * accuracies


def loss(course: Course) -> tuple[FloatArray, FloatArray]:
    return _finite(course.slots[: len(course.losses)], course.losses)


def _finite(slots: Sequence[float], values: Sequence[float]) -> tuple[FloatArray, FloatArray]:
    """Without values that are infinite or not a number."""
    found = np.asarray(values, dtype=float)
    known = np.isfinite(found)
    return np.asarray(slots, dtype=float)[known], found[known]


def band_of(line: BandLine, quantity: CourseValues = per_cent) -> Band:
    every = [quantity(course) for course in line.courses]
    slots = reduce(np.intersect1d, [found for found, _ in every])
    rows = [values[np.searchsorted(found, slots)] for found, values in every]
    each = np.array(rows).reshape(line.seeds, len(slots))
    return Band(slots, each.mean(axis=0), each.min(axis=0), each.max(axis=0))


def end_texts(lines: Sequence[BandLine], bands: Sequence[Band]) -> list[str]:
    """The name and final accuracy of each line, and the slot if it ends before the others."""
    last = max((band.slots[-1] for band in bands if len(band.slots)), default=0.0)
    return [_end_text(line, band, last) for line, band in zip(lines, bands, strict=True)]


def _end_text(line: BandLine, band: Band, last: float) -> str:
    if len(band.slots) == 0:
        return f"{line.label}: nothing measured"
    text = f"{line.label}  {band.mean[-1]:.1f} %"
    return text if band.slots[-1] == last else f"{text} at slot {band.slots[-1]:,.0f}"


def bands_caption(
    lines: Sequence[BandLine], dashed: str = WHOLE_SLOTS, *, one: str = "seed"
) -> str:
    """Explains the parts of the figure; `dashed` is what dashed lines have in common.

    `one` is what the courses of a line are: seeds, or runs that differ in more.
    """
    parts = [f"Test accuracy of the global model{_seeds_text(lines, one)}."]
    if any(line.seeds > 1 for line in lines):
        parts.append(
            f"The band reaches from the lowest to the highest {one}; thin lines are {one}s."
        )
    if any(line.dashed for line in lines):
        parts.append(f"Dashed: {dashed}.")
    if any(line.cut_short for line in lines):
        parts.append("A cross is the end of a run that was stopped or diverged.")
    points = num_compared([band_of(line) for line in lines])
    if points > 1:
        smooth = f", a running mean of {_WINDOW} measurements" if points >= _LONG else ""
        parts.append(f"Below: percentage points ahead of the average of all lines{smooth}.")
    if any(line.has_loss for line in lines):
        parts.append("At the bottom: the test loss.")
    return " ".join(parts)


def _seeds_text(lines: Sequence[BandLine], one: str) -> str:
    fewest, most = (pick(line.seeds for line in lines) for pick in (min, max))
    if most == 1:
        return ""
    return f", mean of {most} {one}s" if fewest == most else f", mean of {fewest} to {most} {one}s"


def num_compared(bands: Sequence[Band]) -> int:
    """The number of slots at which lines can be compared; 0 for a single line."""
    return len(_common_slots(bands)) if len(bands) > 1 else 0


def leads_of(bands: Sequence[Band]) -> tuple[FloatArray, FloatArray]:
    """(points,) slots, and the lead of each line in percentage points, (lines, points)."""
    slots = _common_slots(bands)
    means = [band.mean[np.searchsorted(band.slots, slots)] for band in bands]
    if len(slots) >= _LONG:
        means = [_running_mean(mean) for mean in means]
    every = np.array(means).reshape(len(bands), len(slots))
    return slots, every - every.mean(axis=0)


def _common_slots(bands: Sequence[Band]) -> FloatArray:
    """The slots at which every line has a mean."""
    return reduce(np.intersect1d, [band.slots for band in bands])


def _running_mean(values: FloatArray) -> FloatArray:
    """Over a window around each value, cut off at both ends."""
    reach = _WINDOW // 2
    windows = [values[max(j - reach, 0) : j + reach + 1] for j in range(len(values))]
    return np.array([window.mean() for window in windows])
