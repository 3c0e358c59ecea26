"""From a scenario to a plan: checks the arguments, runs the solver, explains why none fits."""

from __future__ import annotations

import time
from typing import get_args

from flexpress.arguments import (
    LARGEST_SEED,
    LONGEST_TIME,
    check_callable,
    check_choice,
    check_number,
    check_whole,
)
from flexpress.callbacks import ShouldStop, never
from flexpress.errors import InfeasibleError, InputError
from flexpress.planning.infeasible import Words, explain_infeasible
from flexpress.planning.plan import Plan
from flexpress.planning.problem import Problem, Tours
from flexpress.planning.progress import (
    Effort,
    OnProgress,
    OnTours,
    Progress,
    Watch,
    ignore_progress,
)
from flexpress.scenario import Objective, RoundTripUnit, Scenario, SolverName, check_scenario

_PROOF_LABELS = 5_000_000
"""Effort for a proof that no plan fits: about ten seconds at most."""

_MOST_ITERATIONS = 2**62

_MOST_STARTS = 10_000
"""A larger number is taken for a typing error."""


def make_plan(
    scenario: Scenario,
    *,
    objective: Objective | None = None,
    round_trips: RoundTripUnit | None = None,
    solver: SolverName | None = None,
    seconds: float | None = None,
    iterations: int | None = None,
    seed: int | None = None,
    starts: int = 1,
    jobs: int | None = None,
    on_progress: OnProgress = ignore_progress,
    should_stop: ShouldStop = never,
    on_tours: OnTours | None = None,
) -> Plan:
    """The best plan that the solver finds; InfeasibleError if none fits the budgets.

    Arguments that are not given are taken from the scenario. `round_trips` says whether the
    objective counts seconds or whole slots; of plans with equal slots, the one with the lower
    objective in seconds is better. `iterations` limits the work
    reproducibly, `seconds` by the clock; with neither, the solver uses its default number of
    iterations. `exact` needs no limit: it ends when the optimum is proven. When `should_stop`
    returns true, the best plan so far is returned. `on_tours` receives the tours of each better
    plan as `search` finds it, if there is one start.

    With several `starts`, each gets the whole effort and its own seed, and the best plan is
    returned with its seed. `jobs` of them run at the same time, in processes; their number does
    not change the result.
    """
    check_scenario(scenario)
    check_callable(on_progress=on_progress, should_stop=should_stop)
    if on_tours is not None:
        check_callable(on_tours=on_tours)
    seed = scenario.seed if seed is None else seed
    effort = check_effort(seconds, iterations, seed, starts, jobs)
    objective = scenario.plan.objective if objective is None else objective
    solver = scenario.plan.solver if solver is None else solver
    round_trips = scenario.plan.round_trips if round_trips is None else round_trips
    check_choice("objective", objective, get_args(Objective))
    check_choice("round_trips", round_trips, get_args(RoundTripUnit))
    _check_solver(solver, starts)
    watch = Watch(on_progress, should_stop, on_tours)
    problem = Problem.of(scenario, round_trips)
    if solver == "search":  # load the compiled code before the clock starts
        from flexpress.planning.search import load

        load(problem, watch.note)
    started = time.perf_counter()
    tours, seed = _solve_from_starts(problem, objective, solver, effort, watch)
    elapsed = time.perf_counter() - started
    if tours is None:
        raise _infeasible(problem, Words.of(scenario), solver, effort.seed, watch)
    return Plan.of(
        scenario,
        objective,
        tours,
        solver=solver,
        seed=seed,
        seconds=elapsed,
        round_trips=round_trips,
    )


def solve(
    problem: Problem, objective: Objective, solver: SolverName, effort: Effort, watch: Watch
) -> Tours | None:
    """Tours within the budgets, or None if the solver finds none. Only this solver is loaded."""
    if solver == "exact":
        from flexpress.planning.exact import solve_exact

        return solve_exact(problem, objective)
    if solver == "carp":
        from flexpress.planning.carp import solve_carp

        return solve_carp(problem, objective, effort, watch)
    from flexpress.planning.search import solve_search

    return solve_search(problem, objective, effort, watch)


def _solve_from_starts(
    problem: Problem, objective: Objective, solver: SolverName, effort: Effort, watch: Watch
) -> tuple[Tours | None, int]:
    """The tours of the best start and its seed. A single start runs in this process."""
    if effort.starts == 1:
        return solve(problem, objective, solver, effort, watch), effort.seed
    from flexpress.planning.starts import best_of, make_starts  # loads multiprocessing

    best = best_of(make_starts(problem, objective, solver, effort), effort.jobs, watch)
    return (None, effort.seed) if best is None else (best[1], best[0].effort.seed)


def _infeasible(
    problem: Problem, words: Words, solver: SolverName, seed: int, watch: Watch
) -> InfeasibleError:
    """The error that says whether it is proven that no plan fits, and what would help."""
    from flexpress.planning.bounds.infeasibility import out_of_reach

    proof = None
    if solver == "exact":
        proof = out_of_reach(problem, words) or "proven by trying all"
    elif not watch.should_stop():
        proof = _look_for_proof(problem, words, watch)
    return explain_infeasible(problem, words, proof, seed=seed, should_stop=watch.should_stop)


def _look_for_proof(problem: Problem, words: Words, watch: Watch) -> str | None:
    """Why no plan keeps the budgets, if that can be proven in moderate time."""
    from flexpress.planning.bounds import load
    from flexpress.planning.bounds.effort import ProofEffort
    from flexpress.planning.bounds.infeasibility import prove_infeasible

    load(watch.note)
    watch.on_progress(Progress(1.0, None, "no plan found, looking for a proof that there is none"))
    effort = ProofEffort(labels=_PROOF_LABELS, watch=Watch(should_stop=watch.should_stop))
    return prove_infeasible(problem, words, effort)


def check_effort(
    seconds: float | None,
    iterations: int | None,
    seed: int | None,
    starts: int = 1,
    jobs: int | None = None,
) -> Effort:
    """The effort, in plain numbers; InputError for the first value that is not allowed."""
    if seconds is not None and iterations is not None:
        raise InputError("seconds and iterations are both given; give one of them")
    if seconds is not None:
        seconds = check_number("seconds", seconds, above=0, most=LONGEST_TIME)
    if iterations is not None:
        iterations = check_whole("iterations", iterations, 1, _MOST_ITERATIONS)
    seed = 0 if seed is None else check_whole("seed", seed, 0, LARGEST_SEED)
    starts = check_whole("starts", starts, 1, _MOST_STARTS)
    if jobs is not None:
        jobs = check_whole("jobs", jobs, 1)
    return Effort(seconds=seconds, iterations=iterations, seed=seed, starts=starts, jobs=jobs)


def _check_solver(solver: SolverName, starts: int) -> None:
    check_choice("solver", solver, get_args(SolverName))
    if solver == "exact" and starts > 1:
        raise InputError(
            f"starts = {starts}: the solver exact finds the optimum in one; omit starts, "
            "or choose another solver"
        )
