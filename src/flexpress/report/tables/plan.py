"""A plan as a table for the terminal; also the remedies if there is none, and the presets."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from rich.console import Console
from rich.table import Table
from rich.text import Text

from flexpress.planning import Plan
from flexpress.planning.diagnosis import Remedy
from flexpress.planning.infeasible import percent_up
from flexpress.report.tables.columns import Column, print_columns, print_whole
from flexpress.report.texts import (
    OPTIMAL,
    client_names,
    column,
    cost_text,
    energy_columns,
    gap_text,
    length_unit,
    shortened,
    used_text,
)
from flexpress.scenario import Scenario, preset_names, preset_text

_VISITS_SHOWN = 480
"""In all tours together: more would scroll the figures away."""

_LONGEST_NAME, LONGEST_TITLE = 40, 80
"""Columns of a client's name, and of the scenario's."""

_ENOUGH = "any one of these is enough, the least change first:"


def show_plan(console: Console, scenario: Scenario, plan: Plan) -> None:
    """Print the figures and the visits of each transporter, and the quality of the plan."""
    columns = plan_columns(plan)
    print_columns(console, columns)
    arrow = "->" if console.options.ascii_only else "→"
    print_whole(console, _order_of_visits(scenario, plan, arrow))
    console.print()
    for line in _summary(scenario, plan):
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


def _order_of_visits(scenario: Scenario, plan: Plan, arrow: str) -> Table:
    table = Table(box=None, padding=(0, 1), show_header=True, header_style="bold")
    table.add_column("\nvisits", justify="right", no_wrap=True)
    table.add_column("\nin this order")
    for k, text in enumerate(visits(scenario, plan, f" {arrow} "), start=1):
        table.add_row(str(k), Text(text))
    return table


def visits(scenario: Scenario, plan: Plan, separator: str) -> list[str]:
    """The clients of each transporter; if there are many, the first ones and the last."""
    called = dict(zip(scenario.client_ids, client_names(scenario), strict=True))
    shown = max(_VISITS_SHOWN // len(plan.transporters), 8)
    found = []
    for tour in plan.transporters:
        names = [shortened(called[client], _LONGEST_NAME) for client in tour.clients]
        if len(names) > shown:
            names = [*names[: shown - 2], f"({len(names) - shown + 1:,} more)", names[-1]]
        found.append(separator.join(names) or "idle")
    return found


def _summary(scenario: Scenario, plan: Plan) -> list[str]:
    cost, *others = facts(scenario, plan)
    return [f"{shortened(scenario.name, LONGEST_TITLE)}: {cost}", *others]


def facts(scenario: Scenario, plan: Plan) -> list[str]:
    """Cost and feasibility, the proven bound, the solver."""
    fits = "feasible: every transporter keeps its budget"
    if scenario.fleet.budgets is None:
        fits = "feasible: budgets are unlimited"
    if not plan.feasible:
        fits = "not feasible: a transporter exceeds its budget"
    return [
        f"{plan.objective} {cost_text(plan.objective, plan.cost, plan.round_trips)}, {fits}",
        *_bound_lines(plan),
        f"solver {plan.solver}, seed {plan.seed}, {plan.seconds:.2f} s",
    ]


def _bound_lines(plan: Plan) -> list[str]:
    """The proven bound, if any."""
    if plan.lower_bound is None or plan.gap is None:
        return []
    if plan.gap <= OPTIMAL:
        return [f"proven: optimal, by {plan.bound_method}"]
    bound = cost_text(plan.objective, plan.lower_bound, plan.round_trips)
    return [f"proven: no plan is below {bound}, gap {gap_text(plan.gap)}, by {plan.bound_method}"]


def show_remedies(console: Console, remedies: Sequence[Remedy]) -> None:
    if not remedies:
        console.print("a longer search may find a plan: the budgets can be kept")
        return
    console.print(_ENOUGH)
    table = Table(box=None, padding=(0, 1), show_header=False)
    table.add_column()
    table.add_column(justify="right")
    table.add_column()
    for remedy in remedies:
        table.add_row(remedy.change, _factor_text(remedy.factor), remedy.text)
    console.print(table)


def _factor_text(factor: float | None) -> str:
    """Per cent, rounded away from zero: a smaller change might not be enough."""
    if factor is None:
        return "-"
    percent = percent_up(factor) if factor > 1 else -percent_up(2 - factor)
    return f"{percent:+,} %"


def remedies_to_json(remedies: Sequence[Remedy]) -> str:
    return json.dumps({"remedies": [asdict(remedy) for remedy in remedies]}, indent=2)


def show_presets(console: Console) -> None:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, style="bold")
    table.add_column()
    for name in preset_names():
        table.add_row(name, Text(_description(preset_text(name))))
    console.print(table)


def _description(preset: str) -> str:
    """The first sentence of the comment at the top of a preset."""
    comment, _, _ = preset.partition("\n\n")
    text = " ".join(line.removeprefix("#").strip() for line in comment.splitlines())
    sentence, _, _ = text.partition(". ")
    return sentence.rstrip(".") + "."
