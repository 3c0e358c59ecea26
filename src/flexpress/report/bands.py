"""Accuracy over slots of several lines, each the mean over seeds with a band around it.

Lines that nearly coincide are told apart below: by how much each is ahead of the average of all.
Below that is the loss, if it is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from flexpress.arrays import FloatArray
from flexpress.report.band import Band, BandLine, Measured, band_of, loss, per_cent
from flexpress.report.band_labels import (
    DASHES,
    MOST_NAMED,
    colour_of,
    end_texts,
    inches_beside,
    label_ends,
    mark_early_ends,
)
from flexpress.report.band_leads import LONG, WINDOW, draw_leads, slots_of_all
from flexpress.report.curve_axes import (
    CROSS,
    add_time,
    add_title,
    explain_marks,
    plain,
    scale_accuracy,
    scale_loss,
    scale_slots,
)
from flexpress.report.fonts import shown
from flexpress.report.theme import LIGHT, Theme

WIDTH, LEFT = 6.0, 0.6  # inches: of all, and of what stands left of the axes
UPPER, LOWER, BETWEEN = 2.7, 1.3, 0.2  # inches that the axes are high, and apart
LABEL = 0.18  # inches that a label is high: many of them need more than the upper axes usually have
BELOW, ABOVE = 0.5, 0.75  # inches
NARROWEST = 3.0  # inches of the axes, however long the labels are
LONGEST = 40  # letters of a label


def bands_figure(
    lines: Sequence[BandLine], slot_seconds: float, *, title: str = "", theme: Theme = LIGHT
) -> Figure:
    """Mean, lowest to highest and single seeds; how far the means are apart; the loss."""
    lines = [replace(each, label=drawn(each.label, j)) for j, each in enumerate(lines, start=1)]
    bands = [band_of(line) for line in lines]
    with_leads, with_loss = compared(bands) > 1, any(map(has_loss, lines))
    figure = new_figure(len(lines), theme, lowers=with_leads + with_loss)
    beside = inches_beside(end_texts(lines, bands))
    upper, *lowers = new_axes(figure, beside, theme, lowers=with_leads + with_loss)
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


def drawn(label: str, number: int) -> str:
    return shown(label, f"line {number}", LONGEST)


def has_loss(line: BandLine) -> bool:
    return any(len(loss(course)[0]) for course in line.courses)


def bands_caption(lines: Sequence[BandLine], dashed: str = "the clock counts whole slots") -> str:
    """What of it is what, and what dashed lines have in common."""
    parts = [f"Test accuracy of the global model{seeds_text(lines)}."]
    if any(line.seeds > 1 for line in lines):
        parts.append("The band reaches from the lowest to the highest seed; thin lines are seeds.")
    if any(line.dashed for line in lines):
        parts.append(f"Dashed: {dashed}.")
    if any(line.cut_short for line in lines):
        parts.append("A cross is the end of a run that was stopped or diverged.")
    points = compared([band_of(line) for line in lines])
    if points > 1:
        smooth = f", a running mean of {WINDOW} measurements" if points >= LONG else ""
        parts.append(f"Below: percentage points ahead of the average of all lines{smooth}.")
    if any(map(has_loss, lines)):
        parts.append("At the bottom: the test loss.")
    return " ".join(parts)


def compared(bands: Sequence[Band]) -> int:
    """The number of slots at which lines can be compared: none if there is only one."""
    return len(slots_of_all(bands)) if len(bands) > 1 else 0


def seeds_text(lines: Sequence[BandLine]) -> str:
    fewest, most = (pick(line.seeds for line in lines) for pick in (min, max))
    if most == 1:
        return ""
    return f", mean of {most} seeds" if fewest == most else f", mean of {fewest} to {most} seeds"


def new_figure(lines: int, theme: Theme, *, lowers: int) -> Figure:
    labels = LABEL * min(lines, MOST_NAMED + 1)
    height = BELOW + max(UPPER, labels) + ABOVE + lowers * (LOWER + BETWEEN)
    figure = Figure(figsize=(WIDTH, height), facecolor=theme.paper)
    FigureCanvasAgg(figure)
    return figure


def new_axes(figure: Figure, beside: float, theme: Theme, *, lowers: int) -> list[Axes]:
    """The upper, and so many lower ones; as wide as the labels beside them leave room for."""
    height = figure.get_figheight()
    left, width = LEFT / WIDTH, max(WIDTH - LEFT - beside, NARROWEST) / WIDTH
    base = BELOW + lowers * (LOWER + BETWEEN)
    place = (left, base / height, width, (height - ABOVE - base) / height)
    upper = figure.add_axes(place, facecolor=theme.paper)
    axes = [upper]
    for number in range(1, lowers + 1):
        place = (left, (base - number * (LOWER + BETWEEN)) / height, width, LOWER / height)
        axes.append(figure.add_axes(place, facecolor=theme.paper, sharex=upper))
    for ax in axes:
        plain(ax, theme)
    return axes


def draw_all(ax: Axes, lines: Sequence[BandLine], measured: Measured, theme: Theme) -> None:
    bands = [band_of(line, measured) for line in lines]
    for line, band in zip(lines, bands, strict=True):
        draw(ax, line, band, measured, theme)
    mark_early_ends(ax, lines, bands, theme)


def draw(ax: Axes, line: BandLine, band: Band, measured: Measured, theme: Theme) -> None:
    colour, style = colour_of(line, theme), DASHES if line.dashed else "-"
    if line.seeds > 1:
        ax.fill_between(band.slots, band.low, band.high, color=colour, alpha=0.13, linewidth=0)
        for course in line.courses:
            ax.plot(*measured(course), color=colour, alpha=0.45, linewidth=0.5, linestyle=style)
    (mean,) = ax.plot(band.slots, band.mean, label=line.label, color=colour, linestyle=style)
    mean.set(linewidth=1.7, marker="o" if len(band.slots) == 1 else "", zorder=3)


def draw_loss(ax: Axes, lines: Sequence[BandLine], theme: Theme) -> None:
    draw_all(ax, lines, loss, theme)
    scale_loss(ax, [values for _, values in measurements(lines, loss)], theme)


def measurements(
    lines: Sequence[BandLine], measured: Measured
) -> list[tuple[FloatArray, FloatArray]]:
    every = [measured(course) for line in lines for course in line.courses]
    return [(slots, values) for slots, values in every if len(slots)]


def scale(ax: Axes, lines: Sequence[BandLine], theme: Theme) -> None:
    """All that was measured has its place."""
    found = measurements(lines, per_cent)
    scale_slots(ax, max((float(slots.max()) for slots, _ in found), default=0.0), theme)
    scale_accuracy(ax, [values for _, values in found], theme)


def finish(axes: Sequence[Axes], lines: Sequence[BandLine], theme: Theme) -> None:
    """Slots are written below the lowest axes only, and what the crosses mean."""
    for ax in axes[:-1]:
        ax.tick_params(axis="x", length=0, labelbottom=False)
        ax.set_xlabel("")
    axes[-1].set_xlabel("slot", color=theme.ink)
    if any(line.cut_short for line in lines):
        explain_marks(axes[-1], [CROSS], theme)
