"""Differences with their confidence intervals, over a quantity or side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from flexpress.planning.colours import COLOURS
from flexpress.report.figures.curve_axes import plain
from flexpress.report.figures.picture import new_figure
from flexpress.report.figures.style import DASHES, LIGHT, Theme

_WIDTH, _HEIGHT = 5.2, 2.8  # inches of the axes
_APART = 0.018  # of the width: series stand beside each other
_GROUP = 0.6  # of the distance of two names: all series of one
_MARGIN = 0.08  # of the width


@dataclass(frozen=True)
class IntervalPoint:
    x: float
    mean: float
    low: float | None = None  # None: there is no interval
    high: float | None = None


@dataclass(frozen=True)
class IntervalSeries:
    label: str
    points: tuple[IntervalPoint, ...]
    hue: int = 0  # index of its colour in the palette
    dashed: bool = False


def intervals_figure(
    series: Sequence[IntervalSeries],
    *,
    x_label: str,
    y_label: str,
    names: Sequence[str] = (),
    logarithmic: bool = False,
    theme: Theme = LIGHT,
) -> Figure:
    """Points with bars, connected unless x = 0, 1, 2, ... have `names`. Zero is a line."""
    figure = new_figure(_WIDTH, _HEIGHT, theme)
    ax = figure.add_axes((0.0, 0.0, 1.0, 1.0), facecolor=theme.paper)
    plain(ax, theme)
    ax.axhline(0.0, color=theme.grey, linewidth=0.9)
    _scale(ax, series, names, logarithmic=logarithmic)
    for number, each in enumerate(series):
        offset = (number - (len(series) - 1) / 2) * (_GROUP / len(series) if names else _APART)
        _draw(ax, each, offset, theme, connected=not names)
    ax.set_ylabel(y_label, color=theme.ink)
    if x_label:
        ax.set_xlabel(x_label, color=theme.ink)
    legend = ax.legend(
        loc="lower left", bbox_to_anchor=(0.0, 1.02), frameon=False, ncols=2, fontsize=9
    )
    for text in legend.get_texts():
        text.set_color(theme.ink)
    return figure


def _scale(
    ax: Axes, series: Sequence[IntervalSeries], names: Sequence[str], *, logarithmic: bool
) -> None:
    """Ticks where the points are."""
    places = sorted({point.x for each in series for point in each.points})
    if names:
        ax.set_xlim(-0.5, len(names) - 0.5)
        ax.set_xticks(range(len(names)), names)
        return
    if logarithmic:
        ax.set_xscale("log")
        first, last = places[0], places[-1]
        reach = (last / first) ** _MARGIN if last > first else 2.0
        ax.set_xlim(first / reach, last * reach)
    else:
        margin = _MARGIN * (places[-1] - places[0]) or 1.0
        ax.set_xlim(places[0] - margin, places[-1] + margin)
    ax.xaxis.set_major_locator(FixedLocator(places))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def _draw(
    ax: Axes, series: IntervalSeries, offset: float, theme: Theme, *, connected: bool
) -> None:
    """Moved aside by `offset`: of the axes' width, or of the distance of two names."""
    colour = theme.line(COLOURS[series.hue % len(COLOURS)])
    places = [_moved(ax, point.x, offset, connected=connected) for point in series.points]
    means = [point.mean for point in series.points]
    style = (DASHES if series.dashed else "-") if connected else "none"
    ax.plot(
        places, means, color=colour, linestyle=style, linewidth=1.4, marker="o", markersize=4.5,
        markerfacecolor=theme.paper if series.dashed else colour, label=series.label, zorder=3,
    )  # fmt: skip
    for place, point in zip(places, series.points, strict=True):
        if point.low is not None and point.high is not None:
            ax.vlines(place, point.low, point.high, color=colour, linewidth=1.4, zorder=2)


def _moved(ax: Axes, x: float, offset: float, *, connected: bool) -> float:
    if not connected:
        return x + offset
    to_axes = ax.transData - ax.transAxes
    return float(to_axes.inverted().transform((to_axes.transform((x, 0.0))[0] + offset, 0.0))[0])
