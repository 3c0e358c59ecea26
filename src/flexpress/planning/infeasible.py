"""The error message if no plan is found that keeps the budgets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from flexpress.arrays import FloatArray
from flexpress.callbacks import ShouldStop, never
from flexpress.errors import InfeasibleError
from flexpress.planning.problem import BUDGET_TOLERANCE, Problem, Tours
from flexpress.planning.progress import Effort, Watch
from flexpress.scenario import Scenario
from flexpress.scenario.units import ENERGY, SPARED

_NONE_FOUND = "no plan found that fits the budgets"
_NONE_FITS = "no plan fits the budgets"

_ITERATIONS_PER_CLIENT = 1500
"""Effort of the search for the best-balanced load."""


@dataclass(frozen=True)
class Words:
    """The names of the clients, and the budgets as the user gave them, each in its unit."""

    client_ids: Sequence[object]
    budgets: Sequence[float]

    @classmethod
    def of(cls, scenario: Scenario) -> Self:
        return cls(scenario.client_ids, scenario.fleet.budgets or ())

    def budget(self, k: int) -> str:
        return ENERGY.text(self.budgets[k], self.budgets[k])

    def budget_of(self, k: int, joules: float) -> str:
        """A budget of transporter k that is enough for this energy."""
        return ENERGY.rounded_up(joules, self.budgets[k])

    def needs(self, k: int, joules: float) -> str:
        return f"needs {self.budget_of(k, joules)} but has {self.budget(k)}"


def explain_infeasible(
    problem: Problem,
    words: Words,
    proof: str | None,
    *,
    seed: int = 0,
    should_stop: ShouldStop = never,
) -> InfeasibleError:
    """One line: what is proven, which transporter lacks how much, and what is enough.

    `proof` says how it is known that no plan fits; None if that is not known. `diagnose` with the
    same seed gives the same figures.
    """
    verdict = _NONE_FOUND if proof is None else f"{_NONE_FITS}: {proof}"
    tours = balanced(problem, seed, should_stop)
    if tours is None:
        return InfeasibleError(verdict)
    if problem.feasible(tours):
        return InfeasibleError(f"{verdict}, but there are some: give the solver search more time")
    energies = np.array([problem.energy(k, tour) for k, tour in enumerate(tours)])
    k = int(np.argmax(energies / problem.budgets))
    remedy = _larger_budgets(problem, words, float(energies[k] / problem.budgets[k]))
    if out_of_range(problem) is not None:
        return InfeasibleError(f"{verdict}; {remedy}")
    load = f"even with the best-balanced load, transporter {k + 1} {words.needs(k, energies[k])}"
    return InfeasibleError(f"{verdict}; {load}; {remedy}, or add transporters")


def balanced(problem: Problem, seed: int, should_stop: ShouldStop = never) -> Tours | None:
    """Tours whose largest share of a budget is the smallest found; None if stopped at once.

    This is the min-max problem with energy instead of time.
    """
    from flexpress.planning.search import solve_search

    shares = problem.with_energy_for_time(problem.budgets)
    effort = Effort(iterations=_ITERATIONS_PER_CLIENT * problem.num_clients, seed=seed)
    return solve_search(shares, "minmax", effort, Watch(should_stop=should_stop))


def _larger_budgets(problem: Problem, words: Words, factor: float) -> str:
    if len(np.unique(problem.budgets)) > 1:
        return f"raise the budgets by {percent_up(factor):,} %"
    enough = words.budget_of(0, factor * float(problem.budgets[0]))
    several = problem.num_transporters > 1
    return f"raise the budgets to {enough} each" if several else f"raise its budget to {enough}"


def percent_up(factor: float) -> int:
    """By how many per cent to raise a value to reach this factor."""
    return math.ceil(100 * (factor * (1 - SPARED) - 1))


def out_of_range(problem: Problem) -> int | None:
    """Row of the farthest client, if no transporter can fly straight to it alone and come back.

    If there is none, enough transporters like these can serve all: one for each client.
    """
    alone = shares_alone(problem).min(axis=0)  # (clients,)
    farthest = int(np.argmax(alone))
    return farthest if alone[farthest] > 1 + BUDGET_TOLERANCE else None


def shares_alone(problem: Problem) -> FloatArray:
    """(transporters, clients): the share of each budget for a straight flight to this client."""
    metres = 2 * problem.distances_from_server()
    if problem.matrix is not None:
        metres = problem.matrix[0, 1:] + problem.matrix[1:, 0]
    energies = problem.energy_per_metre[:, None] * metres + problem.energy_per_client[:, None]
    shares: FloatArray = energies / problem.budgets[:, None]
    return shares
