"""Names beside the lines of a figure, and a thin line from each to its name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from flexpress.planning.colours import COLOURS
from flexpress.report.band import Band, BandLine
from flexpress.report.curve_labels import LINE, write_at, write_beside
from flexpress.report.names import columns
from flexpress.report.theme import Theme

SIZE, AWAY = 9.5, 18.0  # points: of letters, and from the frame to them
DASHES = (0, (3.5, 1.4))
LETTER = 0.58  # width of a letter on average, in font sizes
MOST_NAMED = 24
DOTTED: dict[str, Any] = {"linewidth": 0.7, "linestyle": (0, (1, 3)), "label": "_lead"}

Style = str | tuple[int, tuple[float, float]]


def colour_of(line: BandLine, theme: Theme) -> str:
    return theme.line(COLOURS[line.hue % len(COLOURS)])


def inches_beside(texts: Sequence[str]) -> float:
    """That the longest of them takes beside the axes."""
    return (AWAY + LETTER * SIZE * max(map(columns, texts), default=0)) / 72


def named_lines(bands: Sequence[Band]) -> list[int]:
    """All of them; of many those that end highest."""
    ends = [float(band.mean[-1]) if len(band.mean) else -np.inf for band in bands]
    best = sorted(range(len(bands)), key=lambda j: -ends[j])
    return sorted(best[:MOST_NAMED])


def end_texts(lines: Sequence[BandLine], bands: Sequence[Band]) -> list[str]:
    """The name, and what it came to in the end; also when, if it did not come as far as others."""
    last = max((band.slots[-1] for band in bands if len(band.slots)), default=0.0)
    return [end_text(line, band, last) for line, band in zip(lines, bands, strict=True)]


def end_text(line: BandLine, band: Band, last: float) -> str:
    if len(band.slots) == 0:
        return f"{line.label}: nothing measured"
    text = f"{line.label}  {band.mean[-1]:.1f} %"
    return text if band.slots[-1] == last else f"{text} at slot {band.slots[-1]:,.0f}"


def label_ends(ax: Axes, lines: Sequence[BandLine], bands: Sequence[Band], theme: Theme) -> None:
    """Beside the axes, whose scales are final; of many lines the best."""
    texts, shown = end_texts(lines, bands), named_lines(bands)
    colours = [colour_of(line, theme) for line in lines]
    words = [theme.words(colours[j]) for j in shown]
    ends = [float(band.mean[-1]) if len(band.mean) else ax.get_ylim()[0] for band in bands]
    named = [ends[j] for j in shown]
    places = write_beside(ax, [texts[j] for j in shown], words, named, size=SIZE, away=AWAY)
    for j, place in zip(shown, places, strict=True):
        if len(bands[j].slots):
            style = DASHES if lines[j].dashed else "-"
            lead_over(ax, colours[j], (bands[j].slots[-1], ends[j]), place, style)
    if len(shown) < len(lines):
        more = f"and {len(lines) - len(shown)} that end lower"
        lowest = min(places) - LINE * SIZE / (72 * ax.get_window_extent().height / ax.figure.dpi)
        write_at(ax, more, theme.grey, lowest, size=SIZE, away=AWAY)


def mark_early_ends(
    ax: Axes, lines: Sequence[BandLine], bands: Sequence[Band], theme: Theme
) -> None:
    """A cross where a line ends because a run of it was stopped, or diverged."""
    for line, band in zip(lines, bands, strict=True):
        if line.cut_short and len(band.slots):
            colour, end = colour_of(line, theme), (band.slots[-1], band.mean[-1])
            ax.scatter(*end, s=45, marker="x", color=colour, zorder=4, clip_on=False)


def lead_over(ax: Axes, colour: str, start: tuple[float, float], end: float, style: Style) -> None:
    """From the end of a line to a height at the words, as a part of that of the axes.

    Lines that end before the frame have a dotted one.
    """
    x, y = (ax.transData - ax.transAxes).transform(start)
    early = x < 1.0 - 1e-9
    if early:
        ax.plot([x, 1.0], [y, y], transform=ax.transAxes, color=colour, **DOTTED)
    points = 72 * ax.get_window_extent().height / ax.figure.dpi
    look = {"arrowstyle": "-", "color": colour, "linewidth": 0.9, "linestyle": style}
    ax.annotate(
        "",
        xy=(1.0, y),
        xycoords="axes fraction",
        xytext=(AWAY - 2, points * (end - y)),
        textcoords="offset points",
        arrowprops={**look, "shrinkA": 0, "shrinkB": 0 if early else 2},
        annotation_clip=False,
    )
