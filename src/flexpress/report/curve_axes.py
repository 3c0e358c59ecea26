"""The axes of learning curves: slots and simulated time, accuracy, loss; no more ink than needed.

`add_time` and the labels of the curves read the limits: they come last.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from flexpress.arrays import FloatArray
from flexpress.report.fonts import families, title_text
from flexpress.report.numbers import time_unit
from flexpress.report.theme import LIGHT, Theme

TICK_SIZE = 8.5
STEPS = [1, 2, 5, 10]
MARGIN = 0.04  # of the span of accuracies
LEAST_SPAN = 2.0  # per cent: smaller differences in accuracy are not made to look large
DOT = "\N{BLACK CIRCLE} first update of the model"
CROSS = "\N{MULTIPLICATION SIGN} stopped or diverged"


def plain(ax: Axes, theme: Theme = LIGHT) -> None:
    """The frame's left and bottom, and a faint grid to read heights by."""
    ax.grid(axis="y", color=theme.faint, linewidth=0.8)
    ax.set_axisbelow(True)
    ax.tick_params(colors=theme.grey, labelsize=TICK_SIZE)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(theme.pale)


def scale_slots(ax: Axes, last: float, theme: Theme = LIGHT) -> None:
    ax.set_xlim(0.0, last or 1.0)
    ax.xaxis.set_major_locator(MaxNLocator(9, steps=STEPS, integer=True))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    ax.set_xlabel("slot", color=theme.ink)


def add_time(ax: Axes, slot: float, theme: Theme = LIGHT) -> None:
    """The axis on top: a slot has so many seconds."""
    unit, seconds = time_unit(ax.get_xlim()[1] * slot)
    to_time, to_slots = partial(np.multiply, slot / seconds), partial(np.multiply, seconds / slot)
    time = ax.secondary_xaxis("top", functions=(to_time, to_slots))
    time.set_xlabel(f"simulated time ({unit})", color=theme.ink)
    time.xaxis.set_major_locator(MaxNLocator(9, steps=STEPS))
    time.tick_params(colors=theme.grey, labelsize=TICK_SIZE)
    time.spines["top"].set_color(theme.pale)


def scale_accuracy(ax: Axes, heights: Sequence[FloatArray], theme: Theme = LIGHT) -> None:
    low, high = extent(heights, (0.0, 100.0))
    low = min(low, max((low + high - LEAST_SPAN) / 2, 0.0))
    high = max(high, low + LEAST_SPAN)
    margin = MARGIN * (high - low)
    ax.set_ylim(low - margin, high + margin)
    ax.set_ylabel("test accuracy (%)", color=theme.ink)


def scale_loss(ax: Axes, heights: Sequence[FloatArray], theme: Theme = LIGHT) -> None:
    """By powers of ten if they span more than one, and then with as many ticks as there is room."""
    low, high = extent(heights, (0.0, 1.0))
    if 0 < 10 * low < high:
        ax.set_yscale("log")
        ax.yaxis.set_minor_locator(NullLocator())
    if 0 < 10 * low < high < 1000 * low:
        ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    ax.set_ylabel("test loss", color=theme.ink)


def extent(heights: Sequence[FloatArray], empty: tuple[float, float]) -> tuple[float, float]:
    """Smallest and largest height of all curves."""
    if not heights:
        return empty
    every = np.concatenate(heights)
    return float(every.min()), float(every.max())


def add_title(ax: Axes, title: str, theme: Theme = LIGHT) -> None:
    """At the left; words that no font can write are left out."""
    text = title_text(title)
    heading = ax.set_title(text, loc="left", pad=10, fontsize=11, parse_math=False)
    heading.set(color=theme.ink, fontfamily=families(text))


def explain_marks(ax: Axes, marks: Sequence[str], theme: Theme = LIGHT) -> None:
    """Below the axes, what the marks on the lines mean."""
    ax.annotate(
        "    ".join(marks),
        (1.0, 0.0),
        xycoords="axes fraction",
        xytext=(0, -28),
        textcoords="offset points",
        ha="right",
        fontsize=8,
        color=theme.grey,
    )
