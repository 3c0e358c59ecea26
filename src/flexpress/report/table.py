"""A plan as a table for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from flexpress.planning import Plan, Tour
from flexpress.report.numbers import (
    OPTIMAL,
    column,
    cost_text,
    energy_columns,
    gap_text,
    length_unit,
    used_text,
)
from flexpress.scenario import Scenario

VISITS_SHOWN = 480
"""Of all tours together: more would scroll the figures away."""

WIDEST = 1000
"""Columns of a terminal in which every table finds room."""

Column = tuple[str, str, Sequence[str]]
"""Name, unit, one text per transporter."""


def show_plan(console: Console, scenario: Scenario, plan: Plan) -> None:
    """The figures of every transporter, whom it visits in which order, and how good that is."""
    columns = plan_columns(plan)
    print_columns(console, columns)
    console.print(order_of_visits(plan, "->" if console.options.ascii_only else "→"))
    console.print()
    for line in summary(scenario, plan):
        console.print(f" {line}", soft_wrap=True)


def plan_columns(plan: Plan) -> list[Column]:
    tours = plan.transporters
    unit, metres = length_unit(max(tour.length for tour in tours))
    energies, budgets = energy_columns(plan)
    columns: list[Column] = [
        ("transporter", "", [str(k) for k in range(1, len(tours) + 1)]),
        ("clients", "", [f"{len(tour.clients):,}" for tour in tours]),
        ("length", unit, column([tour.length / metres for tour in tours])),
        ("round trip", "s", column([tour.round_trip for tour in tours])),
        ("", "min", column([tour.round_trip / 60 for tour in tours], digits=3)),
        ("", "slots", [f"{tour.round_trip_slots:,}" for tour in tours]),
        ("energy", "kJ", energies),
    ]
    if budgets:
        used = [used_text(tour.energy, tour.budget) for tour in tours]
        columns += [("budget", "kJ", budgets), ("used", "", used)]
    return columns


def print_columns(console: Console, columns: Sequence[Column]) -> None:
    """Side by side if there is room."""
    table = across(columns)
    if console.measure(table, options=console.options.update(width=WIDEST)).maximum > console.width:
        table = down(columns)
    console.print(table)


def across(columns: Sequence[Column]) -> Table:
    """A row per transporter."""
    table = Table(box=None, padding=(0, 1), header_style="bold")
    for name, unit, _ in columns:
        table.add_column(f"{name}\n{unit}", justify="right", no_wrap=True)
    for row in zip(*(texts for _, _, texts in columns), strict=True):
        table.add_row(*row)
    return table


def down(columns: Sequence[Column]) -> Table:
    """A line per figure, for terminals that are too narrow for a row."""
    table = Table.grid(padding=(0, 1))
    table.add_column()
    table.add_column(justify="right")
    table.add_column()
    for row in zip(*(texts for _, _, texts in columns), strict=True):
        table.add_row()
        for j, ((name, unit, _), text) in enumerate(zip(columns, row, strict=True)):
            table.add_row(name, text, unit, style="" if j else "bold")
    return table


def order_of_visits(plan: Plan, arrow: str) -> Table:
    table = Table(box=None, padding=(0, 1), show_header=True, header_style="bold")
    table.add_column("\nvisits", justify="right")
    table.add_column("\nin this order")
    shown = max(VISITS_SHOWN // len(plan.transporters), 8)
    for k, tour in enumerate(plan.transporters, start=1):
        table.add_row(str(k), Text(visits(tour, shown, f" {arrow} ")))
    return table


def visits(tour: Tour, shown: int, separator: str) -> str:
    """Ids of the clients; of many the first ones and the last."""
    ids = [str(client) for client in tour.clients]
    if len(ids) > shown:
        ids = [*ids[: shown - 2], f"({len(ids) - shown + 1:,} more)", ids[-1]]
    return separator.join(ids) or "idle"


def summary(scenario: Scenario, plan: Plan) -> list[str]:
    fits = "feasible: every transporter keeps its budget"
    if scenario.fleet.budgets is None:
        fits = "feasible: budgets are unlimited"
    if not plan.feasible:
        fits = "not feasible: a transporter exceeds its budget"
    return [
        f"{scenario.name}: {plan.objective} {cost_text(plan.objective, plan.cost)}, {fits}",
        *bound_lines(plan),
        f"solver {plan.solver}, seed {plan.seed}, {plan.seconds:.2f} s",
    ]


def bound_lines(plan: Plan) -> list[str]:
    """What is proven about the plan, if anything."""
    if plan.lower_bound is None or plan.gap is None:
        return []
    if plan.gap <= OPTIMAL:
        return [f"proven: optimal, by {plan.bound_method}"]
    bound = cost_text(plan.objective, plan.lower_bound)
    return [f"proven: no plan is below {bound}, gap {gap_text(plan.gap)}, by {plan.bound_method}"]
