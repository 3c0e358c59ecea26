"""The energy of each transporter's tour as bars against its budget, plans side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Annotation

from flexpress.planning import Plan
from flexpress.planning.colours import COLOURS, tour_colours
from flexpress.report.figures.curve_axes import add_title, plain
from flexpress.report.figures.fonts import families, shown
from flexpress.report.figures.picture import new_figure
from flexpress.report.figures.style import LIGHT, Theme
from flexpress.report.texts import column
from flexpress.scenario import Scenario

_WIDTH, _HEIGHT = 5.2, 2.6  # inches of the axes
_BAR, _GAP = 0.74, 0.9  # width of a bar, and gap between groups; bars are 1 apart
_TINT = 0.42  # share of the colour in a bar
_ROOM = 1.12  # of the highest bar or budget
_MOST_NUMBERED = 12  # bars with their energy
_MOST_NAMED = 40  # bars with the number of their transporter
_NUMBERS, _NAME_OF_PLAN = 12, 20  # points: heights of these texts below the bars
_LOWEST = 0.14  # of the height of the axes; the energy of lower bars stands above them


@dataclass(frozen=True)
class EnergyGroup:
    """One plan: the joules of each tour, the budgets (None: unlimited), the colours on the map."""

    label: str
    energies: tuple[float, ...]
    budgets: tuple[float | None, ...]
    colours: tuple[str, ...] = COLOURS

    @classmethod
    def of(cls, label: str, scenario: Scenario, plan: Plan) -> EnergyGroup:
        tours, colours = plan.transporters, tuple(tour_colours(scenario, plan))
        energies, budgets = tuple(t.energy for t in tours), tuple(t.budget for t in tours)
        return cls(label, energies, budgets, colours)


def energy_figure(
    groups: Sequence[EnergyGroup], *, title: str = "", theme: Theme = LIGHT
) -> Figure:
    figure = new_figure(_WIDTH, _HEIGHT, theme)
    ax = figure.add_axes((0.0, 0.0, 1.0, 1.0), facecolor=theme.paper)
    plain(ax, theme)
    every = [joules for group in groups for joules in (*group.energies, *group.budgets)]
    highest = max((joules for joules in every if joules), default=1.0) / 1e3
    ax.set_ylim(0.0, _ROOM * highest)
    ax.set_ylabel("energy of a tour (kJ)", color=theme.ink)
    start = 0.0
    numbered = sum(len(group.energies) for group in groups) <= _MOST_NUMBERED
    for group in groups:
        places = [start + k for k in range(len(group.energies))]
        _draw_bars(ax, group, places, theme)
        _draw_budgets(ax, group, places, theme)
        if numbered:
            _write_energies(ax, group, places, theme)
        start += len(places) + _GAP
    _name_bars(ax, groups, theme)
    ax.set_xlim(-0.5 - _GAP / 2, start - 0.5 - _GAP / 2)
    add_title(ax, title, theme)
    return figure


def _draw_bars(ax: Axes, group: EnergyGroup, places: Sequence[float], theme: Theme) -> None:
    kilojoules = [energy / 1e3 for energy in group.energies]
    colours = [group.colours[k % len(group.colours)] for k in range(len(places))]
    edges, tints = [theme.line(c) for c in colours], [theme.fill(c, _TINT) for c in colours]
    width = 0.8 if len(places) <= _MOST_NAMED else 0.2
    ax.bar(places, kilojoules, width=_BAR, color=tints, edgecolor=edges, linewidth=width)


def _write_energies(ax: Axes, group: EnergyGroup, places: Sequence[float], theme: Theme) -> None:
    """Write the energies into the bars, or above low ones."""
    kilojoules = [energy / 1e3 for energy in group.energies]
    for place, height, text in zip(places, kilojoules, column(kilojoules), strict=True):
        inside = height > _LOWEST * ax.get_ylim()[1]
        number = _write(ax, text, (place, height), -3 if inside else 3, theme)
        number.set(ha="center", va="top" if inside else "bottom")


def _draw_budgets(ax: Axes, group: EnergyGroup, places: Sequence[float], theme: Theme) -> None:
    """One line if all budgets are equal, otherwise one per bar."""
    alike = len(set(group.budgets)) == 1
    stretches = [places] if alike else [[place] for place in places]
    for stretch, budget in zip(stretches, group.budgets, strict=False):
        if budget is None:
            continue
        height, left, right = budget / 1e3, stretch[0] - 0.5, stretch[-1] + 0.5
        ax.hlines(height, left, right, color=theme.ink, linewidth=1.6, zorder=3)
        if alike:
            _write(ax, f"budget {height:g} kJ", (right, height), 3, theme).set(ha="right")
        elif stretch[0] == places[0]:
            _write(ax, "budget", (left, height), 3, theme)


def _name_bars(ax: Axes, groups: Sequence[EnergyGroup], theme: Theme) -> None:
    """Write the number of each transporter below its bar, then the name of the plan, if any."""
    start, ticks, names = 0.0, list[float](), list[str]()
    for group in groups:
        number = len(group.energies)
        ticks += [start + k for k in range(number)]
        names += [str(k + 1) for k in range(number)]
        name = group.label and shown(group.label, "plan")
        label = _write(ax, name, (start + (number - 1) / 2, 0.0), -20, theme)
        label.set(ha="center", va="top", fontsize=9.5, fontfamily=families(name))
        start += number + _GAP
    fits = len(ticks) <= _MOST_NAMED
    ax.set_xticks(ticks if fits else [], names if fits else [])
    ax.tick_params(axis="x", length=0)
    named = any(group.label for group in groups)
    pad = (_NAME_OF_PLAN if named else 4) + (0 if fits else _NUMBERS)
    ax.set_xlabel("transporter" if fits else "transporters", color=theme.ink, labelpad=pad)


def _write(ax: Axes, text: str, place: tuple[float, float], up: float, theme: Theme) -> Annotation:
    """Write `up` points above a place, or below it if negative."""
    return ax.annotate(
        text,
        place,
        xytext=(0, up),
        textcoords="offset points",
        fontsize=8.5,
        color=theme.ink,
        parse_math=False,
    )
