"""`search` against the exact optimum, on problems made to be nasty for it."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from cases import OBJECTIVES, four_clients, problem_of
from thinned import few_and_many

from flexpress.arrays import FloatArray
from flexpress.planning.exact import solve_exact
from flexpress.planning.problem import Problem, Tours
from flexpress.planning.progress import Effort
from flexpress.planning.search import solve_search
from flexpress.scenario import Objective

LAYOUTS = ["uniform", "shared spots", "at the server", "line", "groups", "tight groups", "circle"]
BUDGETS = ["none", "equal", "unequal", "one unlimited", "one useless"]
SHARES = [0.9, 0.999, 1 - 1e-6, 1.0, 1 + 1e-6, 1.003, 1.01, 1.03, 1.1, 1.2, 1.3]
"""Budgets as shares of what the plan that overdraws least would need: below 1 none is feasible."""

ITERATIONS = 6000
MANY = 20_000


def place_clients(rng: np.random.Generator, num_clients: int, layout: str) -> FloatArray:
    positions = 1000.0 * rng.random((num_clients + 1, 2))
    some = rng.integers(1, num_clients + 1, (2, max(1, num_clients // 3)))
    if layout == "shared spots":
        positions[some[0]] = positions[some[1]]
    elif layout == "at the server":
        positions[some[0]] = positions[0]
    elif layout == "line":
        positions[:, 1] = 0.3 * positions[:, 0]
    elif layout.endswith("groups"):
        spread = 30.0 if layout == "groups" else 1.0
        centres = 1000.0 * rng.random((3, 2))[rng.integers(0, 3, num_clients)]
        positions[1:] = centres + spread * rng.standard_normal((num_clients, 2))
    elif layout == "circle":
        angles = 2 * np.pi * np.arange(num_clients) / num_clients
        positions[1:] = positions[0] + 400.0 * np.column_stack([np.cos(angles), np.sin(angles)])
    return positions


def needed_budgets(problem: Problem, weights: FloatArray) -> FloatArray:
    """The least budgets in proportion to the weights that some plan keeps."""
    balanced = problem.with_energy_for_time(weights)
    tours = solve_exact(balanced, "minmax")
    assert tours is not None
    return balanced.cost("minmax", tours) * weights


def nasty_problem(seed: int) -> Problem:
    """4 to 9 clients, 2 or 3 transporters; budgets from just too small to ample."""
    rng = np.random.default_rng([seed, 2])
    num_clients, num_transporters = int(rng.integers(4, 10)), int(rng.integers(2, 4))
    positions = place_clients(rng, num_clients, LAYOUTS[rng.integers(len(LAYOUTS))])
    speeds = rng.uniform(4.0, 16.0, num_transporters)
    transfer_time = float(rng.choice([0.0, rng.uniform(0, 20), rng.uniform(20, 400)]))
    problem = problem_of(positions, speeds, transfer_time, np.full(num_transporters, np.inf))
    kind = BUDGETS[rng.integers(len(BUDGETS))]
    if kind == "none":
        return problem
    chosen = rng.integers(num_transporters)
    weights = np.ones(num_transporters) if kind == "equal" else rng.uniform(0.4, 2.0, len(speeds))
    if kind == "one useless":
        weights[chosen] = 1e-3
    budgets = rng.choice(SHARES) * needed_budgets(problem, weights)
    if kind == "one unlimited":
        budgets[chosen] = np.inf
    return replace(problem, budgets=budgets)


def value(problem: Problem, objective: Objective, tours: Tours | None) -> float:
    """The cost of valid tours, inf where there are none."""
    if tours is None:
        return np.inf
    assert sorted(itertools.chain(*tours)) == list(range(1, problem.num_clients + 1))
    assert len(tours) == problem.num_transporters
    assert problem.feasible(tours)
    return problem.cost(objective, tours)


def exact_value(problem: Problem, objective: Objective) -> float:
    return value(problem, objective, solve_exact(problem, objective))


@few_and_many(range(20), range(45))
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_finds_the_optimum_and_says_infeasible_where_exact_does(
    objective: Objective, seeds: range
) -> None:
    problems = [nasty_problem(seed) for seed in seeds]
    optima = [exact_value(problem, objective) for problem in problems]
    found = [
        value(problem, objective, solve_search(problem, objective, Effort(iterations=ITERATIONS)))
        for problem in problems
    ]
    assert found == pytest.approx(optima, rel=1e-8)
    assert 0.1 * len(seeds) < np.isinf(optima).sum() < 0.7 * len(seeds)


@pytest.mark.slow
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_misses_none_of_400(objective: Objective) -> None:
    misses = []
    for seed in range(1000, 1400):
        problem = nasty_problem(seed)
        optimum = exact_value(problem, objective)
        found = value(
            problem, objective, solve_search(problem, objective, Effort(iterations=MANY, seed=seed))
        )
        if found != pytest.approx(optimum, rel=1e-8):
            misses.append((seed, optimum, found))
    assert misses == []


def small_map(num_clients: int = 8, size: float = 1000.0) -> FloatArray:
    return size * np.random.default_rng(8).random((num_clients + 1, 2))


UNLIMITED = np.full(3, np.inf)
SPEEDS = np.array([5.0, 10.0, 15.0])
CORNERS = {
    "one client": problem_of(small_map(1), SPEEDS, 5.0, UNLIMITED),
    "one client, one transporter": problem_of(small_map(1), SPEEDS[:1], 5.0, UNLIMITED[:1]),
    "two clients": problem_of(small_map(2), SPEEDS, 5.0, UNLIMITED),
    "one transporter": problem_of(small_map(8), SPEEDS[:1], 5.0, UNLIMITED[:1]),
    "more transporters than clients": problem_of(
        small_map(3), np.linspace(1, 10, 10), 5.0, np.full(10, np.inf)
    ),
    "all at one spot": problem_of(small_map()[[0] + [1] * 8], SPEEDS, 5.0, UNLIMITED),
    "all at the server": problem_of(small_map()[[0] * 9], SPEEDS, 5.0, UNLIMITED),
    "nothing to do": problem_of(small_map()[[0] * 9], SPEEDS, 0.0, UNLIMITED),
    "huge map": problem_of(small_map(size=1e9), SPEEDS, 5.0, UNLIMITED),
    "tiny map": problem_of(small_map(size=1e-3), SPEEDS, 0.0, UNLIMITED),
    "far from the origin": problem_of(small_map(size=10.0) + 1e8, SPEEDS, 5.0, UNLIMITED),
    "endless transfers": problem_of(small_map(), SPEEDS, 1e6, UNLIMITED),
    "one far slower": problem_of(small_map(), np.array([0.01, 10.0, 10.0]), 0.0, UNLIMITED),
    "one useless, the rest unlimited": problem_of(
        small_map(), SPEEDS, 5.0, np.array([1e-9, np.inf, np.inf])
    ),
    "free flights": replace(
        problem_of(small_map(), SPEEDS, 0.0, np.ones(3)), energy_per_metre=np.zeros(3)
    ),
}


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("name", CORNERS)
def test_corner_cases(name: str, objective: Objective) -> None:
    problem = CORNERS[name]
    tours = solve_search(problem, objective, Effort(iterations=ITERATIONS))
    optimum = exact_value(problem, objective)
    assert value(problem, objective, tours) == pytest.approx(optimum, rel=1e-8)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_keeps_a_plan_that_only_just_fits(objective: Objective) -> None:
    """Long transfers make a small overdraft look cheap, and the only plan is a needle in hay."""
    problem = problem_of(small_map(), SPEEDS, 1e4, UNLIMITED)
    needle = replace(problem, budgets=needed_budgets(problem, np.ones(3)))
    tours = solve_search(needle, objective, Effort(iterations=ITERATIONS))
    assert value(needle, objective, tours) == pytest.approx(exact_value(needle, objective))


@pytest.mark.parametrize("weights", [[1.0, 1.0, 1.0], [1.0, 0.2, 3.0]])
def test_shares_the_energy_best(weights: list[float]) -> None:
    """What an infeasible scenario's error says rests on this: energy in the place of time."""
    problem = problem_of(small_map(), SPEEDS, 20.0, np.full(3, 1.0))
    energies = problem.with_energy_for_time(np.array(weights))
    found = value(
        energies, "minmax", solve_search(energies, "minmax", Effort(iterations=ITERATIONS))
    )
    assert found == pytest.approx(needed_budgets(problem, np.array(weights))[0] / weights[0])


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
    problem = four_clients(*speeds)
    tours = solve_search(problem, objective, Effort(iterations=2000))
    assert value(problem, objective, tours) == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize("objective", OBJECTIVES)
