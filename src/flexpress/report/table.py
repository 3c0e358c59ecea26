"""A plan as a table for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from flexpress.planning import Plan
from flexpress.report.names import client_names, shortened
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

LONGEST_NAME, LONGEST_TITLE = 40, 80
"""Columns of the name of a client, and of the scenario."""

WIDEST = 1000
"""Columns of a terminal in which every table finds room."""

Column = tuple[str, str, Sequence[str]]
"""Name, unit, one text per transporter."""


def show_plan(console: Console, scenario: Scenario, plan: Plan) -> None:
    """The figures of every transporter, whom it visits in which order, and how good that is."""
    columns = plan_columns(plan)
    print_columns(console, columns)
    arrow = "->" if console.options.ascii_only else "→"
    print_whole(console, order_of_visits(scenario, plan, arrow))
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
    print_fitting(console, across(columns), down(columns), stacked(columns))


def print_fitting(console: Console, *tables: Table) -> None:
    """The first for which there is room, or else the last."""
    room = console.options.update(width=WIDEST)
    widths = [console.measure(table, options=room).maximum for table in tables]
    fitting = [t for t, width in zip(tables, widths, strict=True) if width <= console.width]
    print_whole(console, [*fitting, tables[-1]][0])


def print_whole(console: Console, table: Table) -> None:
    """Its numbers are never cut: on a terminal that is too narrow its lines go on below."""
    width, room = console.width, console.options.update(width=WIDEST)
    try:
        console.width = max(width, console.measure(table, options=room).minimum)
        console.print(table)
    finally:
        console.width = width


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
    for justify in ("left", "right", "left"):
        table.add_column(justify=justify, no_wrap=True)
    for row in zip(*(texts for _, _, texts in columns), strict=True):
        table.add_row()
        for j, ((name, unit, _), text) in enumerate(zip(columns, row, strict=True)):
            table.add_row(name, text, unit, style="" if j else "bold")
    return table


def stacked(columns: Sequence[Column]) -> Table:
    """The name of a figure, and below it the figure, for terminals of a few letters."""
    table = Table.grid()
    table.add_column(no_wrap=True)
    for row in zip(*(texts for _, _, texts in columns), strict=True):
        table.add_row()
        for (name, unit, _), text in zip(columns, row, strict=True):
            if name:
                table.add_row(name, style="bold")
            table.add_row(f"{text} {unit}".strip())
    return table


def order_of_visits(scenario: Scenario, plan: Plan, arrow: str) -> Table:
    table = Table(box=None, padding=(0, 1), show_header=True, header_style="bold")
    table.add_column("\nvisits", justify="right", no_wrap=True)
    table.add_column("\nin this order")
    for k, text in enumerate(visits(scenario, plan, f" {arrow} "), start=1):
        table.add_row(str(k), Text(text))
    return table


def visits(scenario: Scenario, plan: Plan, separator: str) -> list[str]:
    """Of every transporter the names of its clients; of many the first ones and the last."""
    called = dict(zip(scenario.client_ids, client_names(scenario), strict=True))
    shown = max(VISITS_SHOWN // len(plan.transporters), 8)
    found = []
    for tour in plan.transporters:
        names = [shortened(called[client], LONGEST_NAME) for client in tour.clients]
        if len(names) > shown:
            names = [*names[: shown - 2], f"({len(names) - shown + 1:,} more)", names[-1]]
        found.append(separator.join(names) or "idle")
    return found


def summary(scenario: Scenario, plan: Plan) -> list[str]:
    cost, *others = facts(scenario, plan)
    return [f"{shortened(scenario.name, LONGEST_TITLE)}: {cost}", *others]


def facts(scenario: Scenario, plan: Plan) -> list[str]:
    """Cost and feasibility, what is proven, how it was found."""
    fits = "feasible: every transporter keeps its budget"
    if scenario.fleet.budgets is None:
        fits = "feasible: budgets are unlimited"
    if not plan.feasible:
        fits = "not feasible: a transporter exceeds its budget"
    return [
        f"{plan.objective} {cost_text(plan.objective, plan.cost)}, {fits}",
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
