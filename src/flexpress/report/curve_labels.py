"""Names beside learning curves, at the height of their ends and never over each other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes

from flexpress.report.curve import Curve
from flexpress.report.fonts import families
from flexpress.report.palette import ALGORITHMS

FONT_SIZE = 9.5
LINE = 1.35  # from one label to the next, in font sizes
AWAY = 8.0  # points from the frame to its labels
ROUNDS = 200


def label_curves(ax: Axes, curves: Sequence[Curve], ends: Sequence[float]) -> None:
    """To the right of the axes: the algorithm, and what it came to, in per cent."""
    texts = [label_text(curve, end) for curve, end in zip(curves, ends, strict=True)]
    write_beside(ax, texts, [ALGORITHMS[curve.algorithm] for curve in curves], ends)


def write_beside(
    ax: Axes,
    texts: Sequence[str],
    colours: Sequence[str],
    ends: Sequence[float],
    *,
    size: float = FONT_SIZE,
    away: float = AWAY,
) -> list[float]:
    """To the right of the axes, each at the height at which its curve ends, or near it.

    Tells the heights, as parts of that of the axes.
    """
    points = 72 * ax.get_window_extent().height / ax.figure.dpi
    places = spread(heights(ax, ends), LINE * size / points)
    for text, colour, place in zip(texts, colours, places, strict=True):
        write_at(ax, text, colour, place, size=size, away=away)
    return places


def write_at(
    ax: Axes, text: str, colour: str, place: float, *, size: float = FONT_SIZE, away: float = AWAY
) -> None:
    """To the right of the axes, at a part of their height."""
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


def heights(ax: Axes, values: Sequence[float]) -> list[float]:
    """Of these values, as parts of the height of the axes."""
    data_to_axes = ax.transData - ax.transAxes
    return [float(data_to_axes.transform((0.0, value))[1]) for value in values]


def label_text(curve: Curve, end: float) -> str:
    text = f"{curve.algorithm}  {end:.1f} %"
    return text if curve.complete else f"{text} at slot {curve.slots[-1]:,.0f}"


def spread(heights: Sequence[float], gap: float) -> list[float]:
    """The nearest places that are a gap apart: neighbours that are too close give way alike.

    All of them are beside the axes, if these are high enough.
    """
    places = np.array(heights, dtype=float)
    order = np.argsort(places, kind="stable")
    for _ in range(ROUNDS):
        for below, above in pairwise(order):
            lack = max(gap - (places[above] - places[below]), 0.0)
            places[below] -= lack / 2
            places[above] += lack / 2
    highest, lowest = 1.0 - gap * np.arange(len(order))[::-1], gap * np.arange(len(order))
    if len(order) * gap <= 1.0:
        places[order] = np.maximum(np.minimum(places[order], highest), lowest)
    return [float(place) for place in places]
