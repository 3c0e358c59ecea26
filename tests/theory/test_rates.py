"""Best learning rates, and slots to a target, against scipy and plain search."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from flexpress import InputError
from flexpress.theory import (
    Constants,
    RoundTrips,
    best_rate,
    paper_order,
    paper_rate,
    slots_to,
    soonest,
    theorem1,
    theorem1_simplified,
    theorem2,
)
from flexpress.theory.bounds import Theorem

THEOREMS = [theorem1, theorem1_simplified, theorem2]


def random_problems(count: int, seed: int = 0) -> Iterator[tuple[Constants, RoundTrips]]:
    """Over many orders of size; the mean gradient is never longer than G."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        smoothness, gradient, gap = 10 ** rng.uniform(-2, 2, size=3)
        noise = gradient * rng.uniform(0, 1)
        start = gradient**2 * rng.uniform(0, 1)
        k = rng.integers(1, 6)
        clients = tuple(int(r) for r in rng.integers(1, 12, size=k))
        slots = tuple(float(d) for d in rng.integers(1, 20, size=k))
        yield Constants(smoothness, gradient, noise, gap, start), RoundTrips(clients, slots)


@pytest.mark.parametrize("theorem", THEOREMS)
def test_best_rates_against_scipy(theorem: Theorem) -> None:
    for constants, tours in random_problems(60):
        horizon = 10 * tours.longest
        found = best_rate(theorem, constants, tours, horizon)
        low, high = math.log(1e-12 * constants.largest_rate), math.log(constants.largest_rate)
        best = minimize_scalar(
            lambda log, c=constants, t=tours, h=horizon: theorem(c, math.exp(log), t, h).total,
            bounds=(low, high),
            method="bounded",
            options={"xatol": 1e-10},
        )
        assert 0 < found <= constants.largest_rate
        assert theorem(constants, found, tours, horizon).total <= best.fun * (1 + 1e-9)


@pytest.mark.parametrize("theorem", [theorem1_simplified, theorem2])
def test_best_rates_are_the_root_of_a_cubic(theorem: Theorem) -> None:
    """start / eta + delay eta^2 + noise eta is smallest where its derivative is zero."""
    inside = 0
    for constants, tours in random_problems(60, seed=1):
        found = best_rate(theorem, constants, tours, 1000)
        one = theorem(constants, constants.largest_rate, tours, 1000)
        at = constants.largest_rate
        start, delay, noise = one.start * at, one.delay / at**2, one.noise / at
        roots = np.roots([2 * delay, noise, 0, -start])
        root = next(r.real for r in roots if abs(r.imag) < 1e-12 and r.real > 0)
        inside += root < at
        assert found == pytest.approx(min(root, at), rel=1e-6)
    assert inside > 10


@pytest.mark.parametrize("theorem", THEOREMS)
def test_slots_to_a_target_are_the_first_for_that_rate(theorem: Theorem) -> None:
    never = 0
    for constants, tours in random_problems(60, seed=2):
        rate = constants.largest_rate * 1e-3
        target = 0.7 * theorem(constants, rate, tours, tours.longest + 1).total
        slots = slots_to(theorem, constants, rate, tours, target)
        if math.isinf(slots):
            never += 1
            assert theorem(constants, rate, tours, 1e30).total >= target
            continue
        reached = math.ceil(slots)
        assert theorem(constants, rate, tours, reached).total <= target * (1 + 1e-9)
        before = reached - 1
        if before > tours.longest:
            assert theorem(constants, rate, tours, before).total >= target * (1 - 1e-9)
    assert never < 60


@pytest.mark.parametrize("theorem", THEOREMS)
def test_no_rate_comes_to_the_target_sooner(theorem: Theorem) -> None:
    for constants, tours in random_problems(30, seed=3):
        target = 0.01 * constants.gradient**2
        found = soonest(theorem, constants, tours, target)
        at_it = theorem(constants, found.rate, tours, found.slots).total
        assert at_it <= target * (1 + 1e-9)
        before = found.slots - 1
        if before <= tours.longest:
            continue
        rates = constants.largest_rate * np.logspace(-12, 0, 3000)
        lowest = min(theorem(constants, rate, tours, before).total for rate in rates)
        assert lowest >= target * (1 - 1e-6)


