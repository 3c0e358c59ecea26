"""What it costs to reach an accuracy, as bars: tours, time and energy of each run until then.

An open bar reaches to the end of a run that never got there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Annotation

from flexpress.arguments import (
    check_all,
    check_array,
    check_number,
    check_path,
    check_text,
    refusal,
)
from flexpress.errors import InputError
from flexpress.files.disk import write_file
from flexpress.report.figures.fonts import families, shown, title_text
from flexpress.report.figures.picture import new_figure, png_bytes
from flexpress.report.figures.style import ALGORITHMS, LIGHT, Theme
from flexpress.report.tables.costs import NOT_REACHED, Cost, costs_of, usual_targets
from flexpress.report.texts import column, time_unit
from flexpress.simulation import Trace

_PANEL, _BETWEEN = 1.4, 0.1  # inches: width of a panel, and the gap before it
_ROW, _HEADING, _ABOVE = 0.24, 0.32, 0.2  # inches
_BAR = 0.7  # of a row
_SIZE = 8.5  # points
_LONGEST = 30  # letters of a name
_PALE, _STRONG = 0.28, 0.62  # share of the colour in a bar; strong ones have a head start
_ROOM = 1.38  # of the longest bar: its number stands behind it
_MOST_ROWS = 12


@dataclass(frozen=True)
class CostRow:
    """One run, with its cost for each target."""

    label: str
    costs: tuple[Cost, ...]
    colour: str
    strong: bool = False  # a fuller colour, for runs with a head start


@dataclass(frozen=True)
class _Panel:
    title: str
    value: Callable[[Cost], float]
    whole: bool = False  # a count


def save_costs(
    traces: Sequence[Trace],
    path: str | Path,
    *,
    targets: Sequence[float] | None = None,
    title: str = "",
) -> None:
    """Draw the tours, time and energy of each run until it reaches these accuracies, as a PNG file.

    By default 75 % and 80 % if a run reaches them, else the two highest multiples of 5 % that one
    does. An existing file is replaced.
    """
    traces = check_all("traces", traces, Trace, "make them with simulate")
    file = check_path("path", path)
    check_text("title", title)
    chosen = usual_targets(traces) if targets is None else _checked(targets)
    if not chosen:
        raise InputError("no run reaches an accuracy of 5 %; give targets, such as [0.02]")
    rows = [
        CostRow(
            trace.label,
            tuple(costs_of(trace, chosen)),
            ALGORITHMS[trace.timetable.algorithm],
            strong=trace.head_start > 0,
        )
        for trace in traces
    ]
    write_file(file, png_bytes(costs_figure(rows, title=title)))


def _checked(targets: Sequence[float]) -> list[float]:
    values = check_array("targets", targets).ravel().tolist()
    if not values:
        raise refusal("targets", targets, "at least one accuracy, such as 0.75")
    return [
        check_number(f"targets[{i}]", value, above=0.0, most=1.0) for i, value in enumerate(values)
    ]


def costs_figure(rows: Sequence[CostRow], *, title: str = "", theme: Theme = LIGHT) -> Figure:
    """A block of rows for each target, a panel for each quantity. All targets share the scales."""
    drawn = [
        replace(row, label=shown(row.label, f"run {number}", _LONGEST))
        for number, row in enumerate(rows[:_MOST_ROWS], start=1)
    ]
    targets = [cost.target for cost in drawn[0].costs]
    panels, left = _panels(drawn), max(_inches(row.label) for row in drawn)
    height = _ABOVE + len(targets) * (_HEADING + _ROW * len(drawn))
    figure = new_figure(left + len(panels) * (_BETWEEN + _PANEL), height, theme)
    axes = _new_axes(figure, left, len(panels), theme)
    for ax, panel in zip(axes, panels, strict=True):
        _draw(ax, panel, drawn, theme)
    _write_names(axes[0], drawn, left, theme)
    if len(drawn) < len(rows):
        more = f"and {len(rows) - len(drawn)} more runs in the table"
        figure.text(0.0, 0.0, more, fontsize=8, color=theme.grey, va="top")
    heading = figure.text(0.0, 1.0, title_text(title), fontsize=11, va="bottom", parse_math=False)
    heading.set(color=theme.ink, fontfamily=families(heading.get_text()))
    return figure


def _panels(rows: Sequence[CostRow]) -> list[_Panel]:
    time, seconds = time_unit(max(cost.seconds for row in rows for cost in row.costs))
    return [
        _Panel("tours flown", lambda cost: cost.tours, whole=True),
        _Panel(f"time ({time})", lambda cost: cost.seconds / seconds),
        _Panel("energy (kJ)", lambda cost: cost.energy / 1e3),
    ]


def _inches(label: str) -> float:
    """The width of a label."""
    text = new_figure(1.0, 1.0).text(0.0, 0.0, label, fontsize=_SIZE, parse_math=False)
    text.set_fontfamily(families(label))
    return float(text.get_window_extent().width / text.figure.dpi)


def _new_axes(figure: Figure, left: float, number: int, theme: Theme) -> list[Axes]:
    """Side by side, on a scale of inches from the top."""
    width, height = figure.get_size_inches().tolist()
    axes = []
    for j in range(number):
        start = left + _BETWEEN + j * (_PANEL + _BETWEEN)
        place = (start / width, 0.0, _PANEL / width, 1.0)
        ax = figure.add_axes(place, facecolor=theme.paper)
        ax.set_ylim(height, 0.0)
        ax.set(xticks=[], yticks=[])
        ax.spines[["top", "right", "bottom", "left"]].set_visible(False)
        axes.append(ax)
    return axes


def _places(rows: Sequence[CostRow], target: int) -> list[float]:
    """The middle of each row in the block of a target, in inches from the top."""
    top = _ABOVE + target * (_HEADING + _ROW * len(rows)) + _HEADING
    return [top + _ROW * (j + 0.5) for j in range(len(rows))]


def _draw(ax: Axes, panel: _Panel, rows: Sequence[CostRow], theme: Theme) -> None:
    every = [panel.value(cost) for row in rows for cost in row.costs]
    ax.set_xlim(0.0, _ROOM * max(every) or 1.0)
    ax.text(0.0, _ABOVE, panel.title, fontsize=9, color=theme.ink, va="bottom")
    texts = iter([f"{value:,}" for value in every] if panel.whole else column(every, digits=3))
    numbers = [[next(texts) for _ in row.costs] for row in rows]
    for target in range(len(rows[0].costs)):
        places = _places(rows, target)
        ax.vlines(0.0, places[0] - _ROW / 2, places[-1] + _ROW / 2, color=theme.pale, linewidth=0.8)
        for row, number, place in zip(rows, numbers, places, strict=True):
            cost = row.costs[target]
            _draw_bar(ax, row, panel.value(cost), place, theme, reached=cost.reached)
            _write_number(ax, panel.value(cost), number[target], place, theme, reached=cost.reached)


def _draw_bar(
    ax: Axes, row: CostRow, value: float, place: float, theme: Theme, *, reached: bool
) -> None:
    edge = theme.line(row.colour)
    fill = theme.fill(row.colour, _STRONG if row.strong else _PALE)
    (bar,) = ax.barh(place, value, height=_BAR * _ROW, linewidth=0.8, edgecolor=edge)
    bar.set(facecolor=fill if reached else "none", linestyle="-" if reached else (0, (3, 2)))


def _write_number(
    ax: Axes, value: float, text: str, place: float, theme: Theme, *, reached: bool
) -> None:
    """Behind the bar; what was not reached is said inside the open bar."""
    start = value if reached else 0.0
    words = text if reached else NOT_REACHED
    if value == 0:
        words = "none"
    note = ax.annotate(words, (start, place), xytext=(3, 0), textcoords="offset points")
    note.set(va="center", fontsize=8, color=theme.ink if reached and value else theme.grey)


def _write_names(ax: Axes, rows: Sequence[CostRow], left: float, theme: Theme) -> None:
    """Left of the first panel: each target, and below it the runs."""
    away = -72 * (left + _BETWEEN)
    for target, cost in enumerate(rows[0].costs):
        places = _places(rows, target)
        at = 0.0, places[0] - _ROW / 2
        head = _write(ax, f"until {100 * cost.target:g} %", at, away, theme.ink)
        head.set(va="bottom", fontweight="bold")
        for row, place in zip(rows, places, strict=True):
            name = _write(ax, row.label, (0.0, place), away, theme.words(row.colour))
            name.set(va="center", fontfamily=families(row.label))


def _write(ax: Axes, text: str, at: tuple[float, float], away: float, colour: str) -> Annotation:
    return ax.annotate(
        text,
        at,
        xytext=(away, 0),
        textcoords="offset points",
        fontsize=_SIZE,
        color=colour,
        parse_math=False,
    )
