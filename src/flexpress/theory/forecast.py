"""How fast one algorithm converges on one plan, by the bounds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from flexpress.arguments import check_choice
from flexpress.scenario import Algorithm, Objective
from flexpress.theory.bounds import (
    Bound,
    Constants,
    RoundTrips,
    Theorem,
    check_head_start,
    theorem1,
    theorem2,
    theorem3,
)
from flexpress.theory.rates import best_rate, soonest, stable_rate

_THEOREMS: dict[Algorithm, Theorem] = {"sync": theorem1, "async": theorem2}


def theorem_of(algorithm: Algorithm, head_start: float = 0.0) -> Theorem:
    """With a head start Theorem 3 is that of Sync. InputError for `direct`: there is no theorem."""
    found = _THEOREMS[check_choice("algorithm", algorithm, tuple(_THEOREMS))]
    if check_head_start(head_start) == 0:
        return found
    return partial(theorem3 if algorithm == "sync" else theorem2, head_start=head_start)


def theorem_name(algorithm: Algorithm, head_start: float) -> str:
    """The name of `theorem_of` these."""
    if algorithm == "async":
        return "Theorem 2"
    return "Theorem 3" if head_start else "Theorem 1"


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
    head_start: float  # gamma


def forecast(
    constants: Constants,
    tours: RoundTrips,
    *,
    objective: Objective,
    algorithm: Algorithm,
    horizon: float,
    target: float,
    head_start: float = 0.0,
) -> Forecast:
    """Apply the theorem of the algorithm to the round trips of a plan.

    The theorems cannot be compared: with tours of one length both algorithms are the same, but the
    terms of Theorem 2 are up to 4.4 times those of Theorem 1. FedEx-Sync is FedEx-Async with all
    tours as long as the longest, so Theorem 2 holds for it too: compare `slots_alike`. With a head
    start the theorem of FedEx-Sync needs the clients' dissimilarity.
    """
    theorem = theorem_of(algorithm, head_start)
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
        stable_rate=stable_rate(algorithm, tours, constants.smoothness, head_start),
        slots_alike=soonest(theorem_of("async", head_start), constants, flown, target).slots,
        head_start=head_start,
    )
