"""How fast one algorithm converges on one plan, by the bounds."""

from __future__ import annotations

from dataclasses import dataclass

from flexpress.arguments import check_choice
from flexpress.scenario import Algorithm, Objective
from flexpress.theory.bounds import Bound, Constants, RoundTrips, Theorem, theorem1, theorem2
from flexpress.theory.rates import best_rate, soonest, stable_rate

_THEOREMS: dict[Algorithm, Theorem] = {"sync": theorem1, "async": theorem2}


def theorem_of(algorithm: Algorithm) -> Theorem:
    """InputError for `direct`: the paper has no theorem about it."""
    return _THEOREMS[check_choice("algorithm", algorithm, tuple(_THEOREMS))]


@dataclass(frozen=True)
class Forecast:
    """What the theorem of an algorithm promises for a plan."""

    objective: Objective  # of the plan
    algorithm: Algorithm
    tours: RoundTrips
    rate: float  # that minimises the bound at the horizon
    bound: Bound  # at the horizon, with that rate
    slots: int  # until the bound reaches the target
    rate_to_target: float  # with which it does so soonest
    stable_rate: float  # the largest stable one, for a quadratic with this L
    slots_alike: int  # by Theorem 2 for either algorithm, to compare them


def forecast(
    constants: Constants,
    tours: RoundTrips,
    *,
    objective: Objective,
    algorithm: Algorithm,
    horizon: float,
    target: float,
) -> Forecast:
    """Apply the theorem of the algorithm to the round trips of a plan.

    The theorems cannot be compared: with tours of one length both algorithms are the same, but the
    terms of Theorem 2 are up to 4.4 times those of Theorem 1. FedEx-Sync is FedEx-Async with all
    tours as long as the longest, so Theorem 2 holds for it too: compare `slots_alike`.
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
