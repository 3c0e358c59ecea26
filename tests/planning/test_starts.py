"""Several starts: the best of them, whoever does them and in whatever order."""

from __future__ import annotations

import multiprocessing
import queue
import random
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from cases import four_clients

from flexpress import InfeasibleError, InputError, Plan, Scenario, make_plan
from flexpress.callbacks import ShouldStop
from flexpress.planning import Progress, plan_to_json
from flexpress.planning.problem import Problem, Tours
from flexpress.planning.progress import Effort, Watch
from flexpress.planning.starts import Start, _start_seeds, best_of
from flexpress.scenario import SolverName
from flexpress.workers.processes import WorkerPool, WorkerTask, drain

PAPER = Scenario.preset("paper")
FEW = 300
"""Iterations after which starts still differ."""

FOUR = four_clients(1.0, 1.0)
SHORT: Tours = [[1, 2], [3, 4]]  # 14 s
SAME_BUT_TURNED: Tours = [[4, 3], [2, 1]]
LONG: Tours = [[1, 2, 3, 4], []]

Solver = Callable[[int, Callable[[Progress], None], ShouldStop], Tours | None]


@contextmanager
def threads(jobs: int) -> Iterator[WorkerPool]:
    """WorkerPool without a process: the seam that any other kind has to fit."""
    news: queue.Queue[tuple[Any, Any]] = queue.Queue()
    stop = threading.Event()

    def submit(key: Any, task: WorkerTask[Any, Any]) -> Future[Any]:
        return pool.submit(task, lambda told: news.put((key, told)), stop.is_set)

    with ThreadPoolExecutor(jobs) as pool:
        yield WorkerPool(submit, lambda: drain(news.get_nowait), stop.set)


