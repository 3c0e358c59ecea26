"""The paper's lemmas and theorems, and what they are about: constants and round trips.

Every bound is the right-hand side of its statement, as printed. docs/theory.md has the statements
and comments on their proofs. Theorem 3 and the head start of Theorem 2 are ours, and proved there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from numbers import Real

from flexpress.arguments import check_kind, check_number, check_whole, refusal, shown
from flexpress.errors import InputError
from flexpress.planning import Plan
from flexpress.scenario import Algorithm, Scenario, check_scenario

_ROUNDING = 1e-12
"""Relative rounding error by which a rate may exceed 1/L."""


@dataclass(frozen=True)
class Constants:
    """A learning problem: Section "Assumptions" of the paper, and the start of training."""

    smoothness: float  # L: Lipschitz constant of every client's gradient
    gradient: float  # G: limit for the root mean square of mini-batch gradients
    noise: float  # sigma: limit for that of their distances from the client's gradient
    start_gap: float  # f(x^0) - f^*
    start_gradient: float  # |grad f(x^0)|^2
    dissimilarity: float | None = None  # zeta: limit for that of grad f_i - grad f over the clients

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None or field.name != "dissimilarity":
                check_number(field.name, value, least=0)
        if self.smoothness == 0:
            raise InputError("smoothness = 0: must be more than 0, as the rate is at most 1/L")

    @property
    def largest_rate(self) -> float:
        """1 / L: both theorems hold up to this rate."""
        return 1 / self.smoothness


@dataclass(frozen=True)
class RoundTrips:
    """The plan, as far as the bounds depend on it: clients and round trip of every tour flown."""

    clients: tuple[int, ...]  # R_k
    slots: tuple[float, ...]  # Delta_k

    def __post_init__(self) -> None:
        for name, values in {"clients": self.clients, "slots": self.slots}.items():
            if not isinstance(values, Sequence) or isinstance(values, str):
                raise refusal(name, values, "a tuple with a number for each tour")
        if not self.clients or len(self.clients) != len(self.slots):
            counts = f"{len(self.clients)} numbers of clients, {len(self.slots)} of slots"
            raise InputError(f"{counts}: must be one of each for every tour, and at least one tour")
        for clients, slots in zip(self.clients, self.slots, strict=True):
            check_whole("clients of a tour", clients, 1)
            check_number("slots of a tour", slots, above=0)

    @classmethod
    def of(cls, scenario: Scenario, plan: Plan) -> RoundTrips:
        """In whole slots by the slot clock, as in the paper; exact ones by the exact clock.

        The proofs are about whole slots. With exact lengths the delay terms are proportional to
        the objectives, minmax squared and sws.
        """
        check_scenario(scenario)
        check_kind("plan", plan, Plan, "make one with make_plan(scenario)")
        flown = [tour for tour in plan.transporters if tour.clients]
        if scenario.run.clock == "slots":
            slots = tuple(float(tour.round_trip_slots) for tour in flown)
        else:
            slots = tuple(tour.round_trip / scenario.slot for tour in flown)
        return cls(tuple(len(tour.clients) for tour in flown), slots)

    @property
    def num_clients(self) -> int:
        return sum(self.clients)

    @property
    def longest(self) -> float:
        """Delta of FedEx-Sync."""
        return max(self.slots)

    @property
    def mean_square(self) -> float:
        """(1/N) sum_k R_k Delta_k^2: what FedEx-Async's bounds depend on."""
        squares = [r * d**2 for r, d in zip(self.clients, self.slots, strict=True)]
        return sum(squares) / self.num_clients

    def routes(self, algorithm: Algorithm) -> float:
        """The factor of the theorem's delay that depends on the plan, in slots squared."""
        return self.longest**2 if algorithm == "sync" else self.mean_square

    def in_step(self) -> RoundTrips:
        """All tours as long as the longest: FedEx-Sync as a case of FedEx-Async."""
        return replace(self, slots=(self.longest,) * len(self.slots))


