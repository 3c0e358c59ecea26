"""`search`: annealed ruin and recreate from several starts, on the true cost and budgets."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from flexpress.compiled import announced, drop_stale_code
from flexpress.planning.problem import Problem, Tours
from flexpress.planning.progress import (
    Effort,
    OnProgress,
    Progress,
    ShouldStop,
    ignore_progress,
    never,
    telling,
)
from flexpress.planning.search.anneal import anneal
from flexpress.planning.search.schedule import HOT, Schedule, default_iterations, num_starts
from flexpress.planning.search.state import State, by_matrix
from flexpress.planning.sectors import by_direction
from flexpress.scenario import Objective

FEWEST_RUINS, MOST_RUINS = 100, 500
"""Iterations between two looks at the clock; few clients need few, and every temperature."""

PROPOSALS = 10
"""Edges that polish tries, per iteration."""

ITERATIONS_PER_SECOND = 50_000
"""A guess, to choose the number of starts where time is the limit."""

WARM = 0.2
"""First temperature when the search goes on from a plan that must not be taken apart."""


def solve_search(
    problem: Problem,
    objective: Objective,
    *,
    seconds: float | None = None,
    iterations: int | None = None,
    seed: int = 0,
    on_progress: OnProgress = ignore_progress,
    should_stop: ShouldStop = never,
) -> Tours | None:
    """The best tours found within the budgets, or None if none were found.

    An iteration takes about a dozen clients out and puts them back. With an iteration limit the
    result depends on nothing but the problem and the seed. Where no feasible tours were met, as
    much effort again goes into overdrawing the budgets least, and into going on from there.
    """
    load(problem, on_progress)
    if seconds is None and iterations is None:
        iterations = default_iterations(problem.num_clients)
    effort = Effort(iterations, seconds)
    rng = np.random.default_rng(seed)
    state = State.of(problem)
    from_sectors(problem, objective, state, effort, rng, on_progress, should_stop)
    if state.best_tours() is None and not should_stop():
        on_progress(Progress(1.0, None, "no plan within the budgets yet, looking for one"))
        tours = least_overdrawn(problem, effort.part(2), rng, should_stop)
        if tours is not None and problem.feasible(tours):
            state.start_from(problem, tours, draw(rng))
            schedule = Schedule.of(problem, objective, state, WARM)
            cool(state, schedule, effort.part(2), ignore_progress, should_stop)
    return state.best_tours()


def load(problem: Problem, on_progress: OnProgress = ignore_progress) -> None:
    """Have the compiled code at hand, so that no clock runs while it is read or made."""
    one = np.ones(1)
    smallest = Problem(np.array([[0.0, 0.0], [1.0, 0.0]]), one, one, one, one, one)
    state = State.of(smallest)
    if not by_matrix(problem):
        state = replace(state, matrix=None)
    state.start_from(smallest, [[1]], np.uint64(1))
    weights, temperature = Schedule.of(smallest, "total", state).at(0.0, state)
    drop_stale_code(anneal, Path(__file__).parent)
    with announced(telling(on_progress), "the planner, once (about 10 s)"):
        anneal(*state.arrays(), weights, temperature, 0, 0, False)


def from_sectors(
    problem: Problem,
    objective: Objective,
    state: State,
    effort: Effort,
    rng: np.random.Generator,
    on_progress: OnProgress,
    should_stop: ShouldStop,
) -> None:
    """Start from sectors around the server, turned at random, as often as the effort allows."""
    expected = effort.iterations or ITERATIONS_PER_SECOND * (effort.seconds or 0.0)
    starts = num_starts(expected, problem.num_clients)
    schedule = Schedule.of(problem, objective, state, HOT)
    for number in range(starts):
        order = by_direction(problem, rng.uniform(0, 2 * np.pi))
        sectors = np.array_split(order, problem.num_transporters)
        state.start_from(problem, [sector.tolist() for sector in sectors], draw(rng))

        def report(progress: Progress, number: int = number) -> None:
            on_progress(replace(progress, fraction=(number + progress.fraction) / starts))

        cool(state, schedule, effort.part(starts), report, should_stop)


def cool(
    state: State,
    schedule: Schedule,
    effort: Effort,
    on_progress: OnProgress,
    should_stop: ShouldStop,
) -> None:
    """One start: from hot to cold in small steps, until the effort is spent."""
    done = 0
    fraction = 0.0
    chunk = int(np.clip(10 * len(state.near), FEWEST_RUINS, MOST_RUINS))
    proposals = PROPOSALS if state.near.size else 0
    unequal = state.unequal
    while fraction < 1 and not should_stop():
        weights, temperature = schedule.at(fraction, state)
        ruins = effort.at_most(chunk, done)
        anneal(*state.arrays(), weights, temperature, ruins, proposals * ruins, unequal)
        done += ruins
        fraction = effort.fraction(done)
        cost = None if np.isinf(state.best_cost) else state.best_cost
        on_progress(Progress(min(fraction, 1.0), cost))


def least_overdrawn(
    problem: Problem, effort: Effort, rng: np.random.Generator, should_stop: ShouldStop
) -> Tours | None:
    """Tours whose largest share of a budget is as small as the search can make it."""
    shares = problem.with_energy_for_time(problem.budgets)
    state = State.of(shares)
    from_sectors(shares, "minmax", state, effort, rng, ignore_progress, should_stop)
    return state.best_tours()


def draw(rng: np.random.Generator) -> np.uint64:
    """A state for the compiled generator: any but zero."""
    return rng.integers(1, 2**64, dtype=np.uint64)
