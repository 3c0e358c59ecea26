"""How `search` behaves: valid and reproducible tours, progress, limits and interruption."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from cases import OBJECTIVES, block_network, problem_of, random_problem
from numba import typeof
from numba.core.event import trigger_event

from flexpress.planning.problem import Problem, Tours
from flexpress.planning.progress import Effort, Progress, Watch
from flexpress.planning.search import load, solve_search, state
from flexpress.planning.search import solve as solve_module
from flexpress.planning.search.state import State
from flexpress.scenario import Objective

NETWORK = block_network(0)
UNEQUAL = random_problem(1, 30, 5, tightness=1.2)
OUT_OF_REACH = replace(NETWORK, budgets=np.full(4, 5e3))


def solve(problem: Problem, objective: Objective, iterations: int = 2000, seed: int = 0) -> Tours:
    tours = solve_search(problem, objective, Effort(iterations=iterations, seed=seed))
    assert tours is not None
    return tours


def large_problem(num_clients: int, num_transporters: int) -> Problem:
    rng = np.random.default_rng(num_clients)
    return problem_of(
        5000.0 * rng.random((num_clients + 1, 2)),
        rng.uniform(8.0, 12.0, num_transporters),
        5.0,
        np.full(num_transporters, np.inf),
    )


def test_compilation_is_announced_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numba tells of every function that it compiles, and of none that it reads."""

    def compile_two(*arguments: object) -> None:
        for name in ("anneal", "polish"):
            with trigger_event("numba:compile", data={"dispatcher": name}):
                pass

    monkeypatch.setattr(solve_module, "anneal", compile_two)
    monkeypatch.setattr(solve_module, "drop_stale_code", lambda compiled, folder: None)
    told: list[str] = []
    load(NETWORK, told.append)
    assert told == ["compiling the planner, once (about 10 s)"]


