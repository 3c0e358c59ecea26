"""Names beside the lines of a figure, and a thin line from each to its name."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from flexpress.planning.colours import COLOURS
from flexpress.report.band import Band, BandLine
from flexpress.report.curve_labels import heights, write_beside
from flexpress.report.theme import Theme

SIZE, AWAY = 9.5, 18.0  # points: of letters, and from the frame to them
DASHES = (0, (3.5, 1.4))
LETTER = 0.58  # width of a letter on average, in font sizes

Style = str | tuple[int, tuple[float, float]]


def colour_of(line: BandLine, theme: Theme) -> str:
    return theme.line(COLOURS[line.hue % len(COLOURS)])


def inches_beside(texts: Sequence[str]) -> float:
    """That the longest of them takes beside the axes."""
    return (AWAY + LETTER * SIZE * max(map(len, texts), default=0)) / 72


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
    """Beside the axes, whose scales are final; a cross marks an early end."""
    colours = [colour_of(line, theme) for line in lines]
    words = [theme.words(colour) for colour in colours]
    ends = [float(band.mean[-1]) if len(band.mean) else ax.get_ylim()[0] for band in bands]
    places = write_beside(ax, end_texts(lines, bands), words, ends, size=SIZE, away=AWAY)
    last = ax.get_xlim()[1]
    starts = heights(ax, ends)
    for line, colour, band, start, end in zip(lines, colours, bands, starts, places, strict=True):
        if len(band.slots) and band.slots[-1] < last:
            ax.scatter(band.slots[-1], band.mean[-1], s=45, marker="x", color=colour, zorder=4)
        elif len(band.slots):
            lead_over(ax, colour, start, end, DASHES if line.dashed else "-")


def lead_over(ax: Axes, colour: str, start: float, end: float, style: Style) -> None:
    """From a height at the frame to another at the words, both as parts of that of the axes."""
    points = 72 * ax.get_window_extent().height / ax.figure.dpi
    look = {"arrowstyle": "-", "color": colour, "linewidth": 0.9, "linestyle": style}
    ax.annotate(
        "",
        xy=(1.0, start),
        xycoords="axes fraction",
        xytext=(AWAY - 2, points * (end - start)),
        textcoords="offset points",
        arrowprops={**look, "shrinkA": 0, "shrinkB": 2},
        annotation_clip=False,
    )
