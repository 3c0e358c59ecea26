"""Axes of learning curves, with the names of the curves beside them.

`add_time` and `write_beside` read the limits of the axes: set the scales first.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from flexpress.arrays import FloatArray
from flexpress.report.figures.fonts import families, title_text
from flexpress.report.figures.style import LIGHT, Theme
from flexpress.report.texts import time_unit

_TICK_SIZE = 8.5
_STEPS = [1, 2, 5, 10]
_MARGIN = 0.04  # of the range of accuracies
_LEAST_SPAN = 2.0  # per cent; smaller differences in accuracy should not look large
DOT = "\N{BLACK CIRCLE} first update of the model"
CROSS = "\N{MULTIPLICATION SIGN} stopped or diverged"

_FONT_SIZE = 9.5
LINE = 1.35  # from one label to the next, in font sizes
_AWAY = 8.0  # points from the frame to the labels
_ROUNDS = 200  # of moving labels apart


def plain(ax: Axes, theme: Theme = LIGHT) -> None:
    """Only the left and bottom of the frame, and a faint horizontal grid."""
    ax.grid(axis="y", color=theme.faint, linewidth=0.8)
    ax.set_axisbelow(True)
    ax.tick_params(colors=theme.grey, labelsize=_TICK_SIZE)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(theme.pale)


def scale_slots(ax: Axes, last: float, theme: Theme = LIGHT) -> None:
    ax.set_xlim(0.0, last or 1.0)
    ax.xaxis.set_major_locator(MaxNLocator(9, steps=_STEPS, integer=True))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    ax.set_xlabel("slot", color=theme.ink)


def add_time(ax: Axes, slot: float, theme: Theme = LIGHT) -> None:
    """Add the simulated time as a second axis on top; `slot` is in seconds."""
    unit, seconds = time_unit(ax.get_xlim()[1] * slot)
    to_time, to_slots = partial(np.multiply, slot / seconds), partial(np.multiply, seconds / slot)
    time = ax.secondary_xaxis("top", functions=(to_time, to_slots))
    time.set_xlabel(f"simulated time ({unit})", color=theme.ink)
    time.xaxis.set_major_locator(MaxNLocator(9, steps=_STEPS))
    time.tick_params(colors=theme.grey, labelsize=_TICK_SIZE)
    time.spines["top"].set_color(theme.pale)


def scale_accuracy(ax: Axes, heights: Sequence[FloatArray], theme: Theme = LIGHT) -> None:
    low, high = _extent(heights, (0.0, 100.0))
    low = min(low, max((low + high - _LEAST_SPAN) / 2, 0.0))
    high = max(high, low + _LEAST_SPAN)
    margin = _MARGIN * (high - low)
    ax.set_ylim(low - margin, high + margin)
    ax.set_ylabel("test accuracy (%)", color=theme.ink)


def scale_loss(ax: Axes, heights: Sequence[FloatArray], theme: Theme = LIGHT) -> None:
    """Logarithmic if the losses span more than a factor of ten."""
    low, high = _extent(heights, (0.0, 1.0))
    if 0 < 10 * low < high:
        ax.set_yscale("log")
        ax.yaxis.set_minor_locator(NullLocator())
    if 0 < 10 * low < high < 1000 * low:
        ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    ax.set_ylabel("test loss", color=theme.ink)


def _extent(heights: Sequence[FloatArray], empty: tuple[float, float]) -> tuple[float, float]:
    """The smallest and largest height of all curves."""
    if not heights:
        return empty
    every = np.concatenate(heights)
    return float(every.min()), float(every.max())


def add_title(ax: Axes, title: str, theme: Theme = LIGHT) -> None:
    """Write the title at the left, without words that no font can draw."""
    text = title_text(title)
    heading = ax.set_title(text, loc="left", pad=10, fontsize=11, parse_math=False)
    heading.set(color=theme.ink, fontfamily=families(text))


def explain_marks(ax: Axes, marks: Sequence[str], theme: Theme = LIGHT) -> None:
    """Explain the marks on the lines below the axes."""
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


def write_beside(
    ax: Axes,
    texts: Sequence[str],
    colours: Sequence[str],
    ends: Sequence[float],
    *,
    size: float = _FONT_SIZE,
    away: float = _AWAY,
) -> list[float]:
    """Write each text to the right of the axes, at or near the height at which its curve ends.

    Returns the heights as fractions of the height of the axes.
    """
    places = _spread(_heights(ax, ends), LINE * size / height_in_points(ax))
    for text, colour, place in zip(texts, colours, places, strict=True):
        write_at(ax, text, colour, place, size=size, away=away)
    return places


def write_at(
    ax: Axes, text: str, colour: str, place: float, *, size: float = _FONT_SIZE, away: float = _AWAY
) -> None:
    """Write to the right of the axes, at this fraction of their height."""
    ax.annotate(
        text,
        (1.0, place),
        xycoords="axes fraction",
        xytext=(away, 0),
        textcoords="offset points",
        va="center",
        fontsize=size,
        fontfamily=families(text),
        color=colour,
        parse_math=False,
    )


def height_in_points(ax: Axes) -> float:
    return float(72 * ax.get_window_extent().height / ax.figure.dpi)


def _heights(ax: Axes, values: Sequence[float]) -> list[float]:
    """The heights of these values as fractions of the height of the axes."""
    data_to_axes = ax.transData - ax.transAxes
    return [float(data_to_axes.transform((0.0, value))[1]) for value in values]


def _spread(heights: Sequence[float], gap: float) -> list[float]:
    """The nearest heights that are at least a gap apart; close neighbours both move.

    They stay beside the axes if there is enough room.
    """
    places = np.array(heights, dtype=float)
    order = np.argsort(places, kind="stable")
    for _ in range(_ROUNDS):
        for below, above in pairwise(order):
            lack = max(gap - (places[above] - places[below]), 0.0)
            places[below] -= lack / 2
            places[above] += lack / 2
    highest, lowest = 1.0 - gap * np.arange(len(order))[::-1], gap * np.arange(len(order))
    if len(order) * gap <= 1.0:
        places[order] = np.maximum(np.minimum(places[order], highest), lowest)
    return [float(place) for place in places]
