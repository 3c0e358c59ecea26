"""What the theorems promise for plans, and how alike the transporters' data are."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from flexpress import InputError, Scenario, make_plan
from flexpress.scenario import Algorithm, Objective
from flexpress.theory import Constants, Forecast, RoundTrips, forecast, outlook, theorem2
from flexpress.theory.label_mixes import label_mix, mean_skew

CONSTANTS = Constants(smoothness=10, gradient=3, noise=2, start_gap=2.3, start_gradient=0.5)


def of(tours: RoundTrips, algorithm: Algorithm, objective: Objective = "sws") -> Forecast:
    return forecast(
        CONSTANTS, tours, objective=objective, algorithm=algorithm, horizon=1000, target=0.05
    )


def test_equal_tours_are_one_algorithm() -> None:
    """The theorems as printed tell them apart, the comparison does not."""
    tours = RoundTrips((10, 20), (7, 7))
    sync, free = of(tours, "sync"), of(tours, "async")
    assert sync.slots < free.slots
    assert sync.slots_alike == free.slots_alike == free.slots


def test_unequal_tours_favour_async() -> None:
    tours = RoundTrips((10, 20), (7, 12))
    assert of(tours, "async").slots_alike < of(tours, "sync").slots_alike


def test_shorter_tours_come_sooner_to_the_target() -> None:
    for algorithm in ("sync", "async"):
        slots = [of(RoundTrips((10, 20), (5, d)), algorithm).slots for d in (6, 8, 12, 20)]
        assert slots == sorted(set(slots))


def test_a_better_rate_there_is_not() -> None:
    found = of(RoundTrips((3, 4), (5, 6)), "async")
    for factor in (0.5, 0.9, 1.1, 2.0):
        assert theorem2(CONSTANTS, factor * found.rate, found.tours, 1000).total > found.bound.total


def test_there_is_no_outlook_without_a_plan() -> None:
    with pytest.raises(InputError, match="plans = \\[\\]: must be at least one Plan"):
        outlook(Scenario.preset("four"), [], CONSTANTS, np.ones((4, 10), dtype=int))


def test_there_is_no_theorem_for_an_ideal_link() -> None:
    with pytest.raises(InputError, match='algorithm = "direct": must be one of sync, async'):
        of(RoundTrips((1,), (2,)), "direct")


@pytest.mark.parametrize("clock", ["slots", "exact"])
def test_tours_of_a_plan(clock: str) -> None:
    scenario = Scenario.preset("four").replace(run={"clock": clock}, slot=0.7)
    plan = make_plan(scenario, iterations=200)
    tours = RoundTrips.of(scenario, plan)
    assert tours.num_clients == scenario.num_clients
    flown = [tour for tour in plan.transporters if tour.clients]
    if clock == "exact":
        weighted = sum(len(tour.clients) * tour.round_trip**2 for tour in flown)
        assert tours.mean_square * 0.7**2 * tours.num_clients == pytest.approx(weighted)
        assert tours.longest * 0.7 == pytest.approx(max(tour.round_trip for tour in flown))
    else:
        assert tours.slots == tuple(tour.round_trip_slots for tour in flown)


def test_mean_skew_weighs_by_clients() -> None:
    counts = np.array([[10, 0], [0, 10], [0, 10], [0, 10]])  # of all: 1/4, 3/4
    mixes = [label_mix([0], counts), label_mix([1, 2, 3], counts), label_mix([], counts)]
    assert [mix.distance for mix in mixes] == [0.75, 0.25, 0.0]
    assert mean_skew(mixes) == (1 * 0.75 + 3 * 0.25) / 4
    assert mean_skew([mixes[2]]) == 0.0


def test_idle_transporters_have_no_tour() -> None:
    scenario = Scenario.preset("four").replace(fleet={"speeds": [1.0, 1.0, 1.0]})
    plan = make_plan(scenario, iterations=200)
    first, *others = plan.transporters
    idle = dataclasses.replace(first, clients=())
    tours = RoundTrips.of(scenario, dataclasses.replace(plan, transporters=(idle, *others)))
    flown = [tour for tour in others if tour.clients]
    assert tours.clients == tuple(len(tour.clients) for tour in flown)
