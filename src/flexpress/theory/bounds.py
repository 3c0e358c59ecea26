"""The paper's lemmas and theorems: how far models part, and how small gradients get.

Every function is the right-hand side of its statement, as printed. docs/theory.md has the
statements, and what there is to say about their proofs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real

from flexpress.arguments import check_kind, shown
from flexpress.errors import InputError
from flexpress.theory.constants import Constants
from flexpress.theory.tours import Tours

ROUNDING = 1e-12
"""By which a learning rate of 1/L may exceed 1/L."""


@dataclass(frozen=True)
class Bound:
    """An upper bound of (1/T) sum_t E|grad f(x^t)|^2, by what causes it."""

    start: float  # how far x^0 is from the best model: fades with T, whatever the routes
    first_tour: float  # x^0 stays as it is until something comes home: fades with T
    delay: float  # models are old when they arrive: the part of the routes, which T does not mend
    noise: float  # mini-batches are not all the data: more clients help, routes do not

    @property
    def total(self) -> float:
        return self.start + self.first_tour + self.delay + self.noise


@dataclass(frozen=True)
class Factors:
    """The numbers that a theorem has before its terms."""

    start: int
    delay: int
    noise: int

    def bound(
        self, constants: Constants, rate: float, routes: float, num_clients: int, horizon: float
    ) -> Bound:
        """`routes` is the square of slots that the delay is made of."""
        return Bound(
            start=self.start * constants.start_gap / (rate * horizon),
            first_tour=0.0,
            delay=self.delay * constants.smoothness**2 * drift(constants, rate) * routes,
            noise=self.noise * constants.smoothness * rate * constants.noise**2 / num_clients,
        )


THEOREM1, THEOREM2 = Factors(2, 10, 1), Factors(4, 44, 2)

Theorem = Callable[[Constants, float, Tours, float], Bound]
"""Constants, learning rate, tours, slots -> bound."""


def lemma1(constants: Constants, rate: float, tours: Tours) -> float:
    """FedEx-Sync: of E|x^t - x_i^t|^2, for every client, for t > Delta."""
    check_problem(constants, tours)
    check_rate(constants, rate)
    return 4 * drift(constants, rate) * tours.longest**2


def theorem1(constants: Constants, rate: float, tours: Tours, horizon: float) -> Bound:
    """FedEx-Sync."""
    simple = theorem1_simplified(constants, rate, tours, horizon)
    idle = tours.longest / horizon
    return Bound(
        start=simple.start,
        first_tour=idle * constants.start_gradient,
        delay=(1 - idle) * simple.delay,
        noise=(1 - idle) * simple.noise,
    )


def theorem1_simplified(constants: Constants, rate: float, tours: Tours, horizon: float) -> Bound:
    """The remark after Theorem 1: for T much larger than Delta."""
    check_problem(constants, tours)
    check_rate(constants, rate)
    check_horizon(tours, horizon)
    return THEOREM1.bound(constants, rate, tours.longest**2, tours.num_clients, horizon)


def lemma2_global(constants: Constants, rate: float, tours: Tours) -> float:
    """FedEx-Async: of E|v^t - x^t|^2, the virtual from the real global model."""
    check_problem(constants, tours)
    check_rate(constants, rate)
    return 4 * drift(constants, rate) * tours.mean_square


def lemma2_local(constants: Constants, rate: float, tours: Tours) -> float:
    """FedEx-Async: of (1/N) sum_i E|v^t - x_i^t|^2, the virtual from the clients' models."""
    check_problem(constants, tours)
    check_rate(constants, rate)
    return 18 * drift(constants, rate) * tours.mean_square


def theorem2(constants: Constants, rate: float, tours: Tours, horizon: float) -> Bound:
    """FedEx-Async."""
    check_problem(constants, tours)
    check_rate(constants, rate)
    check_horizon(tours, horizon)
    return THEOREM2.bound(constants, rate, tours.mean_square, tours.num_clients, horizon)


def drift(constants: Constants, rate: float) -> float:
    """eta^2 G^2: how far one local step goes, squared."""
    return (rate * constants.gradient) ** 2


def check_problem(constants: Constants, tours: Tours) -> None:
    check_kind("constants", constants, Constants, "take those of estimate or exact_constants")
    check_kind("tours", tours, Tours, "take Tours.of(scenario, plan)")


def check_rate(constants: Constants, rate: float) -> None:
    limit = constants.largest_rate
    if not isinstance(rate, Real) or not 0 < rate <= limit * (1 + ROUNDING):
        raise InputError(
            f"learning rate {shown(rate)}: must be more than 0, at most 1/L = {limit:.6g}"
        )


def check_horizon(tours: Tours, horizon: float) -> None:
    if not isinstance(horizon, Real) or not horizon > tours.longest:
        longest = f"the longest round trip, {tours.longest:g} slots"
        raise InputError(f"horizon {shown(horizon)}: must be more than {longest}")