class TestNothingButTheMapMatters:
    """The same optimum, whatever the clients and transporters are called and where north is."""

    problem = replace(
        problem_of(small_map(), SPEEDS, 20.0, UNLIMITED), budgets=np.array([8e3, 9e3, 2e4])
    )

    def found(self, problem: Problem, objective: Objective) -> float:
        return value(
            problem, objective, solve_search(problem, objective, Effort(iterations=ITERATIONS))
        )

    def test_labels_of_clients(self, objective: Objective) -> None:
        relabelled = replace(
            self.problem, positions=self.problem.positions[[0, 3, 1, 7, 5, 2, 8, 6, 4]]
        )
        assert self.found(relabelled, objective) == pytest.approx(
            exact_value(self.problem, objective)
        )

    def test_labels_of_transporters(self, objective: Objective) -> None:
        order = [2, 0, 1]
        relabelled = problem_of(
            self.problem.positions, SPEEDS[order], 20.0, self.problem.budgets[order]
        )
        assert self.found(relabelled, objective) == pytest.approx(
            exact_value(self.problem, objective)
        )

    def test_frame(self, objective: Objective) -> None:
        rotation = np.array([[np.cos(1.0), -np.sin(1.0)], [np.sin(1.0), np.cos(1.0)]])
        moved = replace(self.problem, positions=self.problem.positions @ rotation.T + [4e3, -50.0])
        assert self.found(moved, objective) == pytest.approx(exact_value(self.problem, objective))
