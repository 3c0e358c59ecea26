"""Accuracy over slots of several lines, each the mean over seeds with a band around it.

Lines that nearly coincide are told apart below: by how much each is ahead of the average of all.
"""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from flexpress.report.band import Band, BandLine, band_of, finite
from flexpress.report.band_labels import DASHES, colour_of, end_texts, inches_beside, label_ends
from flexpress.report.band_leads import LONG, WINDOW, draw_leads, slots_of_all
from flexpress.report.curve_axes import add_time, plain, scale_accuracy, scale_slots
from flexpress.report.theme import LIGHT, Theme

WIDTH, LEFT = 6.0, 0.6  # inches: of all, and of what stands left of the axes
UPPER, LOWER, BETWEEN = 2.7, 1.3, 0.2  # inches that the axes are high, and apart
LABEL = 0.18  # inches that a label is high: many of them need more than the upper axes usually have
BELOW, ABOVE = 0.5, 0.75  # inches
NARROWEST = 3.0  # inches of the axes, however long the labels are


def bands_figure(
    lines: Sequence[BandLine], slot_seconds: float, *, title: str = "", theme: Theme = LIGHT
) -> Figure:
    """Mean, lowest to highest and single seeds above; below, how far the means are apart."""
    bands = [band_of(line) for line in lines]
    with_lower = compared(bands) > 1
    figure = new_figure(len(lines), theme, with_lower=with_lower)
    beside = inches_beside(end_texts(lines, bands))
    upper, *lowers = new_axes(figure, beside, theme, with_lower=with_lower)
    for line, band in zip(lines, bands, strict=True):
        draw(upper, line, band, theme)
    scale(upper, lines, theme)
    add_time(upper, slot_seconds, theme)
    label_ends(upper, lines, bands, theme)
    for lower in lowers:
        upper.tick_params(axis="x", length=0, labelbottom=False)
        upper.set_xlabel("")
        draw_leads(lower, lines, bands, theme)
        lower.set_xlabel("slot", color=theme.ink)
    upper.set_title(title, loc="left", color=theme.ink, fontsize=11, pad=10, parse_math=False)
    return figure


def bands_caption(lines: Sequence[BandLine], dashed: str = "the clock counts whole slots") -> str:
    """What of it is what, and what dashed lines have in common."""
    parts = [f"Test accuracy of the global model{seeds_text(lines)}."]
    if any(line.seeds > 1 for line in lines):
        parts.append("The band reaches from the lowest to the highest seed; thin lines are seeds.")
    if any(line.dashed for line in lines):
        parts.append(f"Dashed: {dashed}.")
    points = compared([band_of(line) for line in lines])
    if points > 1:
        smooth = f", a running mean of {WINDOW} measurements" if points >= LONG else ""
        parts.append(f"Below: percentage points ahead of the average of all lines{smooth}.")
    return " ".join(parts)


def compared(bands: Sequence[Band]) -> int:
    """The number of slots at which lines can be compared: none if there is only one."""
    return len(slots_of_all(bands)) if len(bands) > 1 else 0


def seeds_text(lines: Sequence[BandLine]) -> str:
    fewest, most = (pick(line.seeds for line in lines) for pick in (min, max))
    if most == 1:
        return ""
    return f", mean of {most} seeds" if fewest == most else f", mean of {fewest} to {most} seeds"


def new_figure(lines: int, theme: Theme, *, with_lower: bool) -> Figure:
    height = BELOW + max(UPPER, LABEL * lines) + ABOVE + (LOWER + BETWEEN if with_lower else 0.0)
    figure = Figure(figsize=(WIDTH, height), facecolor=theme.paper)
    FigureCanvasAgg(figure)
    return figure


def new_axes(figure: Figure, beside: float, theme: Theme, *, with_lower: bool) -> list[Axes]:
    """One or two; as wide as the labels beside them leave room for."""
    height = figure.get_figheight()
    left, width = LEFT / WIDTH, max(WIDTH - LEFT - beside, NARROWEST) / WIDTH
    base = BELOW + LOWER + BETWEEN if with_lower else BELOW
    place = (left, base / height, width, (height - ABOVE - base) / height)
    upper = figure.add_axes(place, facecolor=theme.paper)
    axes = [upper]
    if with_lower:
        place = (left, BELOW / height, width, LOWER / height)
        axes.append(figure.add_axes(place, facecolor=theme.paper, sharex=upper))
    for ax in axes:
        plain(ax, theme)
    return axes


def draw(ax: Axes, line: BandLine, band: Band, theme: Theme) -> None:
    colour, style = colour_of(line, theme), DASHES if line.dashed else "-"
    if line.seeds > 1:
        ax.fill_between(band.slots, band.low, band.high, color=colour, alpha=0.13, linewidth=0)
        for course in line.courses:
            ax.plot(*finite(course), color=colour, alpha=0.45, linewidth=0.5, linestyle=style)
    (mean,) = ax.plot(band.slots, band.mean, label=line.label, color=colour, linestyle=style)
    mean.set(linewidth=1.7, marker="o" if len(band.slots) == 1 else "", zorder=3)


def scale(ax: Axes, lines: Sequence[BandLine], theme: Theme) -> None:
    """All that was measured has its place."""
    courses = [finite(course) for line in lines for course in line.courses]
    last = max((float(slots.max(initial=0.0)) for slots, _ in courses), default=0.0)
    scale_slots(ax, last, theme)
    scale_accuracy(ax, [per_cent for _, per_cent in courses if len(per_cent)], theme)