RISING = [
    (Constants(21, 12, 4, 0.86, 37), RoundTrips((6,), (37,)), 120),
    (Constants(0.05, 6.5, 5.4, 1.2e5, 36), RoundTrips((4,), (19,)), 2800),
    (Constants(6.5, 27, 2.1, 0.59, 2.4), RoundTrips((3, 4), (44, 1)), 50),
]
"""Targets above |grad f(x^0)|^2, which Theorem 1 passes for a while at rates at which it rises."""


@pytest.mark.parametrize(("constants", "tours", "target"), RISING)
def test_a_target_counts_only_if_the_bound_stays_there(
    constants: Constants, tours: RoundTrips, target: float
) -> None:
    found = soonest(theorem1, constants, tours, target)
    for horizon in (found.slots, 2 * found.slots, 1e30):
        assert theorem1(constants, found.rate, tours, horizon).total <= target * (1 + 1e-9)
    rates = constants.largest_rate * np.logspace(-12, 0, 3000)
    least = min(slots_to(theorem1, constants, rate, tours, target) for rate in rates)
    assert found.slots <= math.ceil(least)
    soon = min(theorem1(constants, rate, tours, tours.longest + 1).total for rate in rates)
    assert soon <= target
    assert found.slots > tours.longest + 1


@pytest.mark.parametrize("target", [0.0, -1.0, math.inf, math.nan])
def test_targets_are_positive(target: float) -> None:
    constants, tours = next(random_problems(1))
    with pytest.raises(InputError, match=f"target {target}: must be more than 0, and finite"):
        soonest(theorem2, constants, tours, target)


def test_targets_that_no_bound_comes_down_to() -> None:
    constants, tours = next(random_problems(1))
    assert soonest(theorem2, constants, tours, 1e-20).slots > 1e20
    with pytest.raises(
        InputError, match="target 1e-300: the bound never falls that low; must be lar"
    ):
        soonest(theorem2, constants, tours, 1e-300)


@pytest.mark.parametrize("theorem", THEOREMS)
def test_the_paper_s_rate_gives_the_paper_s_order(theorem: Theorem) -> None:
    """The bound times sqrt(N T) stays bounded as T grows from N^3 to 1000 N^3."""
    checked = 0
    for constants, tours in random_problems(200, seed=4):
        n = tours.num_clients
        if n**3 <= tours.longest:
            continue
        checked += 1
        order = paper_order(theorem, constants, tours)
        for factor in np.logspace(0, 3, 31):
            horizon = factor * n**3
            rate = paper_rate(constants, n, horizon)
            assert rate == pytest.approx(math.sqrt(n) / (constants.smoothness * horizon**0.5))
            bound = theorem(constants, rate, tours, horizon)
            scale = math.sqrt(n * horizon)
            for term in ("start", "first_tour", "delay", "noise"):
                assert getattr(bound, term) * scale <= getattr(order, term) * (1 + 1e-12)
        last = theorem(constants, rate, tours, horizon)
        assert last.start * scale == pytest.approx(order.start)
    assert checked > 100


def test_the_paper_s_rate_needs_time() -> None:
    constants, _ = next(random_problems(1))
    with pytest.raises(InputError, match=r"horizon 999: must be at least N\^3 = 1,000 for N = 10"):
        paper_rate(constants, 10, 999)
    with pytest.raises(InputError, match="horizon = nan: must be a finite number"):
        paper_rate(constants, 10, math.nan)
    with pytest.raises(InputError, match="num_clients = 0: must be a whole number of at least 1"):
        paper_rate(constants, 0, 999)
