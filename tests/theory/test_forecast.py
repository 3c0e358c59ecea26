"""What to fly: forecasts for plans, and the sentence they end in."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from flexpress import InputError, Scenario, make_plan
from flexpress.learning.choose import make_task
from flexpress.scenario import Algorithm, Objective
from flexpress.theory import (
    Advice,
    Constants,
    Forecast,
    Tours,
    advise,
    forecast,
    outlook,
    theorem2,
)
from flexpress.theory.advice import ALIKE, APART
from flexpress.theory.label_mixes import label_mix, label_mixes, mean_skew

CONSTANTS = Constants(smoothness=10, gradient=3, noise=2, start_gap=2.3, start_gradient=0.5)


def of(tours: Tours, algorithm: Algorithm, objective: Objective = "sws") -> Forecast:
    return forecast(
        CONSTANTS, tours, objective=objective, algorithm=algorithm, horizon=1000, target=0.05
    )


def test_equal_tours_are_one_algorithm() -> None:
    """The theorems as printed tell them apart, the comparison does not."""
    tours = Tours((10, 20), (7, 7))
    sync, free = of(tours, "sync"), of(tours, "async")
    assert sync.slots < free.slots
    assert sync.slots_alike == free.slots_alike == free.slots


def test_unequal_tours_favour_async() -> None:
    tours = Tours((10, 20), (7, 12))
    assert of(tours, "async").slots_alike < of(tours, "sync").slots_alike


def test_shorter_tours_come_sooner_to_the_target() -> None:
    for algorithm in ("sync", "async"):
        slots = [of(Tours((10, 20), (5, d)), algorithm).slots for d in (6, 8, 12, 20)]
        assert slots == sorted(set(slots))


def test_a_better_rate_there_is_not() -> None:
    found = of(Tours((3, 4), (5, 6)), "async")
    for factor in (0.5, 0.9, 1.1, 2.0):
        assert theorem2(CONSTANTS, factor * found.rate, found.tours, 1000).total > found.bound.total


def advice(skew: float, learning_rate: float = 0.001) -> Advice:
    tours = {"sws": Tours((10, 20), (7, 12)), "minmax": Tours((15, 15), (11.5, 11.5))}
    both: tuple[Algorithm, ...] = ("sync", "async")
    forecasts = [of(tours[name], each, name) for name in tours for each in both]  # type: ignore[arg-type]  # literal keys
    return advise(forecasts, {"sws": skew, "minmax": 0.0}, learning_rate)


def test_like_data_let_the_bound_decide() -> None:
    """Where delay dominates slots grow as its root: 1 - sqrt(112.33 / 132.25) = 7.8 %."""
    found = advice(0.04)
    assert (found.algorithm, found.objective, found.decided_by) == ("async", "sws", "bound")
    assert found.sentence == (
        "Fly FedEx-Async on the sws plan: by Theorem 2 for both it needs 7.8 % fewer slots than "
        "FedEx-Sync on the minmax plan; the transporters' data are alike (skew 0.04)."
    )


def test_data_of_type_1_ask_for_a_simulation() -> None:
    found = advice(0.15)
    assert (found.algorithm, found.decided_by) == ("async", "bound")
    assert "comparable: simulate both" in found.sentence


def test_data_of_type_2_are_for_sync() -> None:
    found = advice(0.45)
    assert (found.algorithm, found.objective, found.decided_by) == ("sync", "minmax", "skew")
    assert "(skew 0.45)" in found.sentence


def test_equal_tours_are_told_so() -> None:
    tours = Tours((10, 20), (7, 7))
    found = advise([of(tours, "sync"), of(tours, "async")], {"sws": 0.0}, 0.001)
    assert "it is the same as FedEx-Sync on the sws plan" in found.sentence
    found = advise([of(tours, "sync"), of(tours, "async")], {"sws": 0.5}, 0.001)
    assert "it is the same as FedEx-Async on the sws plan" in found.sentence


def test_a_difference_that_rounds_to_nothing_is_none() -> None:
    sync, free = of(Tours((1, 999), (6, 7)), "sync"), of(Tours((1, 999), (6, 7)), "async")
    assert free.slots_alike < sync.slots_alike
    sentence = advise([sync, free], {"sws": 0.0}, 0.001).sentence
    assert "it needs as many slots as FedEx-Sync" in sentence


def test_there_is_no_outlook_without_a_plan() -> None:
    with pytest.raises(InputError, match="plans = \\[\\]: must be at least one Plan"):
        outlook(Scenario.preset("four"), [], CONSTANTS, np.ones((4, 10), dtype=int))


def test_there_is_no_theorem_for_an_ideal_link() -> None:
    with pytest.raises(InputError, match='algorithm = "direct": must be one of sync, async'):
        of(Tours((1,), (2,)), "direct")


@pytest.mark.parametrize("clock", ["slots", "exact"])
def test_tours_of_a_plan(clock: str) -> None:
    scenario = Scenario.preset("four").replace(run={"clock": clock}, slot=0.7)
    plan = make_plan(scenario, iterations=200)
    tours = Tours.of(scenario, plan)
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


def test_the_limits_lie_between_the_paper_s_kinds_of_data() -> None:
    plan = make_plan(Scenario.preset("paper"), iterations=1000)
    kinds: dict[str, float] = {}
    for kind in ("iid", "dirichlet", "location"):
        scenario = Scenario.preset("paper").replace(learning={"partition": kind})
        counts = make_task(scenario).label_counts()
        kinds[kind] = mean_skew(label_mixes(scenario, plan, counts))
    assert kinds["iid"] < ALIKE < kinds["dirichlet"] < APART < kinds["location"]


def test_idle_transporters_have_no_tour() -> None:
    scenario = Scenario.preset("four").replace(fleet={"speeds": [1.0, 1.0, 1.0]})
    plan = make_plan(scenario, iterations=200)
    first, *others = plan.transporters
    idle = dataclasses.replace(first, clients=())
    tours = Tours.of(scenario, dataclasses.replace(plan, transporters=(idle, *others)))
    flown = [tour for tour in others if tour.clients]
    assert tours.clients == tuple(len(tour.clients) for tour in flown)


def test_a_rate_at_which_async_may_swing() -> None:
    """L = 10, landings of tours of 7 and 12 slots: 1 - (1 - 0.890)^(1/10.6) = 0.188."""
    found = advice(0.04, learning_rate=0.05)
    assert (found.algorithm, found.objective) == ("async", "sws")
    assert found.sentence.endswith(
        "But with a learning rate of 0.05 it may swing: by a quadratic with this L, Async is "
        "stable up to 0.019, Sync up to 0.1. Simulate both."
    )
    assert "swing" not in advice(0.04, learning_rate=0.018).sentence
