"""A plan and the runs that flew it, as a section of a page: pictures, tables and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from flexpress.planning import Plan
from flexpress.planning.colours import tour_colours
from flexpress.report.figures.energy import EnergyGroup, energy_figure
from flexpress.report.figures.label_mix import label_mix_figure
from flexpress.report.figures.map import map_figure
from flexpress.report.figures.picture import Picture, draw_picture
from flexpress.report.figures.timeline import slots_shown, timeline_figure, timeline_of
from flexpress.report.page.page import Download, Grid, PageSection
from flexpress.report.page.shown_runs import ShownRun, first_few, short_text
from flexpress.report.tables.columns import heads
from flexpress.report.tables.plan import facts, plan_columns, visits
from flexpress.report.texts import cost_text, energy_columns
from flexpress.scenario import Scenario
from flexpress.simulation import Trace
from flexpress.theory.label_mixes import Counts, label_mixes

LabelCounts = Callable[[Scenario], Counts | None]
"""Returns the samples of each label of every client, (clients, labels), or None to omit them."""

_ENERGY = "Energy of one tour of each transporter"
_MOST_LISTED = 12
"""Transporters whose figures are listed in the alternative text of a picture."""

_COLUMNS = ("transporter", "clients", "length_m", "round_trip_s", "energy_J", "budget_J")


@dataclass(frozen=True, eq=False)
class FlownPlan:
    """Runs on the same plan of the same network."""

    runs: tuple[ShownRun, ...]

    @property
    def scenario(self) -> Scenario:
        return self.runs[0].run.scenario

    @property
    def plan(self) -> Plan:
        return self.runs[0].run.plan

    @property
    def cost(self) -> str:
        """The objective and its value."""
        plan = self.plan
        return f"{plan.objective} {cost_text(plan.objective, plan.cost, plan.round_trips)}"


def flown_plans(runs: Sequence[ShownRun]) -> list[FlownPlan]:
    """Groups the runs by their plan, in the order of the runs."""
    found: dict[tuple[object, ...], list[ShownRun]] = {}
    for run in runs:
        key = run.run.scenario.positions.tobytes(), run.run.plan.transporters
        found.setdefault(key, []).append(run)
    return [FlownPlan(tuple(group)) for group in found.values()]


def plan_section(
    flown: FlownPlan, anchor: str, title: str, label_counts: LabelCounts
) -> PageSection:
    scenario, plan = flown.scenario, flown.plan
    return PageSection(
        anchor=anchor,
        title=title,
        text=(f"Flown by {', '.join(first_few([run.name for run in flown.runs]))}.",),
        pictures=tuple(_pictures(flown, anchor, label_counts)),
        tables=(_scenario_grid(scenario, plan), _plan_grid(plan), _visits_grid(scenario, plan)),
        downloads=(Download(f"{anchor}.csv", _plan_csv(plan)),),
    )


def _pictures(flown: FlownPlan, anchor: str, label_counts: LabelCounts) -> Iterator[Picture]:
    scenario, plan = flown.scenario, flown.plan
    yield _map_picture(f"{anchor}-map", scenario, plan)
    yield _energy_picture(f"{anchor}-energy", scenario, plan)
    timeline = _timeline_picture(f"{anchor}-timeline", scenario, plan, _traces_shown(flown))
    if timeline:
        yield timeline
    for number, scenario in enumerate(_data_settings(flown), start=1):
        counts = label_counts(scenario)
        if counts is not None:
            yield _labels_picture(f"{anchor}-labels-{number}", scenario, plan, counts)


def _data_settings(flown: FlownPlan) -> list[Scenario]:
    """One scenario for each data set and partition; with several seeds, the first."""
    found: dict[tuple[object, ...], Scenario] = {}
    for run in flown.runs:
        data = run.run.scenario.learning
        how = data.alpha, data.main_label_probability, data.samples_per_client
        found.setdefault((data.dataset, data.partition, *how), run.run.scenario)
    return list(found.values())


def _traces_shown(flown: FlownPlan) -> list[tuple[str, Trace]]:
    """One trace for each algorithm and clock: seeds, data and head starts do not change the times.

    Clients with the first model on board do: the first landing brings an update.
    """
    clocks = {run.run.scenario.run.clock for run in flown.runs}
    starts = {
        run.run.trace.timetable.preloaded for run in flown.runs if run.run.trace.timetable.flies
    }
    found: dict[str, Trace] = {}
    for run in flown.runs:
        settings = run.run.scenario.run
        name = settings.algorithm.capitalize()
        label = f"{name}, {settings.clock}" if len(clocks) > 1 else name
        label += ", preloaded" if len(starts) > 1 and run.run.trace.timetable.preloaded else ""
        longest = found.get(label)
        if longest is None or longest.num_events < run.run.trace.num_events:
            found[label] = run.run.trace
    return list(found.items())


def _map_picture(name: str, scenario: Scenario, plan: Plan) -> Picture:
    flown = sum(bool(tour.clients) for tour in plan.transporters)
    tours = "1 tour that begins and ends" if flown == 1 else f"{flown} tours that begin and end"
    return draw_picture(
        name,
        f"Map: {scenario.num_clients:,} clients, {tours} at the server.",
        lambda theme: map_figure(scenario, plan, theme=theme, narrow=True),
        caption="North is up. Numbers or names are clients; arrows show the way out and home.",
    )


def _energy_picture(name: str, scenario: Scenario, plan: Plan) -> Picture:
    energies, budgets = energy_columns(plan)
    listed = [
        f"{k}: {energy}{f' of {budgets[k - 1]}' if budgets else ''} kJ"
        for k, energy in enumerate(energies[:_MOST_LISTED], start=1)
    ]
    more = ", …" if len(energies) > _MOST_LISTED else "."
    line = "the thick line is its budget" if budgets else "budgets are unlimited"
    group = EnergyGroup.of("", scenario, plan)
    return draw_picture(
        name,
        f"Energy of each transporter's tour. {', '.join(listed)}{more}",
        lambda theme: energy_figure([group], title=_ENERGY, theme=theme),
        caption=f"Energy of one tour of each transporter; {line}.",
    )


def _timeline_picture(
    name: str, scenario: Scenario, plan: Plan, traces: Sequence[tuple[str, Trace]]
) -> Picture | None:
    """Runs on one plan, one below the other; None if nothing flies."""
    slots = max(slots_shown(trace) for _, trace in traces)
    timelines = [timeline_of(trace, label, slots) for label, trace in traces]
    flown = [timeline for timeline in timelines if timeline.rows]
    if not flown:
        return None
    colours = tour_colours(scenario, plan)
    preloaded = all(trace.timetable.preloaded for _, trace in traces if trace.timetable.flies)
    labels = ", then ".join(timeline.name for timeline in flown)
    return draw_picture(
        name,
        f"Flights of each transporter in the first {slots:,} slots: {labels}.",
        lambda theme: timeline_figure(flown, colours=colours, theme=theme),
        caption=(
            f"The first {slots:,} slots. Clients train from one visit to the next, and what they "
            "learned comes home on the flight after: the model changes from the "
            f"{'first' if preloaded else 'second'} landing on."
        ),
    )


def _labels_picture(name: str, scenario: Scenario, plan: Plan, counts: Counts) -> Picture:
    learning = scenario.learning
    mixes = label_mixes(scenario, plan, counts)
    listed = [
        f"{k}: {100 * mix.distance:.0f} %" for k, mix in enumerate(mixes[:_MOST_LISTED], start=1)
    ]
    title = f"{learning.dataset}, {learning.partition}"
    return draw_picture(
        name,
        "Labels of every client, and of each transporter's clients together. Off from the mix of "
        f"all: {', '.join(listed)}.",
        lambda theme: label_mix_figure(scenario, plan, counts, title, theme=theme),
        caption=(
            f"Who has which labels: {title}. The more the clients of one transporter are off, the "
            "more biased is what it brings home."
        ),
    )


def _scenario_grid(scenario: Scenario, plan: Plan) -> Grid:
    """The settings of the scenario, and facts about the plan."""
    rows = (
        ("clients", f"{scenario.num_clients:,}"),
        ("speeds", f"{short_text(scenario.speeds)} m/s"),
        ("transfer at a client", f"{scenario.transfer_time:.4g} s"),
        ("slot", f"{scenario.slot:g} s"),
        ("plan", "; ".join(facts(scenario, plan))),
    )
    return Grid(("setting", scenario.name), rows)


def _plan_grid(plan: Plan) -> Grid:
    """The figures of each transporter."""
    columns = plan_columns(plan)
    rows = zip(*(texts for _, _, texts in columns), strict=True)
    return Grid(heads(columns), tuple(rows))


def _visits_grid(scenario: Scenario, plan: Plan) -> Grid:
    texts = visits(scenario, plan, " → ")
    rows = tuple((str(k), text) for k, text in enumerate(texts, start=1))
    return Grid(("transporter", "clients"), rows, "Clients in the order of visits", folded=True)


def _plan_csv(plan: Plan) -> str:
    """One row per transporter, in SI units with all digits."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(_COLUMNS)
    for k, tour in enumerate(plan.transporters, start=1):
        budget = "" if tour.budget is None else repr(tour.budget)
        figures = map(repr, (tour.length, tour.round_trip, tour.energy))
        table.writerow((k, " ".join(map(str, tour.clients)), *figures, budget))
    return text.getvalue()
