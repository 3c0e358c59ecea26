"""Plans as JSON files, which are checked against the scenario when they are read."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from flexpress.arguments import check_all, check_kind, check_path
from flexpress.errors import InputError
from flexpress.files.disk import read_text, write_file
from flexpress.planning.plan import ClientId, Plan, Tour
from flexpress.scenario import Scenario, check_scenario
from flexpress.scenario.units import ENERGY

_SAME = 1e-6
"""Relative: larger differences mean that a plan was made for another scenario."""

_HOW_TO_PLAN = "make one with make_plan(scenario)"

_Figure = tuple[str, float | None, float | None]
"""Name, value found in the file, value expected."""


def plan_to_json(plan: Plan) -> str:
    """The plan as one JSON object; reading it back gives an equal plan, bit for bit."""
    return json.dumps(asdict(plan), indent=2)


def save_plan(plan: Plan, path: str | Path) -> None:
    check_kind("plan", plan, Plan, _HOW_TO_PLAN)
    write_file(check_path("path", path), plan_to_json(plan) + "\n")


def load_plan(path: str | Path, scenario: Scenario) -> Plan:
    """The plan in a file, if it fits this scenario; else InputError.

    Only the order of visits is trusted: every figure is recomputed and compared.
    """
    check_scenario(scenario)
    stored = _parse_plan(read_text(check_path("path", path)), str(path))
    try:
        fresh = _recomputed(scenario, stored)
        _check_budgets(fresh)
        _check_figures(stored, fresh)
        fresh = fresh.with_bound(stored.lower_bound, stored.bound_method)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    return fresh


def check_plan(scenario: Scenario, plan: Plan) -> None:
    """InputError unless both are what they should be, and the plan is one of this scenario."""
    check_scenario(scenario)
    check_kind("plan", plan, Plan, _HOW_TO_PLAN)
    check_all("plan.transporters", plan.transporters, Tour, _HOW_TO_PLAN)
    fresh = _recomputed(scenario, plan)
    _check_figures(plan, fresh)
    for k, (old, new) in enumerate(zip(plan.transporters, fresh.transporters, strict=True), 1):
        if len(old.arrivals) != len(new.arrivals) or not all(
            map(_same, old.arrivals, new.arrivals)
        ):
            raise InputError(f"transporter {k}: its arrivals do not fit its tour; plan it anew")


def _recomputed(scenario: Scenario, plan: Plan) -> Plan:
    """Every figure of the plan, from its order of visits and the scenario."""
    _check_transporters(scenario, plan)
    check_clients(scenario, [i for tour in plan.transporters for i in tour.clients])
    return Plan.of(
        scenario,
        plan.objective,
        plan.nodes(scenario),
        solver=plan.solver,
        seed=plan.seed,
        seconds=plan.seconds,
        round_trips=plan.round_trips,
    )


def _parse_plan(text: str, source: str) -> Plan:
    try:
        return TypeAdapter(Plan).validate_json(text, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in first["loc"] if part not in ("int", "str"))
        where = f"{key}: " if key else ""
        raise InputError(f"{source}: not a plan: {where}{first['msg']}") from None


def _check_transporters(scenario: Scenario, plan: Plan) -> None:
    found, needed = len(plan.transporters), scenario.num_transporters
    if found != needed:
        raise InputError(
            f"{found} transporters in the plan, {needed} in the scenario; plan it anew"
        )


def check_clients(scenario: Scenario, visited: Sequence[ClientId]) -> None:
    """Every client exactly once."""
    known, times = set(scenario.client_ids), Counter(visited)
    unknown = [client for client in visited if client not in known]
    repeated = [client for client in times if times[client] > 1]
    missing = [client for client in scenario.client_ids if client not in times]
    for clients, fault in (
        (unknown, "not in the scenario"),
        (repeated, "visited more than once"),
        (missing, "not visited"),
    ):
        if clients:
            raise InputError(f"client {_some(clients)} {fault}; plan the scenario anew")


def _check_budgets(plan: Plan) -> None:
    for k, tour in enumerate(plan.transporters, start=1):
        if tour.budget is not None and not tour.within_budget:
            needed = ENERGY.rounded_up(tour.energy, tour.budget)
            raise InputError(
                f"transporter {k} needs {needed} but has {ENERGY.text(tour.budget, tour.budget)}; "
                "raise its budget or plan the scenario anew"
            )


def _check_figures(stored: Plan, fresh: Plan) -> None:
    """The figures in the file must be those of the scenario."""
    figures: list[_Figure] = [("cost", stored.cost, fresh.cost)]
    for k, (old, new) in enumerate(zip(stored.transporters, fresh.transporters, strict=True), 1):
        figures += [(f"transporter {k}: {name}", a, b) for name, a, b in _tour_figures(old, new)]
    for name, found, expected in figures:
        if not _same(found, expected):
            raise InputError(
                f"{name} is {found} in the plan and {expected} for this scenario; "
                "the plan belongs to another scenario or was edited: plan it anew"
            )


def _tour_figures(old: Tour, new: Tour) -> Iterable[_Figure]:
    numbers = (float, int, type(None))
    for name, value in asdict(new).items():
        if isinstance(value, numbers):
            yield name, getattr(old, name), value


def _same(found: float | None, expected: float | None) -> bool:
    if found is None or expected is None:
        return found is expected
    return math.isclose(found, expected, rel_tol=_SAME, abs_tol=_SAME)


def _some(clients: Sequence[ClientId]) -> str:
    """The first few."""
    shown = ", ".join(str(client) for client in clients[:5])
    return shown if len(clients) <= 5 else f"{shown} and {len(clients) - 5} more"
