"""A plan in tables for a page, and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from flexpress.planning import Plan
from flexpress.report.page import Grid
from flexpress.report.run_differences import short_text
from flexpress.report.table import Column, facts, plan_columns, visits
from flexpress.scenario import Scenario

COLUMNS = ("transporter", "clients", "length_m", "round_trip_s", "energy_J", "budget_J")


def scenario_grid(scenario: Scenario, plan: Plan) -> Grid:
    """What was given, and what is known about the plan."""
    rows = (
        ("clients", f"{scenario.num_clients:,}"),
        ("speeds", f"{short_text(scenario.speeds)} m/s"),
        ("transfer at a client", f"{scenario.transfer_time:.4g} s"),
        ("slot", f"{scenario.slot:g} s"),
        ("plan", "; ".join(facts(scenario, plan))),
    )
    return Grid(("setting", scenario.name), rows)


def plan_grid(plan: Plan) -> Grid:
    """The figures of every transporter."""
    columns = plan_columns(plan)
    rows = zip(*(texts for _, _, texts in columns), strict=True)
    return Grid(heads(columns), tuple(rows))


def heads(columns: Sequence[Column]) -> tuple[str, ...]:
    """Name and unit; a column without a name goes on with the one before."""
    found, name = [], ""
    for own, unit, _ in columns:
        name = own or name
        found.append(f"{name} ({unit})" if unit else name)
    return tuple(found)


def visits_grid(scenario: Scenario, plan: Plan) -> Grid:
    texts = visits(scenario, plan, " → ")
    rows = tuple((str(k), text) for k, text in enumerate(texts, start=1))
    return Grid(("transporter", "clients"), rows, "Clients in the order of visits", folded=True)


def plan_csv(plan: Plan) -> str:
    """Every transporter in SI units, as precise as they are."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(COLUMNS)
    for k, tour in enumerate(plan.transporters, start=1):
        budget = "" if tour.budget is None else repr(tour.budget)
        figures = map(repr, (tour.length, tour.round_trip, tour.energy))
        table.writerow((k, " ".join(map(str, tour.clients)), *figures, budget))
    return text.getvalue()
