"""By how much each line of a figure is ahead of the average of all: near ones told apart."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np
from matplotlib.axes import Axes

from flexpress.arrays import FloatArray
from flexpress.report.band import Band, BandLine
from flexpress.report.band_labels import DASHES, colour_of
from flexpress.report.theme import Theme

SETTLING = 0.1  # of all slots: differences before do not set the scale
LEAST = 0.5  # points: smaller differences are not made to look large
ROOM = 1.15  # of the largest difference
WINDOW = 5  # measurements that a difference is averaged over
LONG = 25  # measurements from which it is


def draw_leads(ax: Axes, lines: Sequence[BandLine], bands: Sequence[Band], theme: Theme) -> None:
    """At the slots that all of them have; of long ones a running mean."""
    slots, leads = leads_of(bands)
    ax.axhline(0.0, color=theme.pale, linewidth=0.8)
    for line, lead in zip(lines, leads, strict=True):
        style = DASHES if line.dashed else "-"
        ax.plot(slots, lead, color=colour_of(line, theme), linewidth=1.3, linestyle=style)
    settled = leads[:, slots >= SETTLING * slots.max(initial=0.0)]
    largest = max(float(np.abs(settled).max(initial=0.0)), LEAST)
    ax.set_ylim(-ROOM * largest, ROOM * largest)
    ax.set_ylabel("ahead (points)", color=theme.ink)


def leads_of(bands: Sequence[Band]) -> tuple[FloatArray, FloatArray]:
    """(points,) slots, and (lines, points) percentage points."""
    slots = slots_of_all(bands)
    means = [band.mean[np.searchsorted(band.slots, slots)] for band in bands]
    if len(slots) >= LONG:
        means = [running_mean(mean) for mean in means]
    every = np.array(means).reshape(len(bands), len(slots))
    return slots, every - every.mean(axis=0)


def slots_of_all(bands: Sequence[Band]) -> FloatArray:
    """Those at which every line has a mean."""
    return reduce(np.intersect1d, [band.slots for band in bands])


def running_mean(values: FloatArray) -> FloatArray:
    """Over a window around each, which is cut at both ends."""
    reach = WINDOW // 2
    windows = [values[max(j - reach, 0) : j + reach + 1] for j in range(len(values))]
    return np.array([window.mean() for window in windows])
