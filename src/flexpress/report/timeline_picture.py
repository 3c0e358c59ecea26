"""Tours over time: a row per transporter, runs one below the other on one scale of slots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from flexpress.planning.colours import COLOURS
from flexpress.report.curve_axes import scale_slots
from flexpress.report.fonts import families, shown, title_text
from flexpress.report.theme import LIGHT, Theme
from flexpress.report.timeline import Flight, Row, Timeline

WIDTH, LEFT, RIGHT = 6.0, 0.5, 0.1  # inches
ROW, BETWEEN = 0.3, 0.5  # inches that a row is high, and panels are apart
ABOVE, BELOW = 0.55, 0.85  # inches
MOST_ROWS = 12
BAR, TICK = 0.62, 0.16  # heights of a flight and of a visit, of a row
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
        draw(Panel(ax, timeline, theme), colours)
    for ax in axes[:-1]:
        ax.tick_params(axis="x", labelbottom=False, length=0)
        ax.set_xlabel("")
    left = LEFT / WIDTH
    figure.text(left, 0.0, NOTE, fontsize=8, color=theme.grey, va="bottom", linespacing=1.4)
    heading = figure.text(left, 1.0, title_text(title), fontsize=11, va="top", parse_math=False)
    heading.set(color=theme.ink, fontfamily=families(heading.get_text()))
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


@dataclass(frozen=True, eq=False)
class Panel:
    """Where one run is drawn."""

    ax: Axes
    timeline: Timeline
    theme: Theme

    @property
    def end(self) -> float:
        """The last second that is shown."""
        return self.timeline.slots * self.timeline.slot_seconds

    def slot(self, seconds: float) -> float:
        return seconds / self.timeline.slot_seconds

    def points(self, seconds: float) -> float:
        """How wide that is."""
        return 72 * (WIDTH - LEFT - RIGHT) * seconds / self.end


def draw(panel: Panel, colours: Sequence[str]) -> None:
    ax, timeline, theme = panel.ax, panel.timeline, panel.theme
    rows = timeline.rows[:MOST_ROWS]
    ax.set_ylim(len(rows) - 0.5, -0.5)
    scale_slots(ax, timeline.slots, theme)
    ax.set_xlabel(f"slot (of {timeline.slot_seconds:g} s)", color=theme.ink)
    for place, row in enumerate(rows):
        colour = colours[(row.transporter - 1) % len(colours)]
        for flight in row.flights:
            draw_flight(panel, place, flight, colour)
            draw_wait(panel, place, flight)
    draw_updates(panel)
    frame(ax, rows, colours, theme)
    more = len(timeline.rows) - len(rows)
    name = shown(timeline.name, "run")
    name = f"{name} (and {more} more)" if more else name
    fonts = families(name)
    ax.set_ylabel(name, color=theme.ink, fontsize=10, fontfamily=fonts, parse_math=False)


def draw_flight(panel: Panel, place: int, flight: Flight, colour: str) -> None:
    """The bar with its ticks and number; one that ends later goes on beyond the frame."""
    ax, theme, start = panel.ax, panel.theme, flight.start
    end = 2 * panel.end if flight.end is None else flight.end
    line = theme.line(colour)
    bar = box(panel, start, end, place)
    bar.set(facecolor=theme.fill(colour, TINT), edgecolor=line, linewidth=0.8, zorder=2)
    visits, feet = [panel.slot(second) for second in flight.visits], place + BAR / 2
    ax.vlines(visits, feet - TICK, feet, color=line, linewidth=0.9, zorder=3)
    shown, text = min(end, panel.end), str(flight.version)
    if panel.points(shown - start) > LETTER * (len(text) + 1):
        middle = panel.slot((start + shown) / 2)
        number = ax.text(middle, place - 0.06, text, ha="center", va="center")
        number.set(fontsize=8, color=theme.ink)


def draw_wait(panel: Panel, place: int, flight: Flight) -> None:
    """From its landing to the next departure."""
    if flight.end is None or flight.leaves is None or flight.leaves <= flight.end:
        return
    wait = box(panel, flight.end, flight.leaves, place)
    wait.set(facecolor="none", edgecolor=panel.theme.pale, hatch=HATCH, linewidth=0, zorder=1)


def box(panel: Panel, start: float, end: float, place: int) -> Rectangle:
    """A bar from one second to another, which the frame cuts off."""
    left, width = panel.slot(start), panel.slot(end - start)
    bar = Rectangle((left, place - BAR / 2), width, BAR)
    panel.ax.add_patch(bar)
    return bar


def draw_updates(panel: Panel) -> None:
    """Lines through all rows; numbers above them where there is room."""
    ax, free = panel.ax, 0.0
    for update in panel.timeline.updates:
        slot, text = panel.slot(update.seconds), str(update.version)
        ax.axvline(slot, color=panel.theme.grey, linewidth=0.7, zorder=1.5)
        width, middle = LETTER * (len(text) + 0.5), panel.points(update.seconds)
        if middle - width / 2 >= free:
            number = ax.text(slot, 1.02, text, transform=ax.get_xaxis_transform())
            number.set(ha="center", va="bottom", fontsize=7.5, color=panel.theme.grey)
            free = middle + width / 2


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
