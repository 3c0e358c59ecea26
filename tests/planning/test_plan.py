"""The figures of a plan, against numbers worked out by hand and by a literal walk."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError

import pytest

from flexpress import InputError, Plan, Scenario, Tour, make_plan
from flexpress.scenario import Objective, SolverName

FOUR = Scenario.preset("four")
VALLEY = Scenario.preset("valley")

# Two tours of 3 + 4 + 5 = 12 m at 1 m/s, each with 2 clients of 1 s.
EAST = Tour(
    clients=(1, 2),
    arrivals=(3.0, 8.0),  # 3 m; then 1 s above client 1 and 4 m
    length=12.0,
    round_trip=14.0,
    round_trip_slots=1,
    flight_energy=360.0,  # 12 s at 30 W
    hover_energy=40.0,  # 2 s at 20 W
    transmission_energy=0.2,  # 2 s at 0.1 W
    energy=400.2,
    budget=None,
)
IDLE = Tour((), (), 0.0, 0.0, 0, 0.0, 0.0, 0.0, 0.0, None)


def plan_of(scenario: Scenario, tours: list[list[int]], objective: Objective = "sws") -> Plan:
    return Plan.of(scenario, objective, tours, solver="exact", seed=0, seconds=0.0)


def test_the_four_clients_by_hand() -> None:
    east, west = plan_of(FOUR, [[1, 2], [3, 4]]).transporters
    assert east == EAST
    assert (west.clients, west.arrivals, west.energy) == ((3, 4), EAST.arrivals, EAST.energy)


@pytest.mark.parametrize(
    ("objective", "tours", "cost"),
    [
        ("minmax", [[1, 2], [3, 4]], 14.0),
        ("sws", [[1, 2], [3, 4]], 2 * 14.0**2 + 2 * 14.0**2),  # 784
        ("total", [[1, 2], [3, 4]], 28.0),
        ("total", [[1, 2, 3, 4], []], 3 + 4 + math.sqrt(52) + 4 + 5 + 4),  # 27.2111
        ("minmax", [[], [4, 3, 2, 1]], 3 + 4 + math.sqrt(52) + 4 + 5 + 4),
    ],
)
def test_costs_by_hand(objective: Objective, tours: list[list[int]], cost: float) -> None:
    plan = plan_of(FOUR, tours, objective)
    assert plan.cost == pytest.approx(cost, rel=1e-12)
    assert plan.feasible


def test_an_idle_transporter_is_all_zero() -> None:
    assert plan_of(FOUR, [[], [1, 2, 3, 4]]).transporters[0] == IDLE


def test_a_shannon_link_by_hand() -> None:
    """h = 1e-4 / 100^2; h p / (B N_0) = 3, so r = B log2(4) = 2 Mbit/s, and 8 Mbit take 4 s."""
    scenario = Scenario.from_dict(
        {
            "slot": 5.0,
            "network": {"server": [0, 0], "clients": [[30, 40]]},  # 50 m away
            "fleet": {"speeds": [10.0], "budgets": [300.0]},
            "link": {
                "bandwidth": "1 MHz",
                "altitude": 100.0,
                "transmit_power": 0.3,
                "channel_gain": 1e-4,
                "noise": 1e-15,
                "model_size": "1 MB",
            },
            "power": {"c1": 0.01, "c2": 100.0, "hover": 15.0},  # 10 + 10 W in flight
        }
    )
    (tour,) = plan_of(scenario, [[1]]).transporters
    assert tour.arrivals == (5.0,)
    assert tour.round_trip == pytest.approx(10 + 4)
    assert tour.round_trip_slots == 3
    assert tour.flight_energy == pytest.approx(10 * 20)
    assert tour.hover_energy == pytest.approx(4 * 15)
    assert tour.transmission_energy == pytest.approx(4 * 0.3)
    assert tour.energy == pytest.approx(261.2)
    assert tour.budget == 300.0


def test_a_literal_walk_gives_the_same_times() -> None:
    tours = [[5, 7, 9], [1, 12, 3, 2], [4, 6, 8, 10, 11]]
    for k, (nodes, tour) in enumerate(zip(tours, plan_of(VALLEY, tours).transporters, strict=True)):
        place, now, arrivals = VALLEY.positions[0], 0.0, []
        for node in nodes:
            now += math.dist(place, VALLEY.positions[node]) / VALLEY.speeds[k]
            arrivals.append(now)
            now += 12.0
            place = VALLEY.positions[node]
        now += math.dist(place, VALLEY.positions[0]) / VALLEY.speeds[k]
        assert tour.arrivals == pytest.approx(arrivals, rel=1e-12)
        assert tour.round_trip == pytest.approx(now, rel=1e-12)


def test_energy_parts_sum() -> None:
    for tour in plan_of(VALLEY, [[5, 7, 9], [1, 12, 3, 2], [4, 6, 8, 10, 11]]).transporters:
        parts = tour.flight_energy + tour.hover_energy + tour.transmission_energy
        assert tour.energy == pytest.approx(parts, rel=1e-12)
        assert tour.transmission_energy == pytest.approx(len(tour.clients) * 12.0 * 0.1)


def test_a_budget_that_just_fits_and_one_that_does_not() -> None:
    tours = [[1, 2], [3, 4]]
    just = FOUR.replace(fleet={"budgets": [400.2, 400.2]})
    assert plan_of(just, tours).feasible
    less = FOUR.replace(fleet={"budgets": [400.2, 400.1]})
    plan = plan_of(less, tours)
    assert not plan.feasible
    assert [tour.within_budget for tour in plan.transporters] == [True, False]


def test_a_plan_is_frozen() -> None:
    plan = plan_of(FOUR, [[1, 2], [3, 4]])
    with pytest.raises(FrozenInstanceError):
        plan.cost = 0.0  # type: ignore[misc]  # that is the point


@pytest.mark.parametrize(
    ("objective", "cost"), [("minmax", 14.0), ("sws", 784.0), ("total", 27.2111)]
)
def test_make_plan_finds_the_optimum_of_the_four_clients(objective: Objective, cost: float) -> None:
    plan = make_plan(FOUR, objective=objective, solver="exact", seed=5)
    assert plan.cost == pytest.approx(cost, abs=5e-5)
    assert (plan.objective, plan.solver, plan.seed) == (objective, "exact", 5)
    assert plan.feasible


@pytest.mark.parametrize(("objective", "cost"), [("minmax", 11.6056), ("sws", 520.0)])
def test_make_plan_with_unequal_speeds(objective: Objective, cost: float) -> None:
    faster = FOUR.replace(fleet={"speeds": [1.0, 2.0]})
    plan = make_plan(faster, objective=objective, solver="exact")
    assert plan.cost == pytest.approx(cost, abs=5e-5)


def test_make_plan_takes_from_the_scenario_what_is_not_given() -> None:
    scenario = VALLEY.replace(seed=7, plan={"objective": "total", "solver": "exact"})
    plan = make_plan(scenario)
    assert (plan.objective, plan.solver, plan.seed) == ("total", "exact", 7)


@pytest.mark.parametrize("solver", ["exact", "carp"])
@pytest.mark.parametrize(
    ("seconds", "iterations", "seed", "message"),
    [
        (1.0, 5, None, "seconds and iterations are both given; give one of them"),
        (0.0, None, None, "seconds = 0.0: must be a number greater than 0"),
        (-1.0, None, None, "seconds = -1.0: must be a number greater than 0"),
        (math.nan, None, None, "seconds = nan: must be a number greater than 0"),
        (math.inf, None, None, "seconds = inf: must be .* at most 1e9"),
        (None, 0, None, "iterations = 0: must be a whole number from 1"),
        (None, -3, None, "iterations = -3: must be a whole number from 1"),
        (None, None, -1, "seed = -1: must be a whole number from 0"),
        (None, None, 2**63, "seed = 9223372036854775808: must be a whole number from 0"),
    ],
)
def test_arguments_that_make_plan_refuses(
    solver: SolverName,
    seconds: float | None,
    iterations: int | None,
    seed: int | None,
    message: str,
) -> None:
    with pytest.raises(InputError, match=message):
        make_plan(FOUR, solver=solver, seconds=seconds, iterations=iterations, seed=seed)
