"""Solvers with a matrix of any distances: one-way, without triangles, or straight."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from cases import OBJECTIVES, block_network, problem_of, random_problem, with_wind
from test_search_against_exact import SHARES, exact_value, nasty_problem, needed_budgets, value
from thinned import few_and_many

from flexpress.arrays import FloatArray
from flexpress.planning.carp import solve_carp
from flexpress.planning.problem import Problem
from flexpress.planning.progress import Effort, Progress, Watch
from flexpress.planning.search import solve_search
from flexpress.planning.search.neighbours import nearest_by_matrix, nearest_clients
from flexpress.planning.two_opt import route_length, shortest_route
from flexpress.scenario import Objective

ITERATIONS = 6000
MANY = 20_000


def distort(problem: Problem, kind: str, rng: np.random.Generator) -> Problem:
    distances = problem.distances()
    if kind == "wind":
        return with_wind(problem)
    if kind == "noise":
        return replace(problem, matrix=distances * rng.uniform(0.5, 1.5, distances.shape))
    if kind == "some ways closed":
        detours = np.where(rng.random(distances.shape) < 0.3, 5.0, 1.0)
        return replace(problem, matrix=distances * detours)
    return replace(problem, matrix=1000.0 * rng.random(distances.shape))


KINDS = ["wind", "noise", "some ways closed", "anything"]


def one_way_problem(seed: int, kind: str) -> Problem:
    """Like `nasty_problem`, on a distorted map, with budgets from just too small to ample."""
    rng = np.random.default_rng([seed, 3])
    straight = nasty_problem(seed)
    unlimited = np.full(straight.num_transporters, np.inf)
    problem = distort(replace(straight, budgets=unlimited), kind, rng)
    limited = np.isfinite(straight.budgets)
    if not limited.any():
        return problem
    weights = np.where(limited, straight.budgets, straight.budgets[limited].mean())
    needed = rng.choice(SHARES) * needed_budgets(problem, weights)
    return replace(problem, budgets=np.where(limited, needed, np.inf))


def transposed(problem: Problem) -> Problem:
    assert problem.matrix is not None
    return replace(problem, matrix=problem.matrix.T)


def found(problem: Problem, objective: Objective, iterations: int = ITERATIONS) -> float:
    return value(
        problem, objective, solve_search(problem, objective, Effort(iterations=iterations))
    )


@few_and_many(range(5), range(15))
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_search_finds_the_optimum_and_says_infeasible_where_exact_does(
    kind: str, objective: Objective, seeds: range
) -> None:
    problems = [one_way_problem(seed, kind) for seed in seeds]
    optima = [exact_value(problem, objective) for problem in problems]
    values = [found(problem, objective) for problem in problems]
    assert values == pytest.approx(optima, rel=1e-8)
    assert 0 < np.isinf(optima).sum() < 0.7 * len(seeds)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "most"), [("wind", 0), ("noise", 0), ("some ways closed", 2)])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_search_misses_hardly_any_of_200(kind: str, most: int, objective: Objective) -> None:
    misses = []
    for seed in range(1000, 1200):
        problem = one_way_problem(seed, kind)
        optimum = exact_value(problem, objective)
        tours = solve_search(problem, objective, Effort(iterations=MANY, seed=seed))
        if value(problem, objective, tours) != pytest.approx(optimum, rel=1e-8):
            misses.append(seed)
    assert len(misses) <= most, misses


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_carp_is_close_to_the_optimum(objective: Objective) -> None:
    gaps = []
    for seed in range(8):
        kind = KINDS[seed % len(KINDS)]
        problem = distort(random_problem(seed, 7, 3), kind, np.random.default_rng(seed))
        tours = solve_carp(problem, objective, Effort(iterations=2000))
        gaps.append(value(problem, objective, tours) / exact_value(problem, objective))
    assert min(gaps) > 1 - 1e-9
    assert np.mean(gaps) < 1.02


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_matrix_of_straight_lines_changes_nothing(objective: Objective) -> None:
    network = block_network(0)
    by_matrix = replace(network, matrix=network.distances())
    expected = found(network, objective, 20_000)
    assert found(by_matrix, objective, 20_000) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("kind", KINDS)
def test_the_transposed_matrix_is_flown_backwards(kind: str, objective: Objective) -> None:
    problem = one_way_problem(9, kind)
    mirrored = transposed(problem)
    tours = solve_search(mirrored, objective, Effort(iterations=ITERATIONS))
    assert tours is not None
    backwards = [tour[::-1] for tour in tours]
    assert value(problem, objective, backwards) == pytest.approx(exact_value(problem, objective))


def test_search_flies_round_the_right_way() -> None:
    """A ring cheap in one direction only: all in their order, or all the other way."""
    num_clients = 12
    ring = np.full((num_clients + 1, num_clients + 1), 100.0)
    for i in range(num_clients + 1):
        ring[i, (i + 1) % (num_clients + 1)] = 1.0
    positions = np.random.default_rng(0).random((num_clients + 1, 2))
    problem = replace(problem_of(positions, np.ones(1), 0.0, np.full(1, np.inf)), matrix=ring)
    forwards = list(range(1, num_clients + 1))
    assert solve_search(problem, "total", Effort(iterations=ITERATIONS)) == [forwards]
    assert solve_search(transposed(problem), "total", Effort(iterations=ITERATIONS)) == [
        forwards[::-1]
    ]


class TestLargeAndWindy:
    rng = np.random.default_rng(200)
    problem = with_wind(
        problem_of(
            5000.0 * rng.random((201, 2)), rng.uniform(8.0, 12.0, 5), 5.0, np.full(5, np.inf)
        )
    )

    @pytest.mark.parametrize("objective", OBJECTIVES)
    def test_the_cost_told_is_that_of_the_matrix(self, objective: Objective) -> None:
        told: list[Progress] = []
        tours = solve_search(
            self.problem, objective, Effort(iterations=5000), Watch(on_progress=told.append)
        )
        cost = value(self.problem, objective, tours)
        assert told[-1].cost == pytest.approx(cost, rel=1e-12)

    def test_budgets_are_kept(self) -> None:
        tight = replace(self.problem, budgets=np.full(5, 5.0e4))
        assert np.isfinite(found(tight, "total", 5000))

    @pytest.mark.parametrize("objective", ["minmax", "sws"])
    def test_beats_tours_made_without_regard_to_direction(self, objective: Objective) -> None:
        assert self.problem.matrix is not None
        both_ways = (self.problem.matrix + self.problem.matrix.T) / 2
        tours = solve_search(
            replace(self.problem, matrix=both_ways), objective, Effort(iterations=20_000)
        )
        assert tours is not None
        turned = [min(tour, tour[::-1], key=self.problem.length) for tour in tours]
        cost = self.problem.cost(objective, turned)
        assert found(self.problem, objective, 20_000) <= cost * (1 + 1e-9)


@pytest.mark.parametrize("solve", [solve_search, solve_carp])
def test_no_matter_how_the_matrix_lies_in_memory(solve: object) -> None:
    assert callable(solve)
    problem = one_way_problem(4, "noise")
    assert problem.matrix is not None
    frozen = np.asfortranarray(problem.matrix)
    np.fill_diagonal(frozen, 7.0)  # nobody flies from a place to itself
    frozen.setflags(write=False)
    same = replace(problem, matrix=frozen)
    assert solve(same, "sws", Effort(iterations=500)) == solve(
        problem, "sws", Effort(iterations=500)
    )


class TestNeighbours:
    def test_of_straight_lines_are_the_nearest(self) -> None:
        problem = block_network(1)
        ways = problem.distances()[1:, 1:]
        expected = nearest_clients(problem.positions[1:], 10)
        np.testing.assert_array_equal(nearest_by_matrix(ways, 10), expected)

    def test_slopes_do_not_matter(self) -> None:
        problem = block_network(1)
        height = np.random.default_rng(0).uniform(0.0, 5000.0, 40)
        ways = problem.distances()[1:, 1:] + height[None, :] - height[:, None]
        expected = nearest_clients(problem.positions[1:], 10)
        np.testing.assert_array_equal(nearest_by_matrix(ways, 10), expected)

    def test_one_short_way_is_enough(self) -> None:
        ways = np.full((50, 50), 100.0)
        for i in range(50):
            ways[i, (i + 7) % 50] = 1.0
        for i, near in enumerate(nearest_by_matrix(ways, 2)):
            assert sorted(near) == sorted([(i + 7) % 50, (i - 7) % 50])

    @pytest.mark.parametrize("num_clients", [1, 2, 5])
    def test_no_more_than_there_are(self, num_clients: int) -> None:
        ways = np.random.default_rng(1).random((num_clients, num_clients))
        for i, near in enumerate(nearest_by_matrix(ways, 30)):
            assert sorted([i, *near]) == list(range(num_clients))


class TestTwoOpt:
    ways: FloatArray = np.random.default_rng(2).random((15, 15))

    def test_no_turn_of_a_piece_is_shorter(self) -> None:
        length, route = shortest_route(self.ways, np.arange(15), 1, 5)
        assert route[0] == 0
        assert length == pytest.approx(route_length(self.ways, route))
        for first in range(1, 15):
            for last in range(first + 1, 15):
                turned = route.copy()
                turned[first : last + 1] = route[first : last + 1][::-1]
                assert route_length(self.ways, turned) >= length * (1 - 1e-9)

    def test_equal_ways_that_round_differently_come_to_an_end(self) -> None:
        slope = 1e9 * np.arange(12)
        ways = 1.1e9 * 11 + slope[None, :] - slope[:, None]
        length, _ = shortest_route(ways, np.arange(12), 5, 0)
        assert length == pytest.approx(12 * 1.1e9 * 11)