@dataclass(frozen=True)
class Bound:
    """An upper bound of (1/T) sum_t E|grad f(x^t)|^2, as the sum of its causes."""

    start: float  # distance of x^0 from the best model: fades with T
    first_tour: float  # the model does not change before the first landing: fades with T
    delay: float  # updates are stale, and clients differ: depends on the plan, does not fade
    noise: float  # mini-batches are random: falls with the number of clients

    @property
    def total(self) -> float:
        return self.start + self.first_tour + self.delay + self.noise


@dataclass(frozen=True)
class _Factors:
    """The numerical factors of a theorem's terms."""

    start: float
    delay: float
    noise: float

    def bound(
        self, constants: Constants, rate: float, routes: float, num_clients: int, horizon: float
    ) -> Bound:
        """`routes` is the factor of the delay that depends on the plan, in slots squared."""
        return Bound(
            start=self.start * constants.start_gap / (rate * horizon),
            first_tour=0.0,
            delay=self.delay * constants.smoothness**2 * _drift(constants, rate) * routes,
            noise=self.noise * constants.smoothness * rate * constants.noise**2 / num_clients,
        )


THEOREM1, THEOREM2 = _Factors(2, 10, 1), _Factors(4, 44, 2)

Theorem = Callable[[Constants, float, RoundTrips, float], Bound]
"""Constants, learning rate, tours, slots -> bound."""


def lemma1(constants: Constants, rate: float, tours: RoundTrips) -> float:
    """FedEx-Sync: the bound of E|x^t - x_i^t|^2, for every client and t > Delta."""
    check_problem(constants, tours)
    check_rate(constants, rate)
    return 4 * _drift(constants, rate) * tours.longest**2


def theorem1(constants: Constants, rate: float, tours: RoundTrips, horizon: float) -> Bound:
    """The bound for FedEx-Sync."""
    simple = theorem1_simplified(constants, rate, tours, horizon)
    idle = tours.longest / horizon
    return Bound(
        start=simple.start,
        first_tour=idle * constants.start_gradient,
        delay=(1 - idle) * simple.delay,
        noise=(1 - idle) * simple.noise,
    )


def theorem1_simplified(
    constants: Constants, rate: float, tours: RoundTrips, horizon: float
) -> Bound:
    """The remark after Theorem 1: for T much larger than Delta."""
    check_problem(constants, tours)
    check_rate(constants, rate)
    check_horizon(tours, horizon)
    return THEOREM1.bound(constants, rate, tours.longest**2, tours.num_clients, horizon)


def lemma2_global(constants: Constants, rate: float, tours: RoundTrips) -> float:
    """FedEx-Async: the bound of E|v^t - x^t|^2, between virtual and real global model."""
    check_problem(constants, tours)
    check_rate(constants, rate)
    return 4 * _drift(constants, rate) * tours.mean_square


def lemma2_local(
    constants: Constants, rate: float, tours: RoundTrips, head_start: float = 0.0
) -> float:
    """FedEx-Async: the bound of (1/N) sum_i E|v^t - x_i^t|^2, virtual and clients' models.

    With a head start the clients' starts are farther off by gamma times an update.
    """
    check_problem(constants, tours)
    check_rate(constants, rate)
    factor = max(18.0, (4 + check_head_start(head_start)) ** 2)
    return factor * _drift(constants, rate) * tours.mean_square


def theorem2(
    constants: Constants, rate: float, tours: RoundTrips, horizon: float, head_start: float = 0.0
) -> Bound:
    """The bound for FedEx-Async. It holds with a head start, but does not show what that gains."""
    check_problem(constants, tours)
    check_rate(constants, rate)
    check_horizon(tours, horizon)
    gamma = check_head_start(head_start)
    factors = replace(THEOREM2, delay=max(THEOREM2.delay, 8 + 2 * (4 + gamma) ** 2))
    return factors.bound(constants, rate, tours.mean_square, tours.num_clients, horizon)


