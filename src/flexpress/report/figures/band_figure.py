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
    Quantity,
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
from flexpress.report.figures.style import LIGHT, Theme
from flexpress.report.texts import columns

WIDTH, LEFT = 6.0, 0.6  # inches: the figure, and the space left of the axes
UPPER, LOWER, BETWEEN = 2.7, 1.3, 0.2  # inches: heights of the axes, and the gap between them
LABEL = 0.18  # inches: height of a label; many labels make the upper axes higher
BELOW, ABOVE = 0.5, 0.75  # inches
NARROWEST = 3.0  # inches: least width of the axes
LONGEST = 40  # letters of a label

SETTLING = 0.1  # of all slots; earlier leads do not set the scale
LEAST_LEAD = 0.5  # percentage points; smaller leads should not look large
ROOM = 1.15  # of the largest lead

SIZE, AWAY = 9.5, 18.0  # points: font size of labels, and their distance from the frame
DASHES = (0, (3.5, 1.4))
LETTER = 0.58  # average width of a letter, in font sizes
MOST_NAMED = 24  # lines with a label
DOTTED: dict[str, Any] = {"linewidth": 0.7, "linestyle": (0, (1, 3)), "label": "_lead"}

Style = str | tuple[int, tuple[float, float]]


def bands_figure(
    lines: Sequence[BandLine], slot_seconds: float, *, title: str = "", theme: Theme = LIGHT
) -> Figure:
    """Mean, band and single seeds of each line; the leads of the lines; the loss."""
    lines = [
        replace(line, label=shown(line.label, f"line {number}", LONGEST))
        for number, line in enumerate(lines, start=1)
    ]
    bands = [band_of(line) for line in lines]
    with_leads, with_loss = num_compared(bands) > 1, any(line.has_loss for line in lines)
    num_lower = with_leads + with_loss
    figure = new_figure(WIDTH, height_of(len(lines), num_lower), theme)
    upper, *lowers = new_axes(figure, inches_beside(end_texts(lines, bands)), theme, num_lower)
    draw_all(upper, lines, per_cent, theme)
    scale(upper, lines, theme)
    add_time(upper, slot_seconds, theme)
    label_ends(upper, lines, bands, theme)
    if with_leads:
        draw_leads(lowers[0], lines, bands, theme)
    if with_loss:
        draw_loss(lowers[-1], lines, theme)
    finish([upper, *lowers], lines, theme)
    add_title(upper, title, theme)
    return figure


def height_of(num_lines: int, num_lower: int) -> float:
    labels = LABEL * min(num_lines, MOST_NAMED + 1)
    return BELOW + max(UPPER, labels) + ABOVE + num_lower * (LOWER + BETWEEN)


def new_axes(figure: Figure, beside: float, theme: Theme, num_lower: int) -> list[Axes]:
    """The upper axes, then the lower ones; the labels take `beside` inches at the right."""
    height = figure.get_figheight()
    left, width = LEFT / WIDTH, max(WIDTH - LEFT - beside, NARROWEST) / WIDTH
    base = BELOW + num_lower * (LOWER + BETWEEN)
    place = (left, base / height, width, (height - ABOVE - base) / height)
    upper = figure.add_axes(place, facecolor=theme.paper)
    axes = [upper]
    for number in range(1, num_lower + 1):
        place = (left, (base - number * (LOWER + BETWEEN)) / height, width, LOWER / height)
        axes.append(figure.add_axes(place, facecolor=theme.paper, sharex=upper))
    for ax in axes:
        plain(ax, theme)
    return axes


def draw_all(ax: Axes, lines: Sequence[BandLine], quantity: Quantity, theme: Theme) -> None:
    bands = [band_of(line, quantity) for line in lines]
    for line, band in zip(lines, bands, strict=True):
        draw(ax, line, band, quantity, theme)
    mark_early_ends(ax, lines, bands, theme)


def draw(ax: Axes, line: BandLine, band: Band, quantity: Quantity, theme: Theme) -> None:
    colour, style = colour_of(line, theme), DASHES if line.dashed else "-"
    if line.seeds > 1:
        ax.fill_between(band.slots, band.low, band.high, color=colour, alpha=0.13, linewidth=0)
        for course in line.courses:
            ax.plot(*quantity(course), color=colour, alpha=0.45, linewidth=0.5, linestyle=style)
    (mean,) = ax.plot(band.slots, band.mean, label=line.label, color=colour, linestyle=style)
    mean.set(linewidth=1.7, marker="o" if len(band.slots) == 1 else "", zorder=3)


