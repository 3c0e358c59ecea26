"""What is proven about the plans of `search` on the paper's networks, and how long it takes."""

from __future__ import annotations

import time
from collections.abc import Iterator

from printer import Printer
from table import number

from flexpress import Scenario, certify_plan, make_plan
from flexpress.planning.bounds import load
from flexpress.scenario import Objective

OBJECTIVES: tuple[Objective, ...] = ("minmax", "sws", "total")
SEEDS = range(5)
OPTIMAL = 1e-6
LABEL, FIGURE = 30, 15

HEAD = ["certificate", "value", "bound", "gap", "wall / CPU s"]


def certify(printer: Printer, seconds: float) -> None:
    printer.say(f"At most {seconds:g} s for each proof, one thread.", "")
    load()
    printer.table(HEAD, rows(seconds), [LABEL, *(FIGURE for _ in HEAD[1:])])


def rows(seconds: float) -> Iterator[list[str]]:
    """A row for each network and objective, with this limit of time."""
    for objective in OBJECTIVES:
        for seed in SEEDS:
            yield row(objective, seed, seconds)


def row(objective: Objective, seed: int, seconds: float) -> list[str]:
    scenario = Scenario.preset("paper", seed=seed)
    plan = make_plan(scenario, objective=objective)
    wall, cpu = time.perf_counter(), time.process_time()
    certified = certify_plan(scenario, plan, seconds=seconds)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    assert certified.lower_bound is not None
    assert certified.gap is not None
    gap = "optimal" if certified.gap <= OPTIMAL else f"{100 * certified.gap:.2f} %"
    figures = [number(plan.cost), number(certified.lower_bound), gap, f"{wall:.1f} / {cpu:.1f}"]
    return [f"paper, seed {seed}, {objective}", *figures]
