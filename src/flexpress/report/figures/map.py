"""The map of a plan: positions, blocks, no-fly zones, every tour in its colour. North is up."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from textwrap import wrap

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon, Rectangle
from matplotlib.ticker import FuncFormatter, MaxNLocator

from flexpress.arrays import FloatArray
from flexpress.planning import Plan
from flexpress.planning.colours import COLOURS, tour_colours
from flexpress.report.figures.fonts import drawn_clients, drawn_zones, families, shown
from flexpress.report.figures.map_labels import (
    DOT,
    STAR,
    LabelPlace,
    MapLabels,
    away_from,
    box_at,
    line_table,
    shared,
    to_points,
)
from flexpress.report.figures.map_legend import add_legend
from flexpress.report.figures.picture import new_figure, png_bytes
from flexpress.report.figures.style import HATCH, LIGHT, Theme
from flexpress.report.texts import cost_text, length_unit
from flexpress.report.tour_lines import (
    hidden_below,
    legs,
    tour_corners,
    tour_lines,
    visited_nodes,
    zones,
)
from flexpress.scenario import Scenario

_DOTS_PER_INCH = 150
_LABELLED_CLIENTS, _LABELLED_ZONES = 60, 40
_ARROWED_TRANSPORTERS = 40
_WIDER, _MOST_WIDER = 2.4, 3  # points for each line on top of a line, and for how many lines
_CROWD = 300  # clients from which the map is larger and its lines are thinner
_NARROW = 5.0  # inches of the longer side
_MARGIN = 0.07  # of the longer side
_LEAST_SHAPE = 0.22  # shorter side / longer side; even a straight road needs room for names
_TICK = np.array([0.8, 0.4])  # inches: room for a number along each axis
_LONGEST_TITLE, _ZONE_LINE = 48, 18  # letters


def map_png(scenario: Scenario, plan: Plan) -> bytes:
    return png_bytes(map_figure(scenario, plan), _DOTS_PER_INCH)


def map_figure(
    scenario: Scenario, plan: Plan, *, theme: Theme = LIGHT, narrow: bool = False
) -> Figure:
    figure = _draw_map(scenario, plan, theme=theme, narrow=narrow).figure
    assert isinstance(figure, Figure)
    return figure


def _draw_map(
    scenario: Scenario,
    plan: Plan,
    ax: Axes | None = None,
    *,
    theme: Theme = LIGHT,
    narrow: bool = False,
) -> Axes:
    """Draw into the given axes, or into a new figure; a narrow one fits the column of a page.

    The legend is beside the map, or below it if the map is wide or must be narrow.
    """
    low, high = _extent(scenario, plan)
    size = high - low
    if ax is None:
        usual = 7.0 if scenario.num_clients < _CROWD else 10.0
        ax = _new_axes(size, theme, longer_side=_NARROW if narrow else usual)
    _draw_blocks(ax, scenario, theme)
    _draw_zones(ax, scenario, theme)
    _draw_tours(ax, scenario, plan, theme)
    _draw_positions(ax, scenario, theme)
    _frame(ax, low, high, theme, from_server=scenario.coordinates is not None)
    _label(ax, scenario, plan, theme)
    below, has_zones = narrow or bool(size[0] > 1.6 * size[1]), bool(scenario.no_fly)
    colours = [theme.line(colour) for colour in tour_colours(scenario, plan)]
    add_legend(ax, plan, colours, theme, below=below, with_zones=has_zones)
    value = cost_text(plan.objective, plan.cost, plan.round_trips)
    name = shown(scenario.name, "scenario", _LONGEST_TITLE)
    title = f"{name}: {plan.objective} {value} ({plan.solver})"
    ax.set_title(title, loc="left", color=theme.ink, parse_math=False, fontfamily=families(title))
    return ax


def _extent(scenario: Scenario, plan: Plan) -> tuple[FloatArray, FloatArray]:
    """South-west and north-east corner of blocks, zones and tours, with a margin."""
    blocks = np.array(scenario.blocks).reshape(-1, 2)
    corners = [leg for tour in plan.transporters for leg in tour_corners(scenario, tour)]
    points = np.vstack([scenario.positions, blocks, *zones(scenario), *corners])
    low, high = points.min(axis=0), points.max(axis=0)
    margin = _MARGIN * max(high - low) or 1.0
    low, high = low - margin, high + margin
    lack = np.maximum(_LEAST_SHAPE * max(high - low) - (high - low), 0.0)
    return low - lack / 2, high + lack / 2


def _new_axes(size: FloatArray, theme: Theme, *, longer_side: float) -> Axes:
    """Axes of the shape of the area, `longer_side` inches long."""
    width, height = size / max(size) * longer_side
    figure = new_figure(float(width), float(height), theme)
    return figure.add_axes((0.0, 0.0, 1.0, 1.0), facecolor=theme.paper)


def _draw_blocks(ax: Axes, scenario: Scenario, theme: Theme) -> None:
    for west, south, east, north in scenario.blocks:
        corner, width, height = (west, south), east - west, north - south
        block = Rectangle(corner, width, height, fill=False, edgecolor=theme.outline, zorder=0)
        ax.add_patch(block)


def _draw_zones(ax: Axes, scenario: Scenario, theme: Theme) -> None:
    for zone in zones(scenario):
        patch = Polygon(zone, facecolor=theme.zone_fill, edgecolor=theme.zone, zorder=1)
        patch.set(linewidth=0.8, hatch=HATCH)
        ax.add_patch(patch)


def _draw_tours(ax: Axes, scenario: Scenario, plan: Plan, theme: Theme) -> None:
    """One line per tour, wider where others lie on it; arrows unless there are too many."""
    width = 1.8 if scenario.num_clients < _CROWD else 1.1
    colours = [theme.line(colour) for colour in tour_colours(scenario, plan)]
    lines = tour_lines(scenario, plan)
    for line, colour, above in zip(lines, colours, hidden_below(lines), strict=True):
        wide = width + _WIDER * min(above, _MOST_WIDER)
        ax.plot(*line.T, color=colour, linewidth=wide, solid_joinstyle="round", zorder=2)
        if len(colours) <= _ARROWED_TRANSPORTERS:
            _draw_arrows(ax, line, colour)


def _label(ax: Axes, scenario: Scenario, plan: Plan, theme: Theme) -> None:
    """Numbers of tours if they share colours, names of zones and of clients."""
    lines = [to_points(ax, line) for line in tour_lines(scenario, plan)]
    server, *clients = to_points(ax, scenario.positions)
    dots = [box_at(x, y, 2 * DOT, 2 * DOT) for x, y in clients]
    star = box_at(server[0], server[1], 2 * STAR, 2 * STAR)
    labels = MapLabels(ax, theme, line_table(lines), [*dots, star])
    if len(lines) > len(COLOURS):
        colours = [theme.words(colour) for colour in tour_colours(scenario, plan)]
        _label_tours(labels, lines, colours)
    if len(scenario.no_fly) <= _LABELLED_ZONES:
        for zone, name in zip(zones(scenario), drawn_zones(scenario), strict=True):
            labels.write_within("\n".join(wrap(name, _ZONE_LINE)), to_points(ax, zone))
    if scenario.num_clients <= _LABELLED_CLIENTS:
        for place in shared(_client_places(ax, scenario, plan)):
            labels.write(place.name, place.at, place.away, colour=theme.ink)


def _label_tours(labels: MapLabels, lines: Sequence[FloatArray], colours: Sequence[str]) -> None:
    """Write the transporter's number where its tour is farthest from the server."""
    for number, (line, colour) in enumerate(zip(lines, colours, strict=True), start=1):
        if len(line):
            far = line[np.argmax(((line - line[0]) ** 2).sum(axis=1))]
            labels.write(str(number), far, far - line[0], colour=colour, bold=True)


