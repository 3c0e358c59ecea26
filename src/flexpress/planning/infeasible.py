"""What to tell a user whose budgets no plan was found to keep."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from flexpress.errors import InfeasibleError
from flexpress.planning.problem import FloatArray, Problem, Tours

Balance = Callable[[Problem], Tours | None]
"""Solves a problem without budgets for `minmax`; None if it was stopped at once."""


def explain_infeasible(problem: Problem, balance: Balance, *, proven: bool) -> InfeasibleError:
    """One line: which transporter binds, and the smallest equal budget found to work.

    Both are the min-max problem with energy in the place of time: in shares of the budgets, and
    in joules.
    """
    verdict = "no plan fits the budgets" if proven else "no plan found that fits the budgets"
    shares = balance(problem.with_energy_for_time(problem.budgets))
    equal = balance(problem.with_energy_for_time(np.ones(problem.num_transporters)))
    if shares is None or equal is None:
        return InfeasibleError(verdict)
    if problem.feasible(shares):
        return InfeasibleError(f"{verdict}, but there are some: try the solver search")
    energies = energies_of(problem, shares)
    k = int(np.argmax(energies / problem.budgets))
    needed = math.ceil(energies_of(problem, equal).max() * 10) / 10
    smallest = "the smallest equal budget" if proven else "the smallest equal budget found"
    return InfeasibleError(
        f"{verdict}: transporter {k + 1} binds, with {energies[k]:.1f} J needed of "
        f"{problem.budgets[k]:.1f} J even where the load is shared best; {smallest} to work "
        f"is {needed} J for each; raise the budgets, or add transporters"
    )


def energies_of(problem: Problem, tours: Tours) -> FloatArray:
    return np.array([problem.energy(k, tour) for k, tour in enumerate(tours)])
