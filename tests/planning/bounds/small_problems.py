"""Small problems of every kind that a bound must hold for, each from its seed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from cases import problem_of
from test_own_distances import KINDS, distort
from test_search_against_exact import LAYOUTS, place_clients

from flexpress.arrays import FloatArray
from flexpress.planning.exact import solve_exact
from flexpress.planning.problem import Problem, Tours
from flexpress.scenario import Objective

MAPS = ["straight", "star", "equal ways", *KINDS]
SCALES = [1.0, 1.0, 1.0, 1e-6, 1e6]
FLEETS = ["equal", "two kinds", "unequal", "nearly equal"]
BUDGETS = ["none", "ample", "tight", "one unlimited", "one useless"]
TIGHTNESS = [0.99, 1.0, 1.001, 1.05, 1.3]
"""Budgets in shares of what the plan that overdraws least would need."""


def small_problem(seed: int, *, max_clients: int = 7, max_transporters: int = 4) -> Problem:
    """1 to 7 clients, 1 to 4 transporters; all else drawn too, what is degenerate included."""
    rng = np.random.default_rng([seed, 7])
    num_clients = int(rng.integers(1, max_clients + 1))
    num_transporters = int(rng.integers(1, max_transporters + 1))
    positions = place_clients(rng, num_clients, str(rng.choice(LAYOUTS)))
    speeds = draw_speeds(rng, num_transporters)
    stay = float(rng.choice([0.0, rng.uniform(0, 20), rng.uniform(20, 400)]))
    problem = problem_of(positions, speeds, stay, np.full(num_transporters, np.inf))
    if rng.random() < 0.1:
        problem = replace(problem, energy_per_metre=np.zeros(num_transporters))
    problem = with_map(problem, str(rng.choice(MAPS)), rng)
    problem = scaled(problem, float(rng.choice(SCALES)))
    return replace(problem, budgets=draw_budgets(problem, rng))


def draw_speeds(rng: np.random.Generator, num_transporters: int) -> FloatArray:
    fleet = rng.choice(FLEETS)
    if fleet == "unequal":
        return rng.uniform(4.0, 16.0, num_transporters)
    if fleet == "two kinds":
        return rng.choice([8.0, 12.0], num_transporters)
    if fleet == "nearly equal":
        return 10.0 * (1 + 10.0 ** rng.uniform(-9, -5, num_transporters))
    return np.full(num_transporters, 10.0)


def with_map(problem: Problem, kind: str, rng: np.random.Generator) -> Problem:
    if kind == "straight":
        return problem
    if kind not in ("star", "equal ways"):
        problem = distort(problem, kind, rng)
        assert problem.matrix is not None
        return replace(problem, matrix=problem.matrix * (1 - np.eye(len(problem.matrix))))
    ways = np.full((problem.num_clients + 1,) * 2, rng.choice([0.1, 0.3, 0.7]))
    if kind == "star":  # the ways between clients lead nowhere
        ways[1:, 1:] = 1000.0
    np.fill_diagonal(ways, 0.0)
    return replace(problem, matrix=ways)


def scaled(problem: Problem, scale: float) -> Problem:
    """All lengths so many times as long."""
    matrix = None if problem.matrix is None else problem.matrix * scale
    return replace(problem, positions=problem.positions * scale, matrix=matrix)


def draw_budgets(problem: Problem, rng: np.random.Generator) -> FloatArray:
    kind, number = rng.choice(BUDGETS), problem.num_transporters
    weights = rng.uniform(0.4, 2.0, number) if rng.random() < 0.5 else np.ones(number)
    if kind == "one useless":
        weights[0] = 1e-3
    if kind == "none":
        return np.full(number, np.inf)
    balanced = problem.with_energy_for_time(weights)
    tours = solve_exact(balanced, "minmax")
    assert tours is not None
    share = 3.0 if kind == "ample" else rng.choice(TIGHTNESS)
    budgets = share * weights * balanced.cost("minmax", tours)
    if kind == "one unlimited":
        budgets[-1] = np.inf
    return budgets


def optimum(problem: Problem, objective: Objective) -> float:
    """inf where there is no plan."""
    tours = solve_exact(problem, objective)
    return np.inf if tours is None else problem.cost(objective, tours)


def random_tours(problem: Problem, rng: np.random.Generator) -> Tours:
    """Anyone visits anyone, in any order, whatever the budgets are."""
    tours: Tours = [[] for _ in range(problem.num_transporters)]
    for client in rng.permutation(problem.num_clients) + 1:
        tours[rng.integers(problem.num_transporters)].append(int(client))
    return tours
