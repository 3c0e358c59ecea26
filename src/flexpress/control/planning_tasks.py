"""What the planner's process does: search, prove how good a plan is, find what would help."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from flexpress.callbacks import ShouldStop
from flexpress.control.worker import Report
from flexpress.errors import InfeasibleError
from flexpress.files.provenance import Outputs
from flexpress.planning import Plan, Problem, certify_plan, diagnose, load_plan, make_plan
from flexpress.planning.infeasible import balanced, shares_alone
from flexpress.planning.problem import BUDGET_TOLERANCE, Tours
from flexpress.planning.progress import Progress
from flexpress.report.folder import write_folder
from flexpress.report.texts import cost_text, gap_text
from flexpress.report.web_map.data import map_data
from flexpress.scenario import Scenario

_PAUSE = 0.1
"""Seconds from one picture of a search to the next."""

News = dict[str, Any]


def warm_up() -> None:
    """Load or compile the planner: as it is for few clients, and for many."""
    for number in (1, 101):
        places = [[float(i), 1.0] for i in range(number)]
        network = {"server": [0.0, 0.0], "clients": places}
        data = {"network": network, "fleet": {"speeds": [1.0]}, "link": {"transfer_time": 1.0}}
        scenario = Scenario.from_dict(data)
        map_data(scenario, make_plan(scenario, solver="search", iterations=1))


@dataclass(frozen=True)
class Search:
    """A plan in a folder, as `flexpress plan` writes it; pictures of the search are news."""

    scenario: Scenario
    folder: Path
    seconds: float | None

    def __call__(self, report: Report, should_stop: ShouldStop) -> News:
        pictures = _Pictures(self.scenario, report)
        limit = None if self.scenario.plan.solver == "exact" else self.seconds
        try:
            plan = make_plan(
                self.scenario,
                seconds=limit,
                on_progress=pictures.progress,
                should_stop=should_stop,
                on_tours=pictures.tours,
            )
        except InfeasibleError as error:
            return {"infeasible": _what_binds(self.scenario, str(error))}
        report(pictures.of(plan))
        write_folder(self.scenario, plan, self.folder, Outputs("plan"))
        return {"plan": plan}


class _Pictures:
    """News of a search: the best tours so far, now and then, and the objective's curve."""

    def __init__(self, scenario: Scenario, report: Report) -> None:
        self._scenario, self._report = scenario, report
        self._started = time.monotonic()
        self._shown = -_PAUSE
        self._waiting: Tours | None = None

    def tours(self, tours: Tours) -> None:
        self._waiting = tours
        self._show()

    def progress(self, progress: Progress) -> None:
        if progress.note:
            self._report({"note": progress.note})
        self._show(progress.fraction)

    def _show(self, fraction: float = 0.0) -> None:
        now = self._now()
        if self._waiting is None or now - self._shown < _PAUSE:
            return
        settings = self._scenario.plan
        plan = Plan.of(
            self._scenario,
            settings.objective,
            self._waiting,
            solver=settings.solver,
            seed=self._scenario.seed,
            seconds=now,
            round_trips=settings.round_trips,
        )
        self._waiting, self._shown = None, now
        self._report({**self.of(plan), "fraction": fraction})

    def of(self, plan: Plan) -> News:
        return {
            "map": map_data(self._scenario, plan),
            "point": [round(self._now(), 3), plan.cost],
            "cost": cost_text(plan.objective, plan.cost, plan.round_trips),
        }

    def _now(self) -> float:
        return time.monotonic() - self._started


def _what_binds(scenario: Scenario, message: str) -> News:
    """The error, the sensors that nobody reaches, and else the best-balanced tours."""
    problem = Problem.of(scenario)
    alone = shares_alone(problem).min(axis=0)  # (clients,)
    out_of_reach = np.flatnonzero(alone > 1 + BUDGET_TOLERANCE).tolist()
    found: News = {"message": message, "out_of_reach": out_of_reach}
    tours = None if out_of_reach else balanced(problem, scenario.seed)
    if tours is not None:
        settings = scenario.plan
        plan = Plan.of(
            scenario, settings.objective, tours, solver="search", seed=scenario.seed, seconds=0.0
        )
        over = [k for k, tour in enumerate(plan.transporters) if not tour.within_budget]
        found |= {"map": map_data(scenario, plan), "overdrawn": over}
    return found


@dataclass(frozen=True)
class Proof:
    """The gap of a plan, which is written beside it; the bound is news while it closes in."""

    folder: Path
    seconds: float

    def __call__(self, report: Report, should_stop: ShouldStop) -> News:
        from flexpress.files.disk import PLAN, SCENARIO

        scenario = Scenario.load(self.folder / SCENARIO)
        plan = load_plan(self.folder / PLAN, scenario)

        def on_progress(progress: Progress) -> None:
            if progress.note:
                report({"note": progress.note})
            if progress.cost is not None and plan.cost:
                bound = min(progress.cost, plan.cost)
                report({"bound": bound, "gap": gap_text((plan.cost - bound) / plan.cost)})

        proven = certify_plan(
            scenario,
            plan,
            seconds=self.seconds,
            on_progress=on_progress,
            should_stop=should_stop,
        )
        write_folder(scenario, proven, self.folder, Outputs("plan"))
        gap = None if proven.gap is None else gap_text(proven.gap)
        return {"map": map_data(scenario, proven), "bound": proven.lower_bound, "gap": gap}


@dataclass(frozen=True)
class Diagnosis:
    """What would make the budgets fit."""

    scenario: Scenario

    def __call__(self, report: Report, should_stop: ShouldStop) -> News:
        remedies = diagnose(self.scenario, seed=self.scenario.seed, should_stop=should_stop)
        return {"remedies": remedies}
