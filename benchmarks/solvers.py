"""Who is compared: our two planners and the peers that are installed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import ortools_peer
import pyvrp_peer
from machine import installed_version

from flexpress import Scenario
from flexpress.planning import Problem
from flexpress.planning.carp import solve_carp
from flexpress.planning.problem import Tours
from flexpress.planning.progress import Effort
from flexpress.planning.search import load, solve_search
from flexpress.scenario import Objective

Solve = Callable[[], Tours | None]
Prepare = Callable[[Problem, Objective, float, int], Solve]
"""Of a problem, an objective, seconds and a seed."""


@dataclass(frozen=True)
class Solver:
    """`prepare` builds the model, which is not timed; what it returns is."""

    name: str
    prepare: Prepare
    objectives: tuple[Objective, ...]
    package: str | None = None  # what must be installed

    def missing(self) -> bool:
        return self.package is not None and installed_version(self.package) is None


def prepare_search(problem: Problem, objective: Objective, seconds: float, seed: int) -> Solve:
    load(problem)
    return partial(solve_search, problem, objective, Effort(seconds=seconds, seed=seed))


def prepare_carp(problem: Problem, objective: Objective, seconds: float, seed: int) -> Solve:
    solve_carp(small(), objective, Effort(iterations=1))  # loads the compiled code
    return partial(solve_carp, problem, objective, Effort(seconds=seconds, seed=seed))


def small() -> Problem:
    return Problem.of(Scenario.preset("four"))


SOLVERS = [
    Solver("search", prepare_search, ("minmax", "sws", "total")),
    Solver("carp", prepare_carp, ("minmax", "sws", "total")),
    Solver("OR-Tools", ortools_peer.prepare, ("minmax", "total"), "ortools"),
    Solver("PyVRP", pyvrp_peer.prepare, ("total",), "pyvrp"),
]
