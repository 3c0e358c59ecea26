"""One plan and the runs that flew it, as a section of a page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from flexpress.planning import Plan
from flexpress.report.numbers import cost_text
from flexpress.report.page import Download, Section
from flexpress.report.picture import Picture
from flexpress.report.plan_grids import plan_csv, plan_grid, scenario_grid, visits_grid
from flexpress.report.plan_pictures import (
    energy_picture,
    labels_picture,
    map_picture,
    timeline_picture,
)
from flexpress.report.shown_run import ShownRun, first_few
from flexpress.scenario import Scenario
from flexpress.simulation import Trace
from flexpress.theory.label_mixes import Counts

LabelCounts = Callable[[Scenario], Counts | None]
"""Samples of each label that every client has, (clients, labels); None if they are not asked."""


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
        """What it was made for, and how good it is at that."""
        return f"{self.plan.objective} {cost_text(self.plan.objective, self.plan.cost)}"


def flown_plans(runs: Sequence[ShownRun]) -> list[FlownPlan]:
    """In the order of the runs."""
    found: dict[tuple[object, ...], list[ShownRun]] = {}
    for run in runs:
        key = run.run.scenario.positions.tobytes(), run.run.plan.transporters
        found.setdefault(key, []).append(run)
    return [FlownPlan(tuple(group)) for group in found.values()]


def plan_section(flown: FlownPlan, anchor: str, title: str, label_counts: LabelCounts) -> Section:
    scenario, plan = flown.scenario, flown.plan
    return Section(
        anchor=anchor,
        title=title,
        text=(f"Flown by {', '.join(first_few([run.name for run in flown.runs]))}.",),
        pictures=tuple(pictures(flown, anchor, label_counts)),
        tables=(scenario_grid(scenario, plan), plan_grid(plan), visits_grid(scenario, plan)),
        downloads=(Download(f"{anchor}.csv", plan_csv(plan)),),
    )


def pictures(flown: FlownPlan, anchor: str, label_counts: LabelCounts) -> Iterator[Picture]:
    scenario, plan = flown.scenario, flown.plan
    yield map_picture(f"{anchor}-map", scenario, plan)
    yield energy_picture(f"{anchor}-energy", scenario, plan)
    timeline = timeline_picture(f"{anchor}-timeline", scenario, plan, rhythms(flown))
    if timeline:
        yield timeline
    for number, dealt in enumerate(ways_of_dealing(flown), start=1):
        counts = label_counts(dealt)
        if counts is not None:
            yield labels_picture(f"{anchor}-labels-{number}", dealt, plan, counts)


def ways_of_dealing(flown: FlownPlan) -> list[Scenario]:
    """A scenario for each data set and partition; of several seeds the first will do."""
    found: dict[tuple[object, ...], Scenario] = {}
    for run in flown.runs:
        data = run.run.scenario.learning
        how = data.alpha, data.main_label_probability, data.samples_per_client
        found.setdefault((data.dataset, data.partition, *how), run.run.scenario)
    return list(found.values())


def rhythms(flown: FlownPlan) -> list[tuple[str, Trace]]:
    """A trace for each algorithm and clock: on one plan, seeds and data do not change the times."""
    clocks = {run.run.scenario.run.clock for run in flown.runs}
    found: dict[str, Trace] = {}
    for run in flown.runs:
        settings = run.run.scenario.run
        name = settings.algorithm.capitalize()
        label = f"{name}, {settings.clock}" if len(clocks) > 1 else name
        told = found.get(label)
        if told is None or told.num_events < run.run.trace.num_events:
            found[label] = run.run.trace
    return list(found.items())