def draw_leads(ax: Axes, lines: Sequence[BandLine], bands: Sequence[Band], theme: Theme) -> None:
    slots, leads = leads_of(bands)
    ax.axhline(0.0, color=theme.pale, linewidth=0.8)
    for line, lead in zip(lines, leads, strict=True):
        style = DASHES if line.dashed else "-"
        ax.plot(slots, lead, color=colour_of(line, theme), linewidth=1.3, linestyle=style)
    settled = leads[:, slots >= SETTLING * slots.max(initial=0.0)]
    largest = max(float(np.abs(settled).max(initial=0.0)), LEAST_LEAD)
    ax.set_ylim(-ROOM * largest, ROOM * largest)
    ax.set_ylabel("ahead (points)", color=theme.ink)


def draw_loss(ax: Axes, lines: Sequence[BandLine], theme: Theme) -> None:
    draw_all(ax, lines, loss, theme)
    scale_loss(ax, [values for _, values in measurements(lines, loss)], theme)


def measurements(
    lines: Sequence[BandLine], quantity: Quantity
) -> list[tuple[FloatArray, FloatArray]]:
    every = [quantity(course) for line in lines for course in line.courses]
    return [(slots, values) for slots, values in every if len(slots)]


def scale(ax: Axes, lines: Sequence[BandLine], theme: Theme) -> None:
    """Scale both axes so that every measurement fits."""
    found = measurements(lines, per_cent)
    scale_slots(ax, max((float(slots.max()) for slots, _ in found), default=0.0), theme)
    scale_accuracy(ax, [values for _, values in found], theme)


def finish(axes: Sequence[Axes], lines: Sequence[BandLine], theme: Theme) -> None:
    """Label the slots below the lowest axes only, and explain the crosses."""
    for ax in axes[:-1]:
        ax.tick_params(axis="x", length=0, labelbottom=False)
        ax.set_xlabel("")
    axes[-1].set_xlabel("slot", color=theme.ink)
    if any(line.cut_short for line in lines):
        explain_marks(axes[-1], [CROSS], theme)


def colour_of(line: BandLine, theme: Theme) -> str:
    return theme.line(COLOURS[line.hue % len(COLOURS)])


def inches_beside(texts: Sequence[str]) -> float:
    """The width of the longest text beside the axes."""
    return (AWAY + LETTER * SIZE * max(map(columns, texts), default=0)) / 72


def named_lines(bands: Sequence[Band]) -> list[int]:
    """The lines to label: the highest at the end if there are too many."""
    ends = [float(band.mean[-1]) if len(band.mean) else -np.inf for band in bands]
    best = sorted(range(len(bands)), key=lambda j: -ends[j])
    return sorted(best[:MOST_NAMED])


def label_ends(ax: Axes, lines: Sequence[BandLine], bands: Sequence[Band], theme: Theme) -> None:
    """Write the names beside the axes, whose scales must be final."""
    texts, shown = end_texts(lines, bands), named_lines(bands)
    colours = [colour_of(line, theme) for line in lines]
    words = [theme.words(colours[j]) for j in shown]
    ends = [float(band.mean[-1]) if len(band.mean) else ax.get_ylim()[0] for band in bands]
    named = [ends[j] for j in shown]
    places = write_beside(ax, [texts[j] for j in shown], words, named, size=SIZE, away=AWAY)
    for j, place in zip(shown, places, strict=True):
        if len(bands[j].slots):
            style = DASHES if lines[j].dashed else "-"
            connect(ax, colours[j], (bands[j].slots[-1], ends[j]), place, style)
    if len(shown) < len(lines):
        more = f"and {len(lines) - len(shown)} that end lower"
        lowest = min(places) - LINE * SIZE / height_in_points(ax)
        write_at(ax, more, theme.grey, lowest, size=SIZE, away=AWAY)


def mark_early_ends(
    ax: Axes, lines: Sequence[BandLine], bands: Sequence[Band], theme: Theme
) -> None:
    """A cross where a line ends because one of its runs was stopped or diverged."""
    for line, band in zip(lines, bands, strict=True):
        if line.cut_short and len(band.slots):
            colour, end = colour_of(line, theme), (band.slots[-1], band.mean[-1])
            ax.scatter(*end, s=45, marker="x", color=colour, zorder=4, clip_on=False)


def connect(ax: Axes, colour: str, start: tuple[float, float], end: float, style: Style) -> None:
    """Connect the end of a line with its label at the height `end`, a fraction of the axes.

    From lines that end before the frame, the connection is dotted up to the frame.
    """
    x, y = (ax.transData - ax.transAxes).transform(start)
    early = x < 1.0 - 1e-9
    if early:
        ax.plot([x, 1.0], [y, y], transform=ax.transAxes, color=colour, **DOTTED)
    look = {"arrowstyle": "-", "color": colour, "linewidth": 0.9, "linestyle": style}
    ax.annotate(
        "",
        xy=(1.0, y),
        xycoords="axes fraction",
        xytext=(AWAY - 2, height_in_points(ax) * (end - y)),
        textcoords="offset points",
        arrowprops={**look, "shrinkA": 0, "shrinkB": 0 if early else 2},
        annotation_clip=False,
    )
