"""With this plan, how fast will it converge: the bounds put to use for one plan and algorithm."""

from __future__ import annotations

from dataclasses import dataclass

from flexpress.arguments import check_choice
from flexpress.scenario import Algorithm, Objective
from flexpress.theory.bounds import Bound, Theorem, theorem1, theorem2
from flexpress.theory.constants import Constants
from flexpress.theory.rates import best_rate, soonest
from flexpress.theory.stability import stable_rate
from flexpress.theory.tours import Tours

THEOREMS: dict[Algorithm, Theorem] = {"sync": theorem1, "async": theorem2}


def theorem_of(algorithm: Algorithm) -> Theorem:
    """InputError for `direct`, of which the paper proves nothing."""
    return THEOREMS[check_choice("algorithm", algorithm, tuple(THEOREMS))]


@dataclass(frozen=True)
class Forecast:
    """What the theorem of an algorithm promises for a plan."""

    objective: Objective  # of the plan
    algorithm: Algorithm
    tours: Tours
    rate: float  # for which the bound at the horizon is smallest
    bound: Bound  # at the horizon, with that rate
    slots: int  # until the bound is at the target
    rate_to_target: float  # with which it is there soonest
    stable_rate: float  # up to which old updates do no harm, by a quadratic with this L
    slots_alike: int  # the same by Theorem 2 for either algorithm, so that they can be compared


def forecast(
    constants: Constants,
    tours: Tours,
    *,
    objective: Objective,
    algorithm: Algorithm,
    horizon: float,
    target: float,
) -> Forecast:
    """The two theorems differ in their factors, not only in what the routes put into them.

    For tours of one length both algorithms are the same, yet Theorem 2 has up to 4.4 times the
    terms of Theorem 1. FedEx-Sync is FedEx-Async with all tours as long as the longest, so that
    Theorem 2 holds for it too, and `slots_alike` compares what is comparable.
    """
    theorem = theorem_of(algorithm)
    rate = best_rate(theorem, constants, tours, horizon)
    reached = soonest(theorem, constants, tours, target)
    flown = tours.in_step() if algorithm == "sync" else tours
    return Forecast(
        objective=objective,
        algorithm=algorithm,
        tours=tours,
        rate=rate,
        bound=theorem(constants, rate, tours, horizon),
        slots=reached.slots,
        rate_to_target=reached.rate,
        stable_rate=stable_rate(algorithm, tours, constants.smoothness),
        slots_alike=soonest(theorem2, constants, flown, target).slots,
    )
