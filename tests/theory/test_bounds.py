"""The bounds as printed in the paper, worked out by hand for one case, and their conditions."""

from __future__ import annotations

import dataclasses
import math

import pytest

from flexpress import InputError
from flexpress.theory import (
    Constants,
    RoundTrips,
    lemma1,
    lemma2_global,
    lemma2_local,
    theorem1,
    theorem1_simplified,
    theorem2,
)

CONSTANTS = Constants(smoothness=2, gradient=3, noise=5, start_gap=7, start_gradient=11)
TOURS = RoundTrips(clients=(1, 3), slots=(2, 3))  # sum R Delta^2 = 31
RATE, HORIZON = 0.25, 10


def test_lemmas() -> None:
    assert lemma1(CONSTANTS, RATE, TOURS) == 4 / 16 * 9 * 9
    assert lemma2_global(CONSTANTS, RATE, TOURS) == 4 / 16 * 9 * 31 / 4
    assert lemma2_local(CONSTANTS, RATE, TOURS) == 18 / 16 * 9 * 31 / 4


def test_theorem_1() -> None:
    bound = theorem1(CONSTANTS, RATE, TOURS, HORIZON)
    assert bound.start == pytest.approx(5.6, rel=1e-15)
    assert bound.first_tour == pytest.approx(3.3, rel=1e-15)
    assert bound.delay == pytest.approx(141.75, rel=1e-15)
    assert bound.noise == pytest.approx(2.1875, rel=1e-15)
    assert bound.total == pytest.approx(152.8375, rel=1e-15)


def test_theorem_1_simplified() -> None:
    bound = theorem1_simplified(CONSTANTS, RATE, TOURS, HORIZON)
    assert dataclasses.astuple(bound) == (5.6, 0.0, 202.5, 3.125)


def test_theorem_2() -> None:
    bound = theorem2(CONSTANTS, RATE, TOURS, HORIZON)
    assert dataclasses.astuple(bound) == (11.2, 0.0, 767.25, 6.25)


@pytest.mark.parametrize("theorem", [theorem1_simplified, theorem2])
def test_tours_twice_as_long_delay_four_times_as_much(theorem) -> None:  # type: ignore[no-untyped-def]
    for rate in (1e-7, 0.013, 0.5):
        once = theorem(CONSTANTS, rate, TOURS, 1e6)
        twice = theorem(CONSTANTS, rate, RoundTrips(TOURS.clients, (4, 6)), 1e6)
        assert twice.delay == 4 * once.delay
        assert (twice.start, twice.noise) == (once.start, once.noise)


def test_theorem_1_in_full_has_the_first_round_without_delay() -> None:
    """(T - Delta) / T of it: doubling Delta multiplies that too."""
    once = theorem1(CONSTANTS, RATE, TOURS, HORIZON)
    twice = theorem1(CONSTANTS, RATE, RoundTrips(TOURS.clients, (4, 6)), HORIZON)
    assert twice.delay / once.delay == pytest.approx(4 * (4 / 10) / (7 / 10))


def test_theorem_1_comes_to_its_simplified_form() -> None:
    long = theorem1(CONSTANTS, RATE, TOURS, 1e12)
    simple = theorem1_simplified(CONSTANTS, RATE, TOURS, 1e12)
    assert long.total == pytest.approx(simple.total, rel=1e-10)


def test_the_largest_rate_is_allowed() -> None:
    for smoothness in (0.1, 0.3, 3.0, 49.0, 1 / 3):
        constants = dataclasses.replace(CONSTANTS, smoothness=smoothness)
        assert theorem2(constants, constants.largest_rate, TOURS, 10).total > 0


@pytest.mark.parametrize("rate", [0.0, -0.1, 0.5001, math.nan, math.inf])
@pytest.mark.parametrize("theorem", [theorem1, theorem1_simplified, theorem2])
def test_other_rates_are_not(theorem, rate: float) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError, match=r"learning rate .*: must be .* at most 1/L = 0.5"):
        theorem(CONSTANTS, rate, TOURS, HORIZON)


@pytest.mark.parametrize("horizon", [3, 2, 0, -1, math.nan])
@pytest.mark.parametrize("theorem", [theorem1, theorem1_simplified, theorem2])
def test_the_horizon_is_beyond_the_longest_tour(theorem, horizon: float) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError, match="must be more than the longest round trip, 3 slots"):
        theorem(CONSTANTS, RATE, TOURS, horizon)


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(Constants)])
@pytest.mark.parametrize("value", [-1.0, math.nan, math.inf])
def test_constants_are_numbers(name: str, value: float) -> None:
    with pytest.raises(InputError, match=f"{name} = .*: must be a finite number of at least 0"):
        dataclasses.replace(CONSTANTS, **{name: value})


def test_flat_problems_have_no_largest_rate() -> None:
    with pytest.raises(InputError, match="smoothness = 0"):
        dataclasses.replace(CONSTANTS, smoothness=0.0)


@pytest.mark.parametrize(
    ("clients", "slots"),
    [
        ((), ()),
        ((1,), (1, 2)),
        ((0, 1), (1, 2)),
        ((1, 1), (0, 2)),
        ((1, 1), (2, math.nan)),
        ((1, 1), (2, math.inf)),
    ],
)
def test_tours_are_of_some_clients_and_some_length(
    clients: tuple[int, ...], slots: tuple[float, ...]
) -> None:
    with pytest.raises(InputError, match="must"):
        RoundTrips(clients, slots)
