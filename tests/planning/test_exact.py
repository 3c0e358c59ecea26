"""The exact solver against brute force, hand-computed cases and what must hold of any optimum."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from cases import (
    OBJECTIVES,
    four_clients,
    problem_of,
    random_cases,
    random_problem,
)

from flexpress.errors import InputError
from flexpress.planning.exact import _MAX_CLIENTS, held_karp_tour, solve_exact
from flexpress.planning.problem import Problem
from flexpress.scenario import Objective

UNLIMITED = random_problem(0, 7, 3)
TIGHT = random_problem(3, 7, 3, tightness=1.3)


def optimum(problem: Problem, objective: Objective) -> float:
    """The cost of the exact solver's tours, inf where it says infeasible."""
    tours = solve_exact(problem, objective)
    return np.inf if tours is None else problem.cost(objective, tours)


def brute_force(problem: Problem, objective: Objective) -> float:
    """The least cost over all assignments, with the shortest of all orders for each transporter."""
    clients = range(1, problem.num_clients + 1)
    shortest = {
        chosen: min(map(list, itertools.permutations(chosen)), key=problem.length)
        for size in range(problem.num_clients + 1)
        for chosen in itertools.combinations(clients, size)
    }
    transporters = range(problem.num_transporters)
    best = np.inf
    for owners in itertools.product(transporters, repeat=problem.num_clients):
        parts = [tuple(i for i in clients if owners[i - 1] == k) for k in transporters]
        tours = [shortest[part] for part in parts]
        if problem.feasible(tours):
            best = min(best, problem.cost(objective, tours))
    return best


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_equals_brute_force(objective: Objective) -> None:
    problems = random_cases(24, max_clients=5, max_transporters=3)
    expected = [brute_force(problem, objective) for problem in problems]
    assert [optimum(problem, objective) for problem in problems] == pytest.approx(expected)
    assert 0 < np.isinf(expected).sum() < 12


@pytest.mark.parametrize(
    ("speeds", "objective", "expected"),
    [
        ((1.0, 1.0), "minmax", 14.0),
        ((1.0, 1.0), "sws", 784.0),
        ((1.0, 1.0), "total", 27.2111),
        ((1.0, 2.0), "minmax", 11.6056),
        ((1.0, 2.0), "sws", 520.0),
    ],
)
def test_four_clients(speeds: tuple[float, ...], objective: Objective, expected: float) -> None:
    assert optimum(four_clients(*speeds), objective) == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize("problem", random_cases(12, max_clients=9, max_transporters=4))
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_serves_every_client_once_within_budgets(problem: Problem, objective: Objective) -> None:
    tours = solve_exact(problem, objective)
    if tours is None:
        return
    assert len(tours) == problem.num_transporters
    assert sorted(itertools.chain(*tours)) == list(range(1, problem.num_clients + 1))
    assert problem.feasible(tours)


def test_leaves_a_useless_transporter_idle() -> None:
    assert sorted(map(len, solve_exact(four_clients(1.0, 1e-3), "minmax") or [])) == [0, 4]


def test_says_infeasible() -> None:
    out_of_reach = replace(UNLIMITED, budgets=np.full(3, 1.0))
    assert solve_exact(out_of_reach, "sws") is None
    assert solve_exact(random_problem(0, 3, 1, tightness=0.5), "sws") is None


def test_rounding_does_not_ground_a_transporter() -> None:
    tours = solve_exact(UNLIMITED, "minmax")
    assert tours is not None
    needed = np.array([UNLIMITED.energy(k, tour) for k, tour in enumerate(tours)])
    just_enough = replace(UNLIMITED, budgets=needed * (1 - 1e-12))
    assert optimum(just_enough, "minmax") == pytest.approx(optimum(UNLIMITED, "minmax"))


@pytest.mark.parametrize("problem", [UNLIMITED, TIGHT])
@pytest.mark.parametrize("objective", OBJECTIVES)
class TestProperties:
    def test_more_speed_is_never_worse(self, problem: Problem, objective: Objective) -> None:
        factors = np.array([0.8, 1.0, 0.9])
        faster = replace(
            problem,
            time_per_metre=problem.time_per_metre * factors,
            energy_per_metre=problem.energy_per_metre * factors,
        )
        assert optimum(faster, objective) <= optimum(problem, objective)

    def test_more_budget_is_never_worse(self, problem: Problem, objective: Objective) -> None:
        costs = [
            optimum(replace(problem, budgets=problem.budgets * factor), objective)
            for factor in (0.7, 0.85, 1.0, 1.2, 1.5)
        ]
        assert costs == sorted(costs, reverse=True)

    def test_labels_do_not_matter(self, problem: Problem, objective: Objective) -> None:
        labels = [0, 3, 1, 7, 5, 2, 6, 4]
        relabelled = replace(problem, positions=problem.positions[labels])
        assert optimum(relabelled, objective) == pytest.approx(optimum(problem, objective))

    def test_frame_does_not_matter(self, problem: Problem, objective: Objective) -> None:
        rotation = np.array([[np.cos(1.0), -np.sin(1.0)], [np.sin(1.0), np.cos(1.0)]])
        moved = replace(problem, positions=problem.positions @ rotation.T + [400.0, -50.0])
        assert optimum(moved, objective) == pytest.approx(optimum(problem, objective))


def test_held_karp_follows_one_way_distances() -> None:
    ring = np.full((4, 4), 10.0)  # cheap only along 0 -> 2 -> 3 -> 1 -> 0
    for here, there in [(0, 2), (2, 3), (3, 1), (1, 0)]:
        ring[here, there] = 1.0
    assert held_karp_tour(ring, [1, 2, 3]) == [2, 3, 1]
    assert held_karp_tour(ring, []) == []


def test_too_many_clients_are_refused() -> None:
    crowd = problem_of(np.zeros((_MAX_CLIENTS + 2, 2)), np.ones(2), 1.0, np.full(2, np.inf))
    with pytest.raises(InputError, match=rf"{_MAX_CLIENTS + 1} clients.*{_MAX_CLIENTS}.*search"):
        solve_exact(crowd, "sws")