@pytest.fixture
def in_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Quick, for what does not depend on processes."""
    monkeypatch.setattr("flexpress.planning.starts.process_pool", threads)


@pytest.fixture
def solve_with(monkeypatch: pytest.MonkeyPatch) -> Callable[[Solver], None]:
    """Puts a function of (number of the start, on_progress, should_stop) in the place of all."""

    def install(solver: Solver) -> None:
        def solve(problem: Problem, *arguments: Any) -> Tours | None:
            *_, effort, watch = arguments
            return solver(effort.seed, watch.on_progress, watch.should_stop)

        monkeypatch.setattr("flexpress.planning.starts.solve", solve)

    return install


def starts_of_four(number: int) -> list[Start]:
    return [Start(FOUR, "minmax", "search", Effort(seed=seed)) for seed in range(number)]


def best(number: int, jobs: int = 2) -> tuple[int, Tours] | None:
    found = best_of(starts_of_four(number), jobs, Watch())
    return None if found is None else (found[0].effort.seed, found[1])


def one_by_one(scenario: Scenario, starts: int, solver: SolverName, iterations: int) -> list[Plan]:
    return [
        make_plan(scenario, solver=solver, iterations=iterations, seed=seed)
        for seed in _start_seeds(scenario.seed, starts)
    ]


def without_seconds(plan: Plan) -> dict[str, Any]:
    return {**asdict(plan), "seconds": None}


def test_seeds_are_those_of_numpy() -> None:
    spawned = np.random.SeedSequence(7).spawn(5)
    drawn = [int(sequence.generate_state(1)[0]) for sequence in spawned]
    assert _start_seeds(7, 5) == [7, *drawn[1:]]
    assert _start_seeds(7, 3) == _start_seeds(7, 5)[:3]
    assert _start_seeds(2**63 - 1, 1) == [2**63 - 1]


def test_seeds_differ() -> None:
    seeds = [own for seed in range(100) for own in _start_seeds(seed, 20)[1:]]
    assert len(set(seeds)) == len(seeds)


@pytest.mark.parametrize(
    ("solver", "iterations", "jobs"),
    [
        ("search", FEW, 2),
        pytest.param("search", FEW, 1, marks=pytest.mark.slow),
        pytest.param("carp", 80, 2, marks=pytest.mark.slow),
    ],
)
def test_the_best_of_all(solver: SolverName, iterations: int, jobs: int) -> None:
    """In processes, against the same starts one by one here."""
    plans = one_by_one(PAPER, 3, solver, iterations)
    assert len({plan.cost for plan in plans}) == 3, "else the choice shows nothing"
    expected = min(plans, key=lambda plan: plan.cost)
    made = make_plan(PAPER, solver=solver, iterations=iterations, starts=3, jobs=jobs)
    assert without_seconds(made) == without_seconds(expected)


@pytest.mark.usefixtures("in_threads")
@pytest.mark.parametrize("seed", range(8))
def test_more_starts_are_never_worse(seed: int) -> None:
    """And the plan of one start is among those of two, and so on."""
    costs = [make_plan(PAPER, iterations=FEW, seed=seed, starts=n).cost for n in (1, 2, 4)]
    assert costs == sorted(costs, reverse=True)
    own = make_plan(PAPER, iterations=FEW, seed=seed, starts=4).seed
    assert make_plan(PAPER, iterations=FEW, seed=own).cost == costs[-1]


def test_one_start_needs_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(method: str) -> None:
        raise AssertionError("a process was asked for")

    monkeypatch.setattr(multiprocessing, "get_context", none)
    plain = make_plan(PAPER, iterations=FEW)
    one = make_plan(PAPER, iterations=FEW, starts=1, jobs=2)
    assert without_seconds(plain) == without_seconds(one)
    assert plan_to_json(plain).count("start") == 0


@pytest.mark.usefixtures("in_threads")
def test_of_equal_ones_the_first(solve_with: Callable[[Solver], None]) -> None:
    """Also where they come in another order, and differ by rounding only."""
    tours = {0: LONG, 1: SAME_BUT_TURNED, 2: SHORT}
    assert FOUR.cost("minmax", SHORT) == pytest.approx(14.0)

    def solver(number: int, *_: object) -> Tours:
        time.sleep(0.05 * (2 - number))
        return tours[number]

    solve_with(solver)
    assert best(3) == (1, SAME_BUT_TURNED)
    assert best(3, jobs=3) == (1, SAME_BUT_TURNED)


@pytest.mark.usefixtures("in_threads")
def test_starts_that_find_nothing_do_not_count(solve_with: Callable[[Solver], None]) -> None:
    solve_with(lambda number, *_: LONG if number == 2 else None)
    assert best(4) == (2, LONG)
    solve_with(lambda *_: None)
    assert best(4) is None


@pytest.mark.usefixtures("in_threads")
def test_no_plan_is_told_as_by_one_start() -> None:
    tight = Scenario.preset("four").replace(fleet={"budgets": [100.0, 100.0]})
    told = []
    for starts in (1, 3):
        with pytest.raises(InfeasibleError) as caught:
            make_plan(tight, solver="search", iterations=50, starts=starts)
        told.append(str(caught.value))
    assert told[0] == told[1]


@pytest.mark.usefixtures("in_threads")
def test_progress_of_all_as_one(solve_with: Callable[[Solver], None]) -> None:
    moments = random.Random(1)

    def solver(number: int, on_progress: Callable[[Progress], None], _: ShouldStop) -> Tours:
        on_progress(Progress(0.1, None, f"note {number}"))
        time.sleep(0.12 * moments.random() + 0.1)
        on_progress(Progress(0.5, 20.0 + number))
        time.sleep(0.12 * moments.random() + 0.1)
        return SHORT

    told: list[Progress] = []
    solve_with(solver)
    assert best_of(starts_of_four(4), 2, Watch(told.append))
    fractions = [progress.fraction for progress in told]
    assert fractions == sorted(fractions)
    assert 0 < fractions[0] < fractions[-1] == 1.0
    costs = [np.inf if progress.cost is None else progress.cost for progress in told]
    assert costs == sorted(costs, reverse=True)
    assert 20.0 in costs or 21.0 in costs
    assert costs[-1] == pytest.approx(14.0)
    assert all(progress.note == "" for progress in told if progress.cost is not None)
    assert told[0].note in ("note 0", "note 1")
    stages = list(dict.fromkeys(progress.stage for progress in told))
    assert stages == [f"{done} of 4 starts done" for done in range(5)]


def test_a_start_does_not_tell_everything() -> None:
    told: list[Progress] = []
    start = Start(Problem.of(PAPER), "sws", "search", Effort(iterations=4000))
    assert start(told.append, lambda: False) is not None
    heard: list[Progress] = []
    make_plan(PAPER, objective="sws", iterations=4000, on_progress=heard.append)
    assert 1 <= len(told) < len(heard)


def test_stopped_with_the_best_so_far() -> None:
    """In processes: those at work end early, and no others begin."""
    told: list[Progress] = []
    plan = make_plan(
        PAPER,
        iterations=10**9,
        starts=5,
        jobs=2,
        on_progress=told.append,
        should_stop=lambda: bool(told) and told[-1].cost is not None,
    )
    assert plan.feasible
    assert sorted(i for tour in plan.transporters for i in tour.clients) == list(range(1, 41))
    assert plan.seed in _start_seeds(PAPER.seed, 2)
    assert told[-1].stage == "2 of 5 starts done"
    assert plan.cost == pytest.approx(told[-1].cost, rel=1e-9)
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"starts": 0}, "starts = 0: must be a whole number from 1 to 10,000"),
        ({"starts": 10_001}, "starts = 10001: must be a whole number from 1 to 10,000"),
        ({"starts": 2, "jobs": 0}, "jobs = 0: must be a whole number of at least 1"),
        (
            {"starts": 2, "solver": "exact"},
            "starts = 2: the solver exact finds the optimum in one; omit starts, "
            "or choose another solver",
        ),
    ],
)
def test_what_is_not_allowed(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        make_plan(Scenario.preset("four"), **given)
    assert str(caught.value) == message