def theorem3(
    constants: Constants, rate: float, tours: RoundTrips, horizon: float, head_start: float = 1.0
) -> Bound:
    """The bound for FedEx-Sync with a head start, of the server's own models.

    With gamma = 1 nothing is left of the delay but what clients and mini-batches differ by.
    """
    check_problem(constants, tours)
    check_horizon(tours, horizon)
    gamma = check_head_start(head_start)
    _check_own_rate(constants, rate, tours, gamma)
    spread = theorem3_spread(constants, rate, tours, gamma)
    lag = ((1 - gamma) * tours.longest) ** 2 * _drift(constants, rate)
    share, flown = rate * constants.smoothness * tours.longest, 1 - tours.longest / horizon
    noise = rate * constants.smoothness * constants.noise**2 / tours.num_clients
    return Bound(
        start=(1 + share) * 2 * constants.start_gap / (rate * horizon),
        first_tour=tours.longest / horizon * constants.start_gradient,
        delay=flown * (1 + share) * constants.smoothness**2 * (lag + spread),
        noise=flown * (1 + share) * 2 * noise,
    )


def theorem3_spread(
    constants: Constants, rate: float, tours: RoundTrips, head_start: float
) -> float:
    """The bound of (1/N) sum_i E|x_i^t - mean_j x_j^t|^2: how far the clients drift apart."""
    if constants.dissimilarity is None:
        raise InputError(
            "dissimilarity = None: must be a number for Theorem 3; use the constants of estimate, "
            "or a head_start of 0, as in the paper"
        )
    rho = math.pow(1 + rate * constants.smoothness, tours.longest) - 1
    apart = tours.longest * constants.dissimilarity + math.sqrt(tours.longest) * constants.noise
    return (rate * apart * (1 + rho) * (1 + head_start) / (1 - head_start * rho)) ** 2


def theorem3_rate(constants: Constants, tours: RoundTrips, head_start: float) -> float:
    """Theorem 3 holds up to this rate: eta L Delta <= 1, and gamma ((1 + eta L)^Delta - 1) < 1."""
    most = 1 / tours.longest
    if head_start:
        most = min(most, math.pow(1 + 1 / head_start, 1 / tours.longest) - 1)
    return most * constants.largest_rate


def _drift(constants: Constants, rate: float) -> float:
    """eta^2 G^2: the squared length of one local step."""
    return (rate * constants.gradient) ** 2


def check_problem(constants: Constants, tours: RoundTrips) -> None:
    check_kind("constants", constants, Constants, "use those of estimate or exact_constants")
    check_kind("tours", tours, RoundTrips, "use RoundTrips.of(scenario, plan)")


def check_rate(constants: Constants, rate: float) -> None:
    limit = constants.largest_rate
    if not isinstance(rate, Real) or not 0 < rate <= limit * (1 + _ROUNDING):
        raise InputError(
            f"learning rate {shown(rate)}: must be more than 0, at most 1/L = {limit:.6g}"
        )


def _check_own_rate(constants: Constants, rate: float, tours: RoundTrips, gamma: float) -> None:
    limit = theorem3_rate(constants, tours, gamma)
    if not isinstance(rate, Real) or not 0 < rate < limit * (1 - _ROUNDING):
        raise InputError(
            f"learning rate {shown(rate)}: must be more than 0, less than {limit:.6g} for Theorem 3"
        )


def check_head_start(head_start: float) -> float:
    return check_number("head_start", head_start, least=0, most=1)


def check_horizon(tours: RoundTrips, horizon: float) -> None:
    if not isinstance(horizon, Real) or not horizon > tours.longest:
        longest = f"the longest round trip, {tours.longest:g} slots"
        raise InputError(f"horizon {shown(horizon)}: must be more than {longest}")