def _client_places(ax: Axes, scenario: Scenario, plan: Plan) -> list[LabelPlace]:
    names = drawn_clients(scenario)
    found = []
    for tour, stops in zip(plan.transporters, visited_nodes(scenario, plan), strict=True):
        flown = [to_points(ax, leg) for leg in legs(scenario, tour, stops)]
        for node, (arriving, leaving) in zip(stops[1:-1], pairwise(flown), strict=True):
            here = leaving[0]
            away = away_from(here, arriving[-2], leaving[1])
            found.append(LabelPlace(here, away, names[node - 1]))
    return found


def _draw_arrows(ax: Axes, line: FloatArray, colour: str) -> None:
    """Show the direction of the tour on its way out and on its way home."""
    flown = [(a, b) for a, b in pairwise(line) if not np.array_equal(a, b)]
    style = {"arrowstyle": "-|>", "color": colour, "linewidth": 0, "mutation_scale": 14}
    for start, end in [*flown[:1], *flown[1:][-1:]]:
        tip = start + 0.55 * (end - start)
        arrow = {**style, "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", xytext=tuple(start), xy=tuple(tip), arrowprops=arrow, zorder=3)


def _draw_positions(ax: Axes, scenario: Scenario, theme: Theme) -> None:
    x, y = scenario.positions.T
    area = float(np.clip(3000 / scenario.num_clients, 0.6, 24.0))
    edge = 0.8 if area > 10 else 0.0
    ink, paper = theme.ink, theme.paper
    ax.scatter(x[1:], y[1:], s=area, color=ink, edgecolors=paper, linewidths=edge, zorder=4)
    ax.scatter(x[0], y[0], s=240, marker="*", color=ink, edgecolors=paper, zorder=5)


def _frame(ax: Axes, low: FloatArray, high: FloatArray, theme: Theme, *, from_server: bool) -> None:
    """Equal scales, few ticks, metres or kilometres; relative to the server for coordinates."""
    unit, metres = length_unit(float(max(high - low)))
    ax.set_xlim(low[0], high[0])
    ax.set_ylim(low[1], high[1])
    ax.set_aspect("equal")
    names = [f"x ({unit})", f"y ({unit})"]
    if from_server:
        names = [f"{unit} east of the server", f"{unit} north of the server"]
    inches = np.array(ax.get_window_extent().size) / ax.figure.dpi
    for axis, name, most in zip((ax.xaxis, ax.yaxis), names, inches / _TICK, strict=True):
        axis.set_major_locator(MaxNLocator(min(max(int(most), 2), 7), steps=[1, 2, 5, 10]))
        axis.set_major_formatter(FuncFormatter(lambda value, _: _tick_text(value / metres)))
        axis.set_label_text(name, color=theme.ink)
    ax.tick_params(colors=theme.grey, labelsize=8)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(theme.pale)
    ax.apply_aspect()


def _tick_text(value: float) -> str:
    """All significant digits, with a real minus sign."""
    return f"{value:,.10g}".replace("-", "\N{MINUS SIGN}", int(value < 0))
