"""Tours over time: a row per transporter, runs one below the other on one scale of slots."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from flexpress.report.curve_axes import scale_slots
from flexpress.report.palette import COLOURS
from flexpress.report.theme import LIGHT, Theme
from flexpress.report.timeline import Flight, Row, Timeline

WIDTH, LEFT, RIGHT = 6.5, 0.55, 0.1  # inches
ROW, BETWEEN = 0.3, 0.5  # inches that a row is high, and panels are apart
ABOVE, BELOW = 0.55, 0.85  # inches
MOST_ROWS = 12
BAR = 0.62  # of a row
TINT = 0.3  # of the colour in a bar
LETTER = 6.0  # points that a digit of a version takes
HATCH = "//////"
NOTE = (
    "bar: a flight, its number the version of the model aboard; ticks: clients are met\n"
    "hatched: on the ground, waiting; upright lines: the server has a new version of the model"
)


def timeline_figure(
    timelines: Sequence[Timeline],
    *,
    colours: Sequence[str] = COLOURS,
    title: str = "",
    theme: Theme = LIGHT,
) -> Figure:
    """Runs on slots of one length; `colours` are those of the transporters, 1 first."""
    shown = [timeline for timeline in timelines if timeline.rows]
    figure, axes = new_axes([min(len(timeline.rows), MOST_ROWS) for timeline in shown], theme)
    for ax, timeline in zip(axes, shown, strict=True):
        draw(ax, timeline, colours, theme)
    for ax in axes[:-1]:
        ax.tick_params(axis="x", labelbottom=False, length=0)
        ax.set_xlabel("")
    left = LEFT / WIDTH
    figure.text(left, 0.0, NOTE, fontsize=8, color=theme.grey, va="bottom", linespacing=1.4)
    figure.text(left, 1.0, title, fontsize=11, color=theme.ink, va="top", parse_math=False)
    return figure


def new_axes(rows: Sequence[int], theme: Theme) -> tuple[Figure, list[Axes]]:
    """A panel for each run, so high that all rows are alike."""
    height = ABOVE + BELOW + ROW * sum(rows) + BETWEEN * (len(rows) - 1)
    figure = Figure(figsize=(WIDTH, height), facecolor=theme.paper)
    FigureCanvasAgg(figure)
    width = (WIDTH - LEFT - RIGHT) / WIDTH
    axes, top = [], height - ABOVE
    for number in rows:
        place = (LEFT / WIDTH, (top - ROW * number) / height, width, ROW * number / height)
        axes.append(figure.add_axes(place, facecolor=theme.paper))
        top -= ROW * number + BETWEEN
    return figure, axes


def draw(ax: Axes, timeline: Timeline, colours: Sequence[str], theme: Theme) -> None:
    rows = timeline.rows[:MOST_ROWS]
    ax.set_ylim(len(rows) - 0.5, -0.5)
    scale_slots(ax, timeline.slots, theme)
    ax.set_xlabel(f"slot (of {timeline.slot_seconds:g} s)", color=theme.ink)
    points = 72 * (WIDTH - LEFT - RIGHT) / (timeline.slots * timeline.slot_seconds)
    for place, row in enumerate(rows):
        colour = colours[(row.transporter - 1) % len(colours)]
        for flight in row.flights:
            draw_flight(ax, place, flight, timeline, colour, points, theme)
    draw_updates(ax, timeline, points, theme)
    frame(ax, rows, colours, theme)
    more = len(timeline.rows) - len(rows)
    name = f"{timeline.name} (and {more} more transporters)" if more else timeline.name
    ax.set_ylabel(name, color=theme.ink, fontsize=10, parse_math=False)


def draw_flight(
    ax: Axes,
    place: int,
    flight: Flight,
    timeline: Timeline,
    colour: str,
    points: float,
    theme: Theme,
) -> None:
    """The bar with its ticks and number, and the wait behind it; `points` are those of a second."""
    slot, last = timeline.slot_seconds, timeline.slots * timeline.slot_seconds
    end = last if flight.end is None else flight.end
    line = theme.line(colour)
    beyond = timeline.slots if flight.end is None else 0.0  # its end is not to be seen
    bar = box(flight.start / slot, end / slot + beyond, place)
    bar.set(facecolor=theme.fill(colour, TINT), edgecolor=line, linewidth=0.8, zorder=2)
    ax.add_patch(bar)
    feet = place + BAR / 2
    visits = [second / slot for second in flight.visits]
    ax.vlines(visits, feet - 0.16, feet, color=line, linewidth=0.9, zorder=3)
    text = str(flight.version)
    if points * (end - flight.start) > LETTER * (len(text) + 1):
        middle = (flight.start + end) / 2 / slot
        ax.text(middle, place - 0.06, text, ha="center", va="center", fontsize=8, color=theme.ink)
    if flight.end is not None and flight.leaves is not None and flight.leaves > flight.end:
        wait = box(flight.end / slot, min(flight.leaves, last) / slot, place)
        wait.set(facecolor="none", edgecolor=theme.pale, hatch=HATCH, linewidth=0, zorder=1)
        ax.add_patch(wait)


def box(start: float, end: float, place: int) -> Rectangle:
    return Rectangle((start, place - BAR / 2), end - start, BAR)


def draw_updates(ax: Axes, timeline: Timeline, points: float, theme: Theme) -> None:
    """Lines through all rows; numbers above them where there is room."""
    free = 0.0
    for update in timeline.updates:
        slot = update.seconds / timeline.slot_seconds
        ax.axvline(slot, color=theme.grey, linewidth=0.7, zorder=1.5)
        text, width = str(update.version), LETTER * (len(str(update.version)) + 0.5)
        if points * update.seconds - width / 2 >= free:
            above = ax.get_xaxis_transform()
            number = ax.text(slot, 1.02, text, transform=above, ha="center", va="bottom")
            number.set(fontsize=7.5, color=theme.grey)
            free = points * update.seconds + width / 2


def frame(ax: Axes, rows: Sequence[Row], colours: Sequence[str], theme: Theme) -> None:
    """The number of the transporter before each row, in its colour."""
    numbers = [row.transporter for row in rows]
    ax.set_yticks(range(len(rows)), [str(number) for number in numbers])
    ax.tick_params(axis="y", length=0, labelsize=9)
    ax.tick_params(axis="x", colors=theme.grey, labelsize=8.5)
    for label, number in zip(ax.get_yticklabels(), numbers, strict=True):
        label.set(color=theme.words(colours[(number - 1) % len(colours)]), fontweight="bold")
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.spines["bottom"].set_color(theme.pale)