def test_networks_of_the_usual_size_share_compiled_code_with_matrices() -> None:
    by_matrix = replace(NETWORK, matrix=NETWORK.distances())
    arguments = [State.of(problem).arrays() for problem in (NETWORK, UNEQUAL, by_matrix)]
    assert len({tuple(map(typeof, arrays)) for arrays in arguments}) == 1
    assert State.of(large_problem(1000, 7)).matrix is None  # it would not fit into the caches


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_distances_looked_up_are_those_computed(
    objective: Objective, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up = [solve(problem, objective) for problem in (NETWORK, UNEQUAL)]
    monkeypatch.setattr(state, "_FEW_CLIENTS", 0)
    assert [solve(problem, objective) for problem in (NETWORK, UNEQUAL)] == looked_up


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize(
    "problem",
    [NETWORK, UNEQUAL, large_problem(300, 7), large_problem(3, 12)],
    ids=["network", "unequal", "300 clients", "idle transporters"],
)
@pytest.mark.parametrize("iterations", [1, 700])
def test_serves_every_client_once_within_budgets(
    problem: Problem, objective: Objective, iterations: int
) -> None:
    tours = solve_search(problem, objective, Effort(iterations=iterations))
    if tours is None:
        assert iterations == 1
        return
    assert len(tours) == problem.num_transporters
    assert sorted(itertools.chain(*tours)) == list(range(1, problem.num_clients + 1))
    assert problem.feasible(tours)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_last_cost_told_is_that_of_the_tours(objective: Objective) -> None:
    told: list[Progress] = []
    tours = solve_search(
        NETWORK, objective, Effort(iterations=3000), Watch(on_progress=told.append)
    )
    assert tours is not None
    assert told[-1].cost == pytest.approx(NETWORK.cost(objective, tours), rel=1e-12)


@pytest.mark.parametrize("problem", [NETWORK, UNEQUAL], ids=["network", "unequal"])
@pytest.mark.parametrize("objective", OBJECTIVES)
class TestReproducible:
    def test_same_seed_same_tours(self, problem: Problem, objective: Objective) -> None:
        assert solve(problem, objective, seed=7) == solve(problem, objective, seed=7)

    def test_other_seed_other_way(self, problem: Problem, objective: Objective) -> None:
        ways = [str(solve(problem, objective, iterations=100, seed=seed)) for seed in range(3)]
        assert len(set(ways)) > 1

    def test_the_problem_is_left_alone(self, problem: Problem, objective: Objective) -> None:
        before = {name: np.copy(values) for name, values in vars(problem).items()}
        solve(problem, objective)
        for name, values in vars(problem).items():
            np.testing.assert_array_equal(values, before[name])


def test_same_tours_in_another_process() -> None:
    program = """
import json, sys
import numpy as np
from flexpress.planning.problem import Problem
from flexpress.planning.progress import Effort
from flexpress.planning.search import solve_search
problem = Problem(**{name: np.array(value) for name, value in json.load(sys.stdin).items()})
print(json.dumps(solve_search(problem, "minmax", Effort(iterations=4000, seed=5))))
"""
    given = {name: v for name, v in vars(UNEQUAL).items() if isinstance(v, np.ndarray)}
    arrays = json.dumps({name: values.tolist() for name, values in given.items()})
    elsewhere = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        input=arrays,
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(elsewhere.stdout) == solve(UNEQUAL, "minmax", iterations=4000, seed=5)


@pytest.mark.parametrize("problem", [NETWORK, UNEQUAL, OUT_OF_REACH], ids=["", "unequal", "none"])
@pytest.mark.parametrize("iterations", [1, 499, 12_000])
def test_progress_rises_to_the_end_and_cost_only_falls(problem: Problem, iterations: int) -> None:
    told: list[Progress] = []
    solve_search(problem, "sws", Effort(iterations=iterations), Watch(on_progress=told.append))
    fractions = [progress.fraction for progress in told]
    assert fractions == sorted(fractions)
    assert fractions[0] >= 0
    assert fractions[-1] == 1.0
    costs = [np.inf if progress.cost is None else progress.cost for progress in told]
    assert costs == sorted(costs, reverse=True)


def test_says_none_when_out_of_reach() -> None:
    for objective in OBJECTIVES:
        assert solve_search(OUT_OF_REACH, objective, Effort(iterations=2000)) is None


@pytest.mark.parametrize("calls", [1, 2, 5])
def test_stops_when_told_with_the_best_so_far(calls: int) -> None:
    told: list[Progress] = []
    asked = itertools.count(1)
    tours = solve_search(
        NETWORK,
        "minmax",
        Effort(iterations=10_000_000),
        Watch(on_progress=told.append, should_stop=lambda: next(asked) > calls),
    )
    assert tours is not None
    assert sorted(itertools.chain(*tours)) == list(range(1, 41))
    assert told[-1].fraction < 0.01
    assert told[-1].cost == pytest.approx(NETWORK.cost("minmax", tours), rel=1e-12)


@pytest.mark.parametrize("calls", range(12))
def test_stops_at_any_moment_without_a_plan(calls: int) -> None:
    """Also between the search for a plan and the search for the least overdraft."""
    asked = itertools.count(1)
    tours = solve_search(
        OUT_OF_REACH, "sws", Effort(iterations=1500), Watch(should_stop=lambda: next(asked) > calls)
    )
    assert tours is None


@pytest.mark.parametrize("seconds", [1e-6, 0.3])
@pytest.mark.parametrize("problem", [large_problem(40, 4), large_problem(1000, 20)])
def test_the_clock_is_kept(problem: Problem, seconds: float) -> None:
    """It ends with the first look at the clock that says so, however long that took."""
    told: list[Progress] = []
    started = time.perf_counter()
    assert (
        solve_search(problem, "sws", Effort(seconds=seconds), Watch(on_progress=told.append))
        is not None
    )
    assert time.perf_counter() - started >= seconds
    fractions = [progress.fraction for progress in told]
    assert fractions.count(1.0) == fractions[-1] == 1.0


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_more_iterations_pay(objective: Objective) -> None:
    problem = large_problem(200, 8)
    costs = [
        problem.cost(objective, solve(problem, objective, iterations=iterations))
        for iterations in (1, 1000, 5000)
    ]
    assert costs[0] > costs[1] > costs[2]
