"""Learning rates: of the paper's remarks, those that minimise a bound, and the largest stable one.

Both theorems have the form steady(eta) + once(eta) / T. The steady part (delay, noise) grows with
the rate, and the part that fades falls with it. So there is one best rate for T slots, and one that
reaches a target soonest.

The theorems do not say when old updates do harm; a loss with one curvature for all clients does.
Let f = (c/2) x^2. A tour of Delta steps brings the share a = 1 - (1 - eta c)^Delta of the model
that its clients had, which was the server's two tours ago. FedEx-Sync is x_{r+1} = x_r - a x_{r-1}:
stable for a < 1. K transporters that land evenly spread over the tour make it
x_{n+1} = x_n - (a/K) x_{n+1-2K}. Such a recursion, x_{n+1} = x_n - b x_{n-d}, is stable for
b < 2 sin(pi / (4 d + 2)): with K = 4 for a < 0.84, with many for a < pi/4. With a head start there
is no such formula, and the landings are followed one by one (stability.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from numbers import Real

from flexpress.arguments import (
    check_choice,
    check_kind,
    check_number,
    check_whole,
    refusal,
    shown,
)
from flexpress.errors import InputError
from flexpress.scenario import Algorithm
from flexpress.theory.bounds import (
    THEOREM1,
    THEOREM2,
    Bound,
    Constants,
    RoundTrips,
    Theorem,
    check_head_start,
    check_problem,
    theorem1,
    theorem1_simplified,
    theorem2,
    theorem3,
    theorem3_rate,
)
from flexpress.theory.stability import stable_step

_GOLDEN = (math.sqrt(5) - 1) / 2
_NARROWINGS = 120
_SMALLEST_RATE = 1e-30
"""Lower end of the search for a rate, relative to 1/L."""

_INSIDE = 1 - 1e-9
"""Theorem 3 holds below its largest rate, not at it."""

_PRINTED = (theorem1, theorem1_simplified, theorem2)


def paper_rate(constants: Constants, num_clients: int, horizon: float) -> float:
    """sqrt(N) / (L sqrt(T)) of the remarks, for T >= N^3."""
    check_kind("constants", constants, Constants, "use those of estimate or exact_constants")
    num_clients = check_whole("num_clients", num_clients, 1)
    horizon = check_number("horizon", horizon, above=0)
    if not horizon >= num_clients**3:
        least = f"N^3 = {num_clients**3:,} for N = {num_clients}"
        raise InputError(f"horizon {horizon:g}: must be at least {least}")
    return math.sqrt(num_clients / horizon) / constants.smoothness


def paper_order(theorem: Theorem, constants: Constants, tours: RoundTrips) -> Bound:
    """The factor of 1 / sqrt(N T) in the remarks, for the paper's rate and any T >= N^3.

    Every term of the bound times sqrt(N T) is at most this.
    """
    if theorem not in _PRINTED:
        raise refusal("theorem", theorem, "theorem1, theorem1_simplified or theorem2")
    check_problem(constants, tours)
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


def best_rate(theorem: Theorem, constants: Constants, tours: RoundTrips, horizon: float) -> float:
    """The rate that minimises the bound after `horizon` slots."""
    limit = _largest_rate(theorem, constants, tours)
    return _lowest(lambda rate: theorem(constants, rate, tours, horizon).total, limit)


@dataclass(frozen=True)
class Reached:
    """When the bound reaches a target, and with which learning rate."""

    slots: int
    rate: float


def soonest(theorem: Theorem, constants: Constants, tours: RoundTrips, target: float) -> Reached:
    """The fewest slots after which the bound is at most the target, over all rates."""
    limit = _largest_rate(theorem, constants, tours)
    check_target(target)

    def slots(rate: float) -> float:
        return slots_to(theorem, constants, rate, tours, target)

    rate = _lowest(slots, limit)
    found = slots(rate)
    if math.isinf(found):
        raise InputError(f"target {target:g}: the bound never falls that low; must be larger")
    return Reached(math.ceil(found * (1 - 1e-12)), rate)


def check_target(target: float) -> None:
    if not isinstance(target, Real) or not 0 < target < math.inf:
        limits = "must be more than 0, and finite"
        raise InputError(f"target {shown(target)}: {limits}; it is a squared gradient norm")


def _largest_rate(theorem: Theorem, constants: Constants, tours: RoundTrips) -> float:
    """Up to which the theorem holds: one of ours, or partial(theorem3, head_start=...) of it."""
    given, options = theorem, {}
    if isinstance(theorem, partial):
        given, options = theorem.func, theorem.keywords
    if given not in (*_PRINTED, theorem3):
        raise refusal("theorem", theorem, "theorem1, theorem1_simplified, theorem2 or theorem3")
    check_problem(constants, tours)
    if given is theorem3:
        limit = theorem3_rate(constants, tours, options.get("head_start", 1.0))
        return limit * _INSIDE
    return constants.largest_rate


def slots_to(
    theorem: Theorem, constants: Constants, rate: float, tours: RoundTrips, target: float
) -> float:
    """Slots after which the bound stays at or below the target; infinite if it never does.

    Theorem 1 can grow with time, from a few slots after the first tour up to delay and noise. A
    target below those is then met only for a while, which does not count.
    """
    first = math.floor(tours.longest) + 1
    steady = theorem(constants, rate, tours, math.inf).total
    once = (theorem(constants, rate, tours, first).total - steady) * first
    return max(first, once / (target - steady)) if steady < target else math.inf


def _lowest(cost: Callable[[float], float], largest_rate: float) -> float:
    """Golden section search over the logarithm of the rate: these costs fall, then rise."""
    low, high = math.log(_SMALLEST_RATE * largest_rate), math.log(largest_rate)
    for _ in range(_NARROWINGS):
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        if cost(math.exp(left)) <= cost(math.exp(right)):  # also where both are infinite
            high = right
        else:
            low = left
    return min(math.exp(high), largest_rate)


def stable_rate(
    algorithm: Algorithm, tours: RoundTrips, smoothness: float, head_start: float = 0.0
) -> float:
    """The largest eta, at most 1/L, that is stable in the direction of the largest curvature of f.

    Transporters with tours of equal length land together and count as one.
    """
    check_choice("algorithm", algorithm, ("sync", "async"))
    check_kind("tours", tours, RoundTrips, "use RoundTrips.of(scenario, plan)")
    check_number("smoothness", smoothness, above=0)
    if check_head_start(head_start):
        return stable_step(algorithm, tours, head_start) / smoothness
    landings = 1 if algorithm == "sync" else len(set(tours.slots))
    length = math.sqrt(tours.mean_square)
    step = 1.0 if landings == 1 else 1 - math.pow(1 - _stable_share(landings), 1 / length)
    return step / smoothness


def _stable_share(landings: int) -> float:
    """The largest stable a, for this number of landings per tour."""
    return min(1.0, 2 * landings * math.sin(math.pi / (8 * landings - 2)))
