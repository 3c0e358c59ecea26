"""Accuracy over slots: each line is the mean over seeds with a band around it.

Below it, the lead of each line over the average of all, to tell close lines apart. At the bottom,
the loss, if it is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from flexpress.arrays import FloatArray
from flexpress.planning.colours import COLOURS
from flexpress.report.figures.bands import (
    Band,
    BandLine,
    CourseValues,
    band_of,
    end_texts,
    leads_of,
    loss,
    num_compared,
    per_cent,
)
from flexpress.report.figures.curve_axes import (
    CROSS,
    LINE,
    add_time,
    add_title,
    explain_marks,
    height_in_points,
    plain,
    scale_accuracy,
    scale_loss,
    scale_slots,
    write_at,
    write_beside,
)
from flexpress.report.figures.fonts import shown
from flexpress.report.figures.picture import new_figure
from flexpress.report.figures.style import DASHES, LIGHT, LineStyle, Theme
from flexpress.report.texts import columns

_WIDTH, _LEFT = 6.0, 0.6  # inches: the figure, and the space left of the axes
_UPPER, _LOWER, _BETWEEN = 2.7, 1.3, 0.2  # inches: heights of the axes, and the gap between them
_LABEL = 0.18  # inches: height of a label; many labels make the upper axes higher
_BELOW, _ABOVE = 0.5, 0.75  # inches
_NARROWEST = 3.0  # inches: least width of the axes
_LONGEST = 40  # letters of a label

_SETTLING = 0.1  # of all slots; earlier leads do not set the scale
_LEAST_LEAD = 0.5  # percentage points; smaller leads should not look large
_ROOM = 1.15  # of the largest lead

_SIZE, _AWAY = 9.5, 18.0  # points: font size of labels, and their distance from the frame
_LETTER = 0.58  # average width of a letter, in font sizes
_MOST_NAMED = 24  # lines with a label
_DOTTED: dict[str, Any] = {"linewidth": 0.7, "linestyle": (0, (1, 3)), "label": "_lead"}


def bands_figure(
    lines: Sequence[BandLine], slot_seconds: float, *, title: str = "", theme: Theme = LIGHT
) -> Figure:
    """Mean, band and single seeds of each line; the leads of the lines; the loss."""
    lines = [
        replace(line, label=shown(line.label, f"line {number}", _LONGEST))
        for number, line in enumerate(lines, start=1)
    ]
    bands = [band_of(line) for line in lines]
    with_leads, with_loss = num_compared(bands) > 1, any(line.has_loss for line in lines)
    num_lower = with_leads + with_loss
    figure = new_figure(_WIDTH, _height_of(len(lines), num_lower), theme)
    upper, *lowers = _new_axes(figure, _inches_beside(end_texts(lines, bands)), theme, num_lower)
    _draw_all(upper, lines, per_cent, theme)
    _scale(upper, lines, theme)
    add_time(upper, slot_seconds, theme)
    _label_ends(upper, lines, bands, theme)
    if with_leads:
        _draw_leads(lowers[0], lines, bands, theme)
    if with_loss:
        _draw_loss(lowers[-1], lines, theme)
    _finish([upper, *lowers], lines, theme)
    add_title(upper, title, theme)
    return figure


def _height_of(num_lines: int, num_lower: int) -> float:
    labels = _LABEL * min(num_lines, _MOST_NAMED + 1)
    return _BELOW + max(_UPPER, labels) + _ABOVE + num_lower * (_LOWER + _BETWEEN)


def _new_axes(figure: Figure, beside: float, theme: Theme, num_lower: int) -> list[Axes]:
    """The upper axes, then the lower ones; the labels take `beside` inches at the right."""
    height = figure.get_figheight()
    left, width = _LEFT / _WIDTH, max(_WIDTH - _LEFT - beside, _NARROWEST) / _WIDTH
    base = _BELOW + num_lower * (_LOWER + _BETWEEN)
    place = (left, base / height, width, (height - _ABOVE - base) / height)
    upper = figure.add_axes(place, facecolor=theme.paper)
    axes = [upper]
    for number in range(1, num_lower + 1):
        place = (left, (base - number * (_LOWER + _BETWEEN)) / height, width, _LOWER / height)
        axes.append(figure.add_axes(place, facecolor=theme.paper, sharex=upper))
    for ax in axes:
        plain(ax, theme)
    return axes


def _draw_all(ax: Axes, lines: Sequence[BandLine], quantity: CourseValues, theme: Theme) -> None:
    bands = [band_of(line, quantity) for line in lines]
    for line, band in zip(lines, bands, strict=True):
        _draw(ax, line, band, quantity, theme)
    _mark_early_ends(ax, lines, bands, theme)


def _draw(ax: Axes, line: BandLine, band: Band, quantity: CourseValues, theme: Theme) -> None:
    colour, style = _colour_of(line, theme), DASHES if line.dashed else "-"
    if line.seeds > 1:
        ax.fill_between(band.slots, band.low, band.high, color=colour, alpha=0.13, linewidth=0)
        for course in line.courses:
            ax.plot(*quantity(course), color=colour, alpha=0.45, linewidth=0.5, linestyle=style)
    (mean,) = ax.plot(band.slots, band.mean, label=line.label, color=colour, linestyle=style)
    mean.set(linewidth=1.7, marker="o" if len(band.slots) == 1 else "", zorder=3)


def _draw_leads(ax: Axes, lines: Sequence[BandLine], bands: Sequence[Band], theme: Theme) -> None:
    slots, leads = leads_of(bands)
    ax.axhline(0.0, color=theme.pale, linewidth=0.8)
    for line, lead in zip(lines, leads, strict=True):
        style = DASHES if line.dashed else "-"
        ax.plot(slots, lead, color=_colour_of(line, theme), linewidth=1.3, linestyle=style)
    settled = leads[:, slots >= _SETTLING * slots.max(initial=0.0)]
    largest = max(float(np.abs(settled).max(initial=0.0)), _LEAST_LEAD)
    ax.set_ylim(-_ROOM * largest, _ROOM * largest)
    ax.set_ylabel("ahead (points)", color=theme.ink)


def _draw_loss(ax: Axes, lines: Sequence[BandLine], theme: Theme) -> None:
    _draw_all(ax, lines, loss, theme)
    scale_loss(ax, [values for _, values in _measurements(lines, loss)], theme)


def _measurements(
    lines: Sequence[BandLine], quantity: CourseValues
) -> list[tuple[FloatArray, FloatArray]]:
    every = [quantity(course) for line in lines for course in line.courses]
    return [(slots, values) for slots, values in every if len(slots)]


def _scale(ax: Axes, lines: Sequence[BandLine], theme: Theme) -> None:
    """Scale both axes so that every measurement fits."""
    found = _measurements(lines, per_cent)
    scale_slots(ax, max((float(slots.max()) for slots, _ in found), default=0.0), theme)
    scale_accuracy(ax, [values for _, values in found], theme)


def _finish(axes: Sequence[Axes], lines: Sequence[BandLine], theme: Theme) -> None:
    """Label the slots below the lowest axes only, and explain the crosses."""
    for ax in axes[:-1]:
        ax.tick_params(axis="x", length=0, labelbottom=False)
        ax.set_xlabel("")
    axes[-1].set_xlabel("slot", color=theme.ink)
    if any(line.cut_short for line in lines):
        explain_marks(axes[-1], [CROSS], theme)


def _colour_of(line: BandLine, theme: Theme) -> str:
    return theme.line(COLOURS[line.hue % len(COLOURS)])


def _inches_beside(texts: Sequence[str]) -> float:
    """The width of the longest text beside the axes."""
    return (_AWAY + _LETTER * _SIZE * max(map(columns, texts), default=0)) / 72


def _named_lines(bands: Sequence[Band]) -> list[int]:
    """The lines to label: the highest at the end if there are too many."""
    ends = [float(band.mean[-1]) if len(band.mean) else -np.inf for band in bands]
    best = sorted(range(len(bands)), key=lambda j: -ends[j])
    return sorted(best[:_MOST_NAMED])


def _label_ends(ax: Axes, lines: Sequence[BandLine], bands: Sequence[Band], theme: Theme) -> None:
    """Write the names beside the axes, whose scales must be final."""
    texts, shown = end_texts(lines, bands), _named_lines(bands)
    colours = [_colour_of(line, theme) for line in lines]
    words = [theme.words(colours[j]) for j in shown]
    ends = [float(band.mean[-1]) if len(band.mean) else ax.get_ylim()[0] for band in bands]
    named = [ends[j] for j in shown]
    places = write_beside(ax, [texts[j] for j in shown], words, named, size=_SIZE, away=_AWAY)
    for j, place in zip(shown, places, strict=True):
        if len(bands[j].slots):
            style = DASHES if lines[j].dashed else "-"
            _connect(ax, colours[j], (bands[j].slots[-1], ends[j]), place, style)
    if len(shown) < len(lines):
        more = f"and {len(lines) - len(shown)} that end lower"
        lowest = min(places) - LINE * _SIZE / height_in_points(ax)
        write_at(ax, more, theme.grey, lowest, size=_SIZE, away=_AWAY)


def _mark_early_ends(
    ax: Axes, lines: Sequence[BandLine], bands: Sequence[Band], theme: Theme
) -> None:
    """A cross where a line ends because one of its runs was stopped or diverged."""
    for line, band in zip(lines, bands, strict=True):
        if line.cut_short and len(band.slots):
            colour, end = _colour_of(line, theme), (band.slots[-1], band.mean[-1])
            ax.scatter(*end, s=45, marker="x", color=colour, zorder=4, clip_on=False)


def _connect(
    ax: Axes, colour: str, start: tuple[float, float], end: float, style: LineStyle
) -> None:
    """Connect the end of a line with its label at the height `end`, a fraction of the axes.

    From lines that end before the frame, the connection is dotted up to the frame.
    """
    x, y = (ax.transData - ax.transAxes).transform(start)
    early = x < 1.0 - 1e-9
    if early:
        ax.plot([x, 1.0], [y, y], transform=ax.transAxes, color=colour, **_DOTTED)
    look = {"arrowstyle": "-", "color": colour, "linewidth": 0.9, "linestyle": style}
    ax.annotate(
        "",
        xy=(1.0, y),
        xycoords="axes fraction",
        xytext=(_AWAY - 2, height_in_points(ax) * (end - y)),
        textcoords="offset points",
        arrowprops={**look, "shrinkA": 0, "shrinkB": 0 if early else 2},
        annotation_clip=False,
    )
