"""Objectives in whole slots: all solvers against brute force and `exact`; plans and their files."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from cases import OBJECTIVES, block_network, four_clients, random_cases, with_wind
from test_search_against_exact import nasty_problem
from thinned import few_and_many

from flexpress import InfeasibleError, InputError, Scenario, load_plan, make_plan
from flexpress.planning import plan_to_json
from flexpress.planning.carp import solve_carp
from flexpress.planning.exact import solve_exact
from flexpress.planning.problem import Problem, Rank, Tours
from flexpress.planning.progress import Effort, Progress, Watch
from flexpress.planning.search import solve_search
from flexpress.planning.starts import _first_of_the_best
from flexpress.scenario import Objective, SolverName

NONE = (np.inf, np.inf)
VALLEY = Scenario.preset("valley")


def with_slots(problem: Problem, seed: int) -> Problem:
    """Slots of which the best-balanced tours take 0.7 to 12; now and then a whole number."""
    rng = np.random.default_rng([seed, 19])
    unlimited = replace(problem, budgets=np.full(problem.num_transporters, np.inf))
    tours = solve_exact(unlimited, "minmax")
    assert tours is not None
    longest = problem.cost("minmax", tours) or 60.0
    number = rng.uniform(0.7, 12.0) if seed % 3 else float(rng.integers(1, 9))
    return replace(problem, slot=longest / number)


def rank(problem: Problem, objective: Objective, tours: Tours | None) -> Rank:
    """Slots and seconds of valid tours, inf where there are none."""
    if tours is None:
        return NONE
    assert sorted(itertools.chain(*tours)) == list(range(1, problem.num_clients + 1))
    assert problem.feasible(tours)
    return problem.rank(objective, tours)


def brute_force(problem: Problem, objective: Objective) -> Rank:
    """The best of all assignments, each with the shortest orders."""
    clients = range(1, problem.num_clients + 1)
    shortest = {
        chosen: min(map(list, itertools.permutations(chosen)), key=problem.length)
        for size in range(problem.num_clients + 1)
        for chosen in itertools.combinations(clients, size)
    }
    transporters = range(problem.num_transporters)
    best = NONE
    for owners in itertools.product(transporters, repeat=problem.num_clients):
        parts = [tuple(i for i in clients if owners[i - 1] == k) for k in transporters]
        tours = [shortest[part] for part in parts]
        if problem.feasible(tours):
            best = min(best, problem.rank(objective, tours))
    return best


# by hand: two tours of 14 s, or one of 27.2 s


@pytest.mark.parametrize(
    ("slot", "objective", "slots", "seconds"),
    [
        (14.0, "minmax", 1, 14.0),
        (13.9, "minmax", 2, 14.0),
        (14.0, "sws", 4, 784.0),
        (5.0, "sws", 36, 784.0),
        (14.0, "total", 2, 27.2111),  # two tours of one slot, or one of two: the shorter flight
        (20.0, "total", 2, 27.2111),
        (13.0, "total", 3, 27.2111),  # two tours would take four
        (100.0, "sws", 4, 784.0),  # one tour would take as many slots, and more seconds
        (100.0, "total", 1, 27.2111),
    ],
)
@pytest.mark.parametrize("solver", ["search", "carp", "exact"])
def test_the_four_clients(
    solver: SolverName, slot: float, objective: Objective, slots: int, seconds: float
) -> None:
    problem = replace(four_clients(1.0, 1.0), slot=slot)
    found = rank(problem, objective, solved(problem, objective, solver))
    assert found[0] == slots
    assert found[1] == pytest.approx(seconds, abs=1e-4)


def solved(
    problem: Problem, objective: Objective, solver: SolverName, told: list[Progress] | None = None
) -> Tours | None:
    watch = Watch(lambda progress: None if told is None else told.append(progress))
    if solver == "exact":
        return solve_exact(problem, objective)
    if solver == "carp":
        return solve_carp(problem, objective, Effort(iterations=4000), watch)
    return solve_search(problem, objective, Effort(iterations=6000), watch)


# against brute force, and against the exact solver


@few_and_many(range(16), range(200))
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_exact_equals_brute_force(objective: Objective, seeds: range) -> None:
    problems = random_cases(len(seeds), max_clients=5, max_transporters=3)
    problems = [with_slots(problem, seed) for seed, problem in enumerate(problems)]
    expected = [brute_force(problem, objective) for problem in problems]
    found = [rank(p, objective, solve_exact(p, objective)) for p in problems]
    assert np.array(found) == pytest.approx(np.array(expected))
    assert [slots for slots, _ in found] == [slots for slots, _ in expected]


@few_and_many(range(20), range(200))
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_search_finds_the_optimum_also_in_seconds(objective: Objective, seeds: range) -> None:
    misses = []
    for seed in seeds:
        problem = with_slots(nasty_problem(seed), seed)
        if seed % 5 == 0:
            problem = with_wind(problem)
        best = rank(problem, objective, solve_exact(problem, objective))
        found = rank(problem, objective, solved(problem, objective, "search"))
        if found[0] != best[0] or found[1] != pytest.approx(best[1], rel=1e-8):
            misses.append((seed, best, found))
    assert misses == []


@few_and_many(range(10), range(60))
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_carp_comes_close(objective: Objective, seeds: range) -> None:
    ratios = []
    for seed in seeds:
        problem = with_slots(nasty_problem(seed), seed)
        best = rank(problem, objective, solve_exact(problem, objective))
        found = rank(problem, objective, solved(problem, objective, "carp"))
        assert found[0] >= best[0]
        if found < NONE:
            ratios.append(found[0] / best[0] if best[0] else 1.0)
    assert np.mean(ratios) < 1.05


def test_the_least_longest_tour_is_the_same_in_slots_and_in_seconds() -> None:
    network = block_network(0)
    effort = Effort(iterations=3000)
    in_slots = solve_search(replace(network, slot=60.0), "minmax", effort)
    assert in_slots == solve_search(network, "minmax", effort)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("solver", ["search", "carp"])
def test_progress_is_told_in_slots(solver: SolverName, objective: Objective) -> None:
    problem = replace(block_network(0), slot=60.0)
    told: list[Progress] = []
    tours = solved(problem, objective, solver, told)
    assert tours is not None
    assert told[-1].cost == problem.cost(objective, tours)


def test_of_several_starts_with_equal_slots_the_shortest_is_best() -> None:
    assert _first_of_the_best({0: (9.0, 1.0), 1: (8.0, 5.0), 2: (8.0, 4.0), 3: (8.0, 4.0)}) == 2
    assert _first_of_the_best({2: (8.0, 8.0), 1: (8.0 + 1e-15, 8.0 + 1e-15)}) == 1


def test_zero_seconds_are_zero_slots() -> None:
    problem = replace(four_clients(1.0, 1.0), slot=1.0, time_per_client=np.zeros(2))
    problem = replace(problem, positions=np.zeros((5, 2)))
    for objective in OBJECTIVES:
        for solver in ("search", "exact"):
            assert rank(problem, objective, solved(problem, objective, solver)) == (0.0, 0.0)


# plans, files and scenarios


def test_the_scenario_says_what_is_counted() -> None:
    in_slots = VALLEY.replace(plan={"round_trips": "slots"}, slot=100.0)
    plan = make_plan(in_slots, solver="exact")
    tours = plan.transporters
    assert plan.round_trips == "slots"
    assert plan.cost == sum(len(tour.clients) * tour.round_trip_slots**2 for tour in tours)
    other = make_plan(in_slots, solver="exact", round_trips="seconds")
    plain = make_plan(VALLEY, solver="exact")
    assert (other.cost, other.nodes(VALLEY)) == (plain.cost, plain.nodes(VALLEY))
    assert plan.cost <= sum(len(t.clients) * t.round_trip_slots**2 for t in other.transporters)


@pytest.mark.parametrize("preset", ["valley", "coast", "alps"])
def test_budgets_matrices_and_no_fly_zones(preset: str) -> None:
    scenario = Scenario.preset(preset)
    plan = make_plan(scenario, objective="total", round_trips="slots", iterations=2000)
    assert plan.feasible
    assert plan.cost == sum(tour.round_trip_slots for tour in plan.transporters)
    other = make_plan(scenario, objective="total", iterations=2000)
    assert plan.cost <= sum(tour.round_trip_slots for tour in other.transporters)


def test_a_plan_in_slots_comes_back_bit_for_bit(tmp_path: Path) -> None:
    plan = make_plan(VALLEY, iterations=300, round_trips="slots").with_bound(1.0, "shared load")
    path = tmp_path / "plan.json"
    path.write_text(plan_to_json(plan))
    assert json.loads(path.read_text())["round_trips"] == "slots"
    assert load_plan(path, VALLEY) == plan


def test_plans_of_earlier_versions_count_seconds(tmp_path: Path) -> None:
    plan = make_plan(VALLEY, iterations=300)
    data = json.loads(plan_to_json(plan))
    assert data.pop("round_trips") == "seconds"
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(data))
    assert load_plan(path, VALLEY) == plan


@pytest.mark.parametrize(
    ("unit", "message"),
    [
        ("slots", "cost is 1590416.786189246 in the plan and"),
        ("hours", "not a plan: round_trips: Input should be 'seconds' or 'slots'"),
    ],
)
def test_a_file_with_another_unit_is_refused(tmp_path: Path, unit: str, message: str) -> None:
    data = json.loads(plan_to_json(make_plan(VALLEY, solver="exact")))
    path = tmp_path / "plan.json"
    path.write_text(json.dumps({**data, "round_trips": unit}))
    with pytest.raises(InputError) as caught:
        load_plan(path, VALLEY)
    assert str(caught.value).startswith(f"{path}: {message}")
    assert str(caught.value).isprintable()


def test_a_plan_that_does_not_fit_is_explained_as_in_seconds() -> None:
    tight = VALLEY.replace(fleet={"budgets": [5e3] * 3})
    messages = []
    for unit in ("seconds", "slots"):
        with pytest.raises(InfeasibleError) as caught:
            make_plan(tight.replace(plan={"round_trips": unit}), iterations=500)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]
