"""Proofs that no plan keeps the budgets, the cheapest first."""

from __future__ import annotations

import math

import numpy as np

from flexpress.planning.bounds.certificate import has_highs
from flexpress.planning.bounds.effort import ProofEffort
from flexpress.planning.bounds.one_tree import least_length
from flexpress.planning.bounds.pricing_data import kinds_of
from flexpress.planning.bounds.shared_load import ways_back, ways_there
from flexpress.planning.bounds.tour_bounds import TourBounds
from flexpress.planning.infeasible import Words
from flexpress.planning.problem import BUDGET_TOLERANCE, Problem
from flexpress.scenario.units import ENERGY

_MOST_EXTRA = 20
"""The proof counts at most this many additional transporters."""

_SURE = 1e-6
"""Relative: a smaller excess may be rounding."""


def prove_infeasible(problem: Problem, words: Words, effort: ProofEffort) -> str | None:
    """Why no plan keeps the budgets, in words; None if that could not be proven."""
    return (
        out_of_reach(problem, words)
        or _too_much_together(problem, words, effort)
        or _not_by_tours(problem, effort)
    )


def out_of_reach(problem: Problem, words: Words) -> str | None:
    """A client too far for any transporter, even alone, and the transporter that comes nearest."""
    metres = ways_there(problem) + ways_back(problem)
    energies = problem.energy_per_metre[:, None] * metres + problem.energy_per_client[:, None]
    shares = energies / problem.budgets[:, None]  # (transporters, clients)
    nearest = shares.min(axis=0)
    worst = int(np.argmax(nearest))
    if nearest[worst] <= 1 + BUDGET_TOLERANCE + _SURE:
        return None
    k = int(np.argmin(shares[:, worst]))
    return (
        f"client {words.client_ids[worst]} is out of reach of every transporter: for a flight to "
        f"it alone transporter {k + 1}, which comes nearest, "
        f"{words.needs(k, float(energies[k, worst]))}"
    )


def _too_much_together(problem: Problem, words: Words, effort: ProofEffort) -> str | None:
    """The least energy of all tours together, compared with the sum of the budgets."""
    kinds = kinds_of(problem)
    together = sum(kind.number * kind.budget for kind in kinds)
    if math.isinf(together):
        return None
    energy = least_length(problem, effort.watch.should_stop) * min(
        k.energy_per_metre for k in kinds
    )
    energy += problem.num_clients * min(kind.energy_per_client for kind in kinds)
    if energy <= together * (1 + BUDGET_TOLERANCE + _SURE):
        return None
    if len(kinds) > 1:
        least = ENERGY.rounded_down(energy, words.budgets[0])
        have = ENERGY.text(together, words.budgets[0])
        return f"all tours together take at least {least}, all budgets together are {have}"
    return _at_least(math.ceil(energy / (kinds[0].budget * (1 + _SURE))))


def _not_by_tours(problem: Problem, effort: ProofEffort) -> str | None:
    """No choice of tours within the budgets covers all clients, even in fractions."""
    if not has_highs():
        return None
    bounds = TourBounds(problem, effort)
    if len(bounds.kinds) > 1:
        return "proven by column generation" if bounds.impossible_within(math.inf) else None
    fewest = bounds.fewest_transporters(problem.num_transporters + _MOST_EXTRA)
    return None if fewest is None else _at_least(fewest)


def _at_least(number: int) -> str:
    return f"proven, it needs at least {number} transporters like these"
