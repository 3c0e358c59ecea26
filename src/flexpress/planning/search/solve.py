"""`search`: annealed ruin and recreate from several starts, on the true cost and budgets."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from flexpress.callbacks import Tell
from flexpress.compiled import announced, drop_stale_code
from flexpress.planning.problem import Problem, Tours
from flexpress.planning.progress import UNWATCHED, Effort, Progress, Watch, ignore_progress
from flexpress.planning.search.anneal import anneal
from flexpress.planning.search.schedule import HOT, Schedule, default_iterations, num_starts
from flexpress.planning.search.state import State, by_matrix
from flexpress.scenario import Objective
from flexpress.scenario.physics import slots

_FEWEST_RUINS, _MOST_RUINS = 100, 500
"""Iterations between two looks at the clock. Few clients need few, or they cool in large steps."""

_PROPOSALS = 10
"""Edges that polish tries per iteration."""

_ITERATIONS_PER_SECOND = 50_000
"""An estimate, to choose the number of starts when time is the limit."""

_WARM = 0.2
"""First temperature when the search continues from a plan, which a higher one would destroy."""


def solve_search(
    problem: Problem, objective: Objective, effort: Effort, watch: Watch = UNWATCHED
) -> Tours | None:
    """The best tours found within the budgets, or None if none were found.

    An iteration removes about a dozen clients and inserts them again. With a limit of iterations
    the result depends only on the problem and the seed. If no feasible tours were found, the same
    effort is spent again: half of it to overdraw the budgets least, half to continue from there.
    """
    load(problem, watch.note)
    if effort.seconds is None and effort.iterations is None:
        effort = replace(effort, iterations=default_iterations(problem.num_clients))
    rng = np.random.default_rng(effort.seed)
    state = State.of(problem)
    _from_sectors(problem, objective, state, effort, rng, watch)
    if state.best_tours() is None and not watch.should_stop():
        watch.on_progress(Progress(1.0, None, "no plan within the budgets yet, looking for one"))
        silent = replace(watch, on_progress=ignore_progress)
        overdrawn = replace(silent, on_tours=None)  # these are not within the budgets
        tours = _least_overdrawn(problem, effort.part(2), rng, overdrawn)
        if tours is not None and problem.feasible(tours):
            state.start_from(problem, tours, _draw(rng))
            schedule = Schedule.of(problem, objective, state, _WARM)
            _cool(state, schedule, effort.part(2), silent)
    return state.best_tours()


def load(problem: Problem, on_note: Tell = UNWATCHED.note) -> None:
    """Load or compile the code for this problem, so that no clock runs meanwhile."""
    one = np.ones(1)
    smallest = Problem(np.array([[0.0, 0.0], [1.0, 0.0]]), one, one, one, one, one)
    state = State.of(smallest)
    if not by_matrix(problem):
        state = replace(state, matrix=None)
    state.start_from(smallest, [[1]], np.uint64(1))
    weights, temperature = Schedule.of(smallest, "total", state).at(0.0, state)
    drop_stale_code(anneal, Path(__file__).parent)
    with announced(on_note, "the planner, once (about 10 s)"):
        anneal(*state.arrays(), weights, temperature, 0, 0, False)


def _from_sectors(
    problem: Problem,
    objective: Objective,
    state: State,
    effort: Effort,
    rng: np.random.Generator,
    watch: Watch,
) -> None:
    """Start from sectors around the server, turned at random, as often as the effort allows."""
    expected = effort.iterations or _ITERATIONS_PER_SECOND * (effort.seconds or 0.0)
    starts = num_starts(expected, problem.num_clients)
    schedule = Schedule.of(problem, objective, state, HOT)
    for number in range(starts):
        order = problem.by_direction(rng.uniform(0, 2 * np.pi))
        sectors = np.array_split(order, problem.num_transporters)
        state.start_from(problem, [sector.tolist() for sector in sectors], _draw(rng))

        def report(progress: Progress, number: int = number) -> None:
            fraction, cost = (number + progress.fraction) / starts, progress.cost
            watch.on_progress(Progress(fraction, _shown(problem, objective, cost)))

        part = effort.part(starts)
        _cool(state, schedule, part, replace(watch, on_progress=report))


def _shown(problem: Problem, objective: Objective, cost: float | None) -> float | None:
    """The cost of the search as the objective counts it: `minmax` is searched for in seconds."""
    if cost is None or not problem.slot or objective != "minmax":
        return cost
    return float(slots(cost, problem.slot))


def _cool(state: State, schedule: Schedule, effort: Effort, watch: Watch) -> None:
    """One start: from hot to cold in small steps, until the effort is spent."""
    done, fraction = 0, 0.0
    started = time.perf_counter()
    chunk = int(np.clip(10 * len(state.near), _FEWEST_RUINS, _MOST_RUINS))
    proposals = _PROPOSALS if state.near.size else 0
    unequal, told = state.unequal, state.best_cost
    while fraction < 1 and not watch.should_stop():
        weights, temperature = schedule.at(fraction, state)
        ruins = effort.next_chunk(chunk, done)
        anneal(*state.arrays(), weights, temperature, ruins, proposals * ruins, unequal)
        done += ruins
        fraction = effort.fraction(done, started)
        cost = None if np.isinf(state.best_cost) else state.best_cost
        watch.on_progress(Progress(min(fraction, 1.0), cost))
        if watch.on_tours and state.best_cost < told:
            told = state.best_cost
            watch.on_tours(state.best_tours() or [])


def _least_overdrawn(
    problem: Problem, effort: Effort, rng: np.random.Generator, watch: Watch
) -> Tours | None:
    """Tours whose largest share of a budget is as small as the search can make it."""
    shares = problem.with_energy_for_time(problem.budgets)
    state = State.of(shares)
    _from_sectors(shares, "minmax", state, effort, rng, watch)
    return state.best_tours()


def _draw(rng: np.random.Generator) -> np.uint64:
    """A state for the compiled generator: any number but zero."""
    return rng.integers(1, 2**64, dtype=np.uint64)
