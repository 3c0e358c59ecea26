"""The legend of a map: the round trip and the energy of each transporter."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.transforms import ScaledTranslation

from flexpress.planning import Plan
from flexpress.report.figures.style import HATCH, LIGHT, Theme
from flexpress.report.texts import column, energy_columns, used_text

_MOST_ROWS = 12
_GAP = 0.25  # inches between the map and the legend
_AXIS_LABEL = 0.5  # inches: height of the axis below the map
_FIGURE_SPACE = "\u2007"  # as wide as a digit


def add_legend(
    ax: Axes,
    plan: Plan,
    colours: Sequence[str],
    theme: Theme = LIGHT,
    *,
    below: bool,
    with_zones: bool,
) -> None:
    """Put the legend beside the map, or below it."""
    shown, texts = _rows_shown(plan), _legend_texts(plan)
    handles: list[Artist] = [
        _tour_line(colours[k] if plan.transporters[k].clients else None, theme) for k in shown
    ]
    labels = [texts[k] for k in shown]
    if len(shown) < len(texts):
        handles.append(Line2D([], [], linestyle="none"))
        labels.append(_rest_text(plan, shown))
    handles.append(Line2D([], [], linestyle="none", marker="*", color=theme.ink, markersize=11))
    labels.append("server")
    if with_zones:
        handles.append(_zone_patch(theme))
        labels.append("no-fly zone")
    corner = (0.0, 0.0) if below else (1.0, 1.0)
    shift = (0.0, -_AXIS_LABEL) if below else (_GAP, 0.0)
    inches = ax.figure.dpi_scale_trans
    ax.legend(
        handles,
        labels,
        loc="upper left",
        bbox_to_anchor=corner,
        bbox_transform=ax.transAxes + ScaledTranslation(*shift, inches),
        borderaxespad=0.0,
        frameon=False,
        fontsize=9,
        labelcolor=theme.ink,
        labelspacing=0.6,
    )


def _tour_line(colour: str | None, theme: Theme) -> Line2D:
    """Dotted and grey if the transporter is idle."""
    if colour is None:
        return Line2D([], [], color=theme.pale, linewidth=2.0, linestyle=":")
    return Line2D([], [], color=colour, linewidth=2.5)


def _zone_patch(theme: Theme) -> Patch:
    return Patch(facecolor=theme.zone_fill, edgecolor=theme.zone, linewidth=0.8, hatch=HATCH)


def _rows_shown(plan: Plan) -> list[int]:
    """All transporters; those with the longest round trips if there are too many."""
    everyone = range(len(plan.transporters))
    if len(everyone) <= _MOST_ROWS:
        return list(everyone)
    return sorted(everyone, key=lambda k: -plan.transporters[k].round_trip)[:_MOST_ROWS]


def _rest_text(plan: Plan, shown: Sequence[int]) -> str:
    """How many transporters are not listed, and how many of them are idle."""
    rest = [tour for k, tour in enumerate(plan.transporters) if k not in shown]
    idle = sum(not tour.clients for tour in rest)
    flying = [f"{len(rest) - idle} with shorter round trips"] if len(rest) > idle else []
    return "and " + ", ".join(flying + ([f"{idle} idle"] if idle else []))


def _legend_texts(plan: Plan) -> list[str]:
    """Number, clients, round trip, energy and budget of every transporter; digits aligned."""
    tours = plan.transporters
    columns = (
        _aligned([str(k) for k in range(1, len(tours) + 1)]),
        _aligned([_counted(len(tour.clients)) for tour in tours]),
        _aligned(column([tour.round_trip for tour in tours])),
        _energy_texts(plan),
    )
    return [
        f"{k}:  {clients}   {round_trip} s   {energy}" if tour.clients else f"{k}:  idle"
        for tour, k, clients, round_trip, energy in zip(tours, *columns, strict=True)
    ]


def _counted(clients: int) -> str:
    return "1 client " if clients == 1 else f"{clients:,} clients"


def _energy_texts(plan: Plan) -> list[str]:
    energies, budgets = energy_columns(plan)
    energies = _aligned(energies)
    if not budgets:
        return [f"{energy} kJ" for energy in energies]
    return [
        f"{energy} of {budget} kJ ({used_text(tour.energy, tour.budget)})"
        for tour, energy, budget in zip(plan.transporters, energies, _aligned(budgets), strict=True)
    ]


def _aligned(texts: Sequence[str]) -> list[str]:
    width = max(map(len, texts))
    return [text.rjust(width, _FIGURE_SPACE) for text in texts]
