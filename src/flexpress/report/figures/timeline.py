"""Tours over time: one row per transporter, runs one below the other on the same slots."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from flexpress.planning.colours import COLOURS
from flexpress.report.figures.curve_axes import scale_slots
from flexpress.report.figures.fonts import families, shown, title_text
from flexpress.report.figures.picture import new_figure
from flexpress.report.figures.style import LIGHT, Theme
from flexpress.simulation import Trace
from flexpress.simulation.events import Departure, Event, Landing, Update, Visit

_WIDTH, _LEFT, _RIGHT = 6.0, 0.5, 0.1  # inches
_ROW, _BETWEEN = 0.3, 0.5  # inches: height of a row, and the gap between panels
_ABOVE, _BELOW = 0.55, 0.85  # inches
_MOST_ROWS = 12
_BAR, _TICK = 0.62, 0.16  # heights of a tour and of a visit, of a row
_TINT = 0.3  # share of the colour in a bar
_LETTER = 6.0  # points: width of a digit
_HATCH = "//////"
_NOTE = (
    "bar: a flight, its number the version of the model aboard; ticks: clients are met\n"
    "hatched: on the ground, waiting; upright lines: the server has a new version of the model"
)


@dataclass(frozen=True)
class FlownTour:
    """The times of one tour in seconds; None if they are later than what is shown."""

    start: float
    version: int  # of the model on board
    visits: tuple[float, ...]
    end: float | None  # when it lands
    leaves: float | None  # when the next tour starts


@dataclass(frozen=True)
class TimelineRow:
    transporter: int  # 1, 2, ...
    tours: tuple[FlownTour, ...]


@dataclass(frozen=True)
class NewModel:
    """The time at which the server has a new version of the model."""

    seconds: float
    version: int


@dataclass(frozen=True)
class Timeline:
    """The first slots of one run."""

    name: str
    slot_seconds: float
    slots: int
    rows: tuple[TimelineRow, ...]
    updates: tuple[NewModel, ...]


def timeline_of(trace: Trace, name: str, slots: int) -> Timeline:
    """One row for each transporter that flies; none for `direct`, which has no tours."""
    tours: defaultdict[int, dict[int, list[Event]]] = defaultdict(dict)
    updates = []
    for event in _first_events(trace, slots):
        if isinstance(event, Departure | Visit | Landing):
            tours[event.transporter].setdefault(event.tour, []).append(event)
        elif isinstance(event, Update):
            updates.append(NewModel(event.seconds, event.version))
    rows = (
        TimelineRow(k, tuple(_flown_tour(events) for events in own.values()))
        for k, own in sorted(tours.items())
    )
    return Timeline(name, trace.timetable.slot, slots, tuple(rows), tuple(updates))


def _first_events(trace: Trace, slots: int) -> Iterator[Event]:
    """The events of the first slots; the rest of a long trace is not read."""
    end = slots * trace.timetable.slot
    begun = takewhile(lambda event: event.slot <= slots, trace.events())
    return (event for event in begun if event.seconds <= end)


def _flown_tour(events: list[Event]) -> FlownTour:
    """From the events of one tour, in their order."""
    departure, *rest = events
    assert isinstance(departure, Departure)
    landing = next((event for event in rest if isinstance(event, Landing)), None)
    return FlownTour(
        start=departure.seconds,
        version=departure.version,
        visits=tuple(event.seconds for event in rest if isinstance(event, Visit)),
        end=landing.seconds if landing else None,
        leaves=landing.seconds + landing.waiting if landing else None,
    )


def slots_shown(trace: Trace, tours: int = 4) -> int:
    """The slots that the slowest transporter needs for this number of tours, or the horizon."""
    convoys = trace.timetable.convoys
    longest = max(trace.timetable.seconds(convoy.period) for convoy in convoys)
    return max(1, min(trace.horizon, round(tours * longest / trace.timetable.slot + 0.5)))


def timeline_figure(
    timelines: Sequence[Timeline],
    *,
    colours: Sequence[str] = COLOURS,
    title: str = "",
    theme: Theme = LIGHT,
) -> Figure:
    """The slots of all runs must be equally long; `colours` are those of the transporters."""
    shown = [timeline for timeline in timelines if timeline.rows]
    figure, axes = _new_axes([min(len(timeline.rows), _MOST_ROWS) for timeline in shown], theme)
    for ax, timeline in zip(axes, shown, strict=True):
        _draw(_Panel(ax, timeline, theme), colours)
    for ax in axes[:-1]:
        ax.tick_params(axis="x", labelbottom=False, length=0)
        ax.set_xlabel("")
    left = _LEFT / _WIDTH
    figure.text(left, 0.0, _NOTE, fontsize=8, color=theme.grey, va="bottom", linespacing=1.4)
    heading = figure.text(left, 1.0, title_text(title), fontsize=11, va="top", parse_math=False)
    heading.set(color=theme.ink, fontfamily=families(heading.get_text()))
    return figure


def _new_axes(rows: Sequence[int], theme: Theme) -> tuple[Figure, list[Axes]]:
    """One panel per run; all rows are equally high."""
    height = _ABOVE + _BELOW + _ROW * sum(rows) + _BETWEEN * (len(rows) - 1)
    figure = new_figure(_WIDTH, height, theme)
    width = (_WIDTH - _LEFT - _RIGHT) / _WIDTH
    axes, top = [], height - _ABOVE
    for number in rows:
        place = (_LEFT / _WIDTH, (top - _ROW * number) / height, width, _ROW * number / height)
        axes.append(figure.add_axes(place, facecolor=theme.paper))
        top -= _ROW * number + _BETWEEN
    return figure, axes


@dataclass(frozen=True, eq=False)
class _Panel:
    """The axes of one run, and what is drawn there."""

    ax: Axes
    timeline: Timeline
    theme: Theme

    @property
    def end(self) -> float:
        """The last second shown."""
        return self.timeline.slots * self.timeline.slot_seconds

    def slot(self, seconds: float) -> float:
        return seconds / self.timeline.slot_seconds

    def points(self, seconds: float) -> float:
        """The width of this time."""
        return 72 * (_WIDTH - _LEFT - _RIGHT) * seconds / self.end


def _draw(panel: _Panel, colours: Sequence[str]) -> None:
    ax, timeline, theme = panel.ax, panel.timeline, panel.theme
    rows = timeline.rows[:_MOST_ROWS]
    ax.set_ylim(len(rows) - 0.5, -0.5)
    scale_slots(ax, timeline.slots, theme)
    ax.set_xlabel(f"slot (of {timeline.slot_seconds:g} s)", color=theme.ink)
    for place, row in enumerate(rows):
        colour = colours[(row.transporter - 1) % len(colours)]
        for tour in row.tours:
            _draw_tour(panel, place, tour, colour)
            _draw_wait(panel, place, tour)
    _draw_updates(panel)
    _frame(ax, rows, colours, theme)
    more = len(timeline.rows) - len(rows)
    name = shown(timeline.name, "run")
    name = f"{name} (and {more} more)" if more else name
    fonts = families(name)
    ax.set_ylabel(name, color=theme.ink, fontsize=10, fontfamily=fonts, parse_math=False)


def _draw_tour(panel: _Panel, place: int, tour: FlownTour, colour: str) -> None:
    """A bar with ticks and a number; the frame cuts off a tour that ends later."""
    ax, theme, start = panel.ax, panel.theme, tour.start
    end = 2 * panel.end if tour.end is None else tour.end
    line = theme.line(colour)
    bar = _box(panel, start, end, place)
    bar.set(facecolor=theme.fill(colour, _TINT), edgecolor=line, linewidth=0.8, zorder=2)
    visits, feet = [panel.slot(second) for second in tour.visits], place + _BAR / 2
    ax.vlines(visits, feet - _TICK, feet, color=line, linewidth=0.9, zorder=3)
    shown, text = min(end, panel.end), str(tour.version)
    if panel.points(shown - start) > _LETTER * (len(text) + 1):
        middle = panel.slot((start + shown) / 2)
        number = ax.text(middle, place - 0.06, text, ha="center", va="center")
        number.set(fontsize=8, color=theme.ink)


def _draw_wait(panel: _Panel, place: int, tour: FlownTour) -> None:
    """The time from its landing to the next departure."""
    if tour.end is None or tour.leaves is None or tour.leaves <= tour.end:
        return
    wait = _box(panel, tour.end, tour.leaves, place)
    wait.set(facecolor="none", edgecolor=panel.theme.pale, hatch=_HATCH, linewidth=0, zorder=1)


def _box(panel: _Panel, start: float, end: float, place: int) -> Rectangle:
    """A bar from one time to another, in seconds."""
    left, width = panel.slot(start), panel.slot(end - start)
    bar = Rectangle((left, place - _BAR / 2), width, _BAR)
    panel.ax.add_patch(bar)
    return bar


def _draw_updates(panel: _Panel) -> None:
    """A line through all rows per update, with its version above it where there is room."""
    ax, free = panel.ax, 0.0
    for update in panel.timeline.updates:
        slot, text = panel.slot(update.seconds), str(update.version)
        ax.axvline(slot, color=panel.theme.grey, linewidth=0.7, zorder=1.5)
        width, middle = _LETTER * (len(text) + 0.5), panel.points(update.seconds)
        if middle - width / 2 >= free:
            number = ax.text(slot, 1.02, text, transform=ax.get_xaxis_transform())
            number.set(ha="center", va="bottom", fontsize=7.5, color=panel.theme.grey)
            free = middle + width / 2


def _frame(ax: Axes, rows: Sequence[TimelineRow], colours: Sequence[str], theme: Theme) -> None:
    """The number of the transporter beside each row, in its colour."""
    numbers = [row.transporter for row in rows]
    ax.set_yticks(range(len(rows)), [str(number) for number in numbers])
    ax.tick_params(axis="y", length=0, labelsize=9)
    ax.tick_params(axis="x", colors=theme.grey, labelsize=8.5)
    for label, number in zip(ax.get_yticklabels(), numbers, strict=True):
        label.set(color=theme.words(colours[(number - 1) % len(colours)]), fontweight="bold")
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.spines["bottom"].set_color(theme.pale)
