"""What to tell a user whose budgets no plan was found to keep."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from flexpress.errors import InfeasibleError
from flexpress.planning.problem import FloatArray, Problem, Tours

Balance = Callable[[Problem], Tours | None]
"""Solves a problem without budgets for `minmax`; None if it was stopped at once."""

NONE_FOUND = "no plan found that fits the budgets"
NONE_FITS = "no plan fits the budgets"


def explain_infeasible(problem: Problem, balance: Balance, proof: str | None) -> InfeasibleError:
    """One line: what is proven, which transporter binds, the smallest equal budget that works.

    The last two are the min-max problem with energy in the place of time: in shares of the budgets,
    and in joules. `proof` says how it is known that no plan fits; None if it is not.
    """
    verdict = NONE_FOUND if proof is None else f"{NONE_FITS}: {proof}"
    shares = balance(problem.with_energy_for_time(problem.budgets))
    equal = balance(problem.with_energy_for_time(np.ones(problem.num_transporters)))
    if shares is None or equal is None:
        return InfeasibleError(verdict)
    if problem.feasible(shares):
        return InfeasibleError(f"{verdict}, but there are some: try the solver search")
    energies = energies_of(problem, shares)
    k = int(np.argmax(energies / problem.budgets))
    needed = math.ceil(energies_of(problem, equal).max() * 10) / 10
    return InfeasibleError(
        f"{verdict}; transporter {k + 1} binds, with {energies[k]:.1f} J needed of "
        f"{problem.budgets[k]:.1f} J where the load is shared best; the smallest equal budget "
        f"found to work is {needed} J for each; raise the budgets, or add transporters"
    )


def energies_of(problem: Problem, tours: Tours) -> FloatArray:
    return np.array([problem.energy(k, tour) for k, tour in enumerate(tours)])
