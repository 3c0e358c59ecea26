"""One plan in pictures for a page: the map, energies against budgets, tours over time, labels."""

from __future__ import annotations

from collections.abc import Sequence

from flexpress.planning import Plan
from flexpress.planning.colours import tour_colours
from flexpress.report.energy_picture import EnergyGroup, energy_figure
from flexpress.report.label_mix import label_mix_figure
from flexpress.report.map import map_figure
from flexpress.report.numbers import energy_columns
from flexpress.report.picture import Picture, draw_picture
from flexpress.report.timeline import slots_shown, timeline_of
from flexpress.report.timeline_picture import timeline_figure
from flexpress.scenario import Scenario
from flexpress.simulation import Trace
from flexpress.theory.label_mixes import Counts, label_mixes

ENERGY = "Energy of one tour of each transporter"
MOST_TOLD = 12
"""Transporters whose figures are read out."""


def map_picture(name: str, scenario: Scenario, plan: Plan) -> Picture:
    flown = sum(bool(tour.clients) for tour in plan.transporters)
    tours = "1 tour that begins and ends" if flown == 1 else f"{flown} tours that begin and end"
    return draw_picture(
        name,
        f"Map: {scenario.num_clients:,} clients, {tours} at the server.",
        lambda theme: map_figure(scenario, plan, theme=theme, narrow=True),
        caption="North is up. Numbers or names are clients; arrows show the way out and home.",
    )


def energy_picture(name: str, scenario: Scenario, plan: Plan) -> Picture:
    energies, budgets = energy_columns(plan)
    told = [
        f"{k}: {energy}{f' of {budgets[k - 1]}' if budgets else ''} kJ"
        for k, energy in enumerate(energies[:MOST_TOLD], start=1)
    ]
    more = ", …" if len(energies) > MOST_TOLD else "."
    line = "the thick line is its budget" if budgets else "budgets are unlimited"
    group = EnergyGroup.of("", scenario, plan)
    return draw_picture(
        name,
        f"Energy of each transporter's tour. {', '.join(told)}{more}",
        lambda theme: energy_figure([group], title=ENERGY, theme=theme),
        caption=f"Energy of one tour of each transporter; {line}.",
    )


def timeline_picture(
    name: str, scenario: Scenario, plan: Plan, traces: Sequence[tuple[str, Trace]]
) -> Picture | None:
    """Of runs on one plan, one below the other; None if nothing flies."""
    slots = max(slots_shown(trace) for _, trace in traces)
    timelines = [timeline_of(trace, label, slots) for label, trace in traces]
    flown = [timeline for timeline in timelines if timeline.rows]
    if not flown:
        return None
    colours = tour_colours(scenario, plan)
    labels = ", then ".join(timeline.name for timeline in flown)
    return draw_picture(
        name,
        f"Flights of each transporter in the first {slots:,} slots: {labels}.",
        lambda theme: timeline_figure(flown, colours=colours, theme=theme),
        caption=(
            f"The first {slots:,} slots. Clients train from one visit to the next, and what they "
            "learned comes home on the flight after: the model changes from the second landing on."
        ),
    )


def labels_picture(name: str, scenario: Scenario, plan: Plan, counts: Counts) -> Picture:
    learning = scenario.learning
    mixes = label_mixes(scenario, plan, counts)
    told = [f"{k}: {100 * mix.distance:.0f} %" for k, mix in enumerate(mixes[:MOST_TOLD], start=1)]
    title = f"{learning.dataset}, {learning.partition}"
    return draw_picture(
        name,
        "Labels of every client, and of each transporter's clients together. Off from the mix of "
        f"all: {', '.join(told)}.",
        lambda theme: label_mix_figure(scenario, plan, counts, title, theme=theme),
        caption=(
            f"Who has which labels: {title}. The more the clients of one transporter are off, the "
            "more biased is what it brings home."
        ),
    )
