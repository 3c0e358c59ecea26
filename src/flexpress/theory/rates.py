"""Learning rates: the one of the paper's remarks, and the ones that make a bound smallest.

Both theorems are steady(eta) + once(eta) / T, where the steady part (delay, noise) grows with the
rate and the part that fades falls with it. So there is one best rate for T slots, and one that
comes to a target soonest.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real

from flexpress.arguments import check_kind, check_number, check_whole, refusal, shown
from flexpress.errors import InputError
from flexpress.theory.bounds import (
    THEOREM1,
    THEOREM2,
    Bound,
    Theorem,
    check_problem,
    theorem1,
    theorem1_simplified,
    theorem2,
)
from flexpress.theory.constants import Constants
from flexpress.theory.tours import Tours

GOLDEN = (math.sqrt(5) - 1) / 2
NARROWINGS = 120
SMALLEST_RATE = 1e-30
"""Of 1/L: where the search for a rate begins."""


def paper_rate(constants: Constants, num_clients: int, horizon: float) -> float:
    """sqrt(N) / (L sqrt(T)) of the remarks, for T >= N^3."""
    check_kind("constants", constants, Constants, "take those of estimate or exact_constants")
    num_clients = check_whole("num_clients", num_clients, 1)
    horizon = check_number("horizon", horizon, above=0)
    if not horizon >= num_clients**3:
        least = f"N^3 = {num_clients**3:,} for N = {num_clients}"
        raise InputError(f"horizon {horizon:g}: must be at least {least}")
    return math.sqrt(num_clients / horizon) / constants.smoothness


def paper_order(theorem: Theorem, constants: Constants, tours: Tours) -> Bound:
    """What stands before 1 / sqrt(N T) in the remarks: for the paper's rate and any T >= N^3.

    Every term of the bound times sqrt(N T) is at most this.
    """
    check_theorem(theorem, constants, tours)
    sync = theorem is not theorem2
    factors = THEOREM1 if sync else THEOREM2
    routes = tours.routes("sync" if sync else "async")
    first_tour = tours.longest * constants.start_gradient / tours.num_clients
    return Bound(
        start=factors.start * constants.smoothness * constants.start_gap,
        first_tour=first_tour if theorem is theorem1 else 0.0,
        delay=factors.delay * constants.gradient**2 * routes,
        noise=factors.noise * constants.noise**2,
    )


def best_rate(theorem: Theorem, constants: Constants, tours: Tours, horizon: float) -> float:
    """The rate for which the bound after so many slots is smallest."""
    check_theorem(theorem, constants, tours)
    return lowest(
        lambda rate: theorem(constants, rate, tours, horizon).total, constants.largest_rate
    )


@dataclass(frozen=True)
class Reached:
    """When the bound is at a target, and with which learning rate."""

    slots: int
    rate: float


def soonest(theorem: Theorem, constants: Constants, tours: Tours, target: float) -> Reached:
    """The fewest slots after which the bound is at most the target, over all rates."""
    check_theorem(theorem, constants, tours)
    check_target(target)

    def slots(rate: float) -> float:
        return slots_to(theorem, constants, rate, tours, target)

    rate = lowest(slots, constants.largest_rate)
    found = slots(rate)
    if math.isinf(found):
        raise InputError(f"target {target:g}: no bound comes down to it; must be larger")
    return Reached(math.ceil(found * (1 - 1e-12)), rate)


def check_target(target: float) -> None:
    if not isinstance(target, Real) or not 0 < target < math.inf:
        limits = "must be more than 0, and finite"
        raise InputError(f"target {shown(target)}: {limits}; it is a squared gradient norm")


def check_theorem(theorem: Theorem, constants: Constants, tours: Tours) -> None:
    if theorem not in (theorem1, theorem1_simplified, theorem2):
        raise refusal("theorem", theorem, "theorem1, theorem1_simplified or theorem2")
    check_problem(constants, tours)


def slots_to(
    theorem: Theorem, constants: Constants, rate: float, tours: Tours, target: float
) -> float:
    """From which on the bound is at most the target; infinite if it does not stay there.

    Theorem 1 can grow with time, from a few slots after the first tour up to delay and noise: a
    target below those is then passed only for a while, which does not count.
    """
    first = math.floor(tours.longest) + 1
    steady = theorem(constants, rate, tours, math.inf).total
    once = (theorem(constants, rate, tours, first).total - steady) * first
    return max(first, once / (target - steady)) if steady < target else math.inf


def lowest(cost: Callable[[float], float], largest_rate: float) -> float:
    """By golden section over the logarithm of the rate: these costs fall, then rise."""
    low, high = math.log(SMALLEST_RATE * largest_rate), math.log(largest_rate)
    for _ in range(NARROWINGS):
        left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        if cost(math.exp(left)) <= cost(math.exp(right)):  # also where both are infinite
            high = right
        else:
            low = left
    return min(math.exp(high), largest_rate)
