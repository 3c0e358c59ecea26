"""What the HTML map shows, as plain values: positions in metres, times in seconds, texts."""

from __future__ import annotations

from collections.abc import Iterable

from flexpress.arrays import FloatArray
from flexpress.planning import Plan
from flexpress.planning.colours import tour_colours
from flexpress.report.figures.style import DARK
from flexpress.report.tables.plan import plan_columns
from flexpress.report.texts import cost_text, decimals, gap_text
from flexpress.report.tour_lines import tour_corners, visited_nodes, zones
from flexpress.scenario import Scenario

_DIGITS = 10
"""Significant digits of positions and times: more than the eye can see."""

_IN_TABLE = ("transporter", "clients", "length", "round trip", "energy", "used")


def map_data(scenario: Scenario, plan: Plan) -> dict[str, object]:
    """Everything that the page draws, ready for JSON; equal plans give equal data."""
    names, ids = scenario.client_names, tuple(str(client) for client in scenario.client_ids)
    server, *clients = _points(scenario.positions)
    return {
        "name": scenario.name,
        "facts": _plan_facts(plan),
        "columns": _table_columns(plan),
        "transfer_time": scenario.transfer_time,
        "server": server,
        "clients": clients,
        "names": names,
        "ids": [] if names == ids else ids,
        "blocks": scenario.blocks,
        "zones": [_points(zone) for zone in zones(scenario)],
        "zone_names": scenario.zone_names,
        "transporters": _transporters(scenario, plan),
    }


def _plan_facts(plan: Plan) -> list[list[str]]:
    """Name and text of each fact about the whole plan."""
    facts = [[plan.objective, cost_text(plan.objective, plan.cost, plan.round_trips)]]
    if plan.lower_bound is not None:
        facts.append(["lower bound", cost_text(plan.objective, plan.lower_bound, plan.round_trips)])
    if plan.gap is not None:
        facts.append(["gap", gap_text(plan.gap)])
    if plan.bound_method is not None:
        facts.append(["bound by", plan.bound_method])
    facts.append(["solver", f"{plan.solver}, seed {plan.seed}"])
    if not plan.feasible:
        facts.append(["budgets", "exceeded"])
    return facts


def _table_columns(plan: Plan) -> list[tuple[str, str]]:
    """Name and unit of each column of the table."""
    return [(name, unit) for name, unit, _ in plan_columns(plan) if name in _IN_TABLE]


def _figures(plan: Plan) -> list[dict[str, str]]:
    """The texts of each transporter by the name of the column, or by its unit if it has none."""
    columns = plan_columns(plan)
    names = [name or unit for name, unit, _ in columns]
    rows = zip(*(texts for _, _, texts in columns), strict=True)
    return [dict(zip(names, row, strict=True)) for row in rows]


def _transporters(scenario: Scenario, plan: Plan) -> list[dict[str, object]]:
    texts, stops = _figures(plan), visited_nodes(scenario, plan)
    unit = next(unit for name, unit in _table_columns(plan) if name == "length")
    longest = max(tour.round_trip for tour in plan.transporters)
    everyone = zip(plan.transporters, tour_colours(scenario, plan), stops, texts, strict=True)
    return [
        {
            "colour": colour,
            "dark": DARK.line(colour),
            "cells": [text[name] for name in _IN_TABLE if name in text],
            "facts": _tour_facts(text, unit),
            "clients": [node - 1 for node in nodes[1:-1]],
            "arrivals": _rounded(tour.arrivals, longest),
            "round_trip": tour.round_trip,
            "corners": [_points(leg) for leg in tour_corners(scenario, tour)],
        }
        for tour, colour, nodes, text in everyone
    ]


def _tour_facts(text: dict[str, str], length_unit: str) -> list[list[str]]:
    """Name and text of each figure of a round trip."""
    slots = f"{text['slots']} slot" if text["slots"] == "1" else f"{text['slots']} slots"
    energy = f"{text['energy']} kJ"
    if text.get("budget"):
        energy = f"{text['energy']} of {text['budget']} kJ ({text['used']})"
    return [
        ["round trip", f"{text['round trip']} s, {text['min']} min, {slots}"],
        ["energy", energy],
        ["length", f"{text['length']} {length_unit}"],
    ]


def _points(array: FloatArray) -> list[list[float]]:
    largest = float(abs(array).max(initial=0.0))
    return [_rounded(point, largest) for point in array.tolist()]


def _rounded(values: Iterable[float], largest: float) -> list[float]:
    return [round(value, decimals(largest, _DIGITS)) for value in values]
