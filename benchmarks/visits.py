"""The simulator's own time, with a learner that costs nothing: visits per second.

`simulate` is all that it does for a run; `clock` only tells the events, as a trace does when it is
read again.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
from days import scenario_of
from printer import Printer
from recording import Idle
from spread import spread, whole

from flexpress import Plan, Scenario, make_plan, simulate
from flexpress.scenario import Algorithm, Clock
from flexpress.simulation.clock import events
from flexpress.simulation.timetable import Timetable

RULES: tuple[tuple[Algorithm, Clock], ...] = (
    ("sync", "slots"),
    ("sync", "exact"),
    ("async", "slots"),
    ("async", "exact"),
)
HORIZONS = {40: 20_000, 4_000: 200}
"""Clients -> slots, so that each run has about 100,000 visits."""

LABEL, FIGURE = 34, 27

Rates = tuple[float, float, float, float]
"""Visits per CPU second and wall second of `simulate`, then of the clock alone."""


def visits(printer: Printer, *, repeats: int) -> None:
    head = [
        "visits per second",
        "simulate, CPU",
        "simulate, wall",
        "clock, CPU",
        "clock, wall",
    ]
    printer.table(head, rows(printer, repeats), [LABEL, *(FIGURE for _ in head[1:])])


def rows(printer: Printer, repeats: int) -> Iterator[list[str]]:
    """All rules in turn, again and again."""
    for num_clients, horizon in HORIZONS.items():
        printer.tell(f"N = {num_clients:,}")
        base = Scenario.preset("paper") if num_clients == 40 else scenario_of(num_clients)
        plan = make_plan(base, iterations=1000)
        alike = {"horizon": horizon, "eval_every": horizon, "head_start": 0.0}
        scenarios = [base.replace(run={"algorithm": a, "clock": c, **alike}) for a, c in RULES]
        found = [[measure(each, plan) for each in scenarios] for _ in range(repeats)]
        for i, rule in enumerate(RULES):
            figures = np.array([of_repeat[i] for of_repeat in found]).T
            label = f"N = {num_clients:,}, {', '.join(rule)}"
            yield [label, *(spread(list(figure), whole) for figure in figures)]


def measure(scenario: Scenario, plan: Plan) -> Rates:
    timetable = Timetable.of(scenario, plan, scenario.run.algorithm)
    horizon = scenario.run.horizon
    wall, cpu = time.perf_counter(), time.process_time()
    trace = simulate(scenario, plan, Idle())
    simulated = time.process_time() - cpu, time.perf_counter() - wall
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in events(timetable, horizon, horizon):
        pass
    told = time.process_time() - cpu, time.perf_counter() - wall
    number = len(trace.visits)
    return (
        number / simulated[0],
        number / simulated[1],
        number / told[0],
        number / told[1],
    )
