"""From a scenario to a plan: the one door to all solvers."""

from __future__ import annotations

import time
from typing import get_args

from flexpress.arguments import (
    LARGEST_SEED,
    LONGEST_TIME,
    check_callable,
    check_choice,
    check_number,
    check_text,
    check_whole,
)
from flexpress.errors import InputError
from flexpress.planning.infeasible import Words, explain_infeasible
from flexpress.planning.plan import Plan
from flexpress.planning.problem import Problem, Tours
from flexpress.planning.progress import (
    Effort,
    OnProgress,
    Progress,
    ShouldStop,
    ignore_progress,
    never,
)
from flexpress.scenario import Objective, Scenario, SolverName, check_scenario
from flexpress.workers.cluster import connected

PROOF_LABELS = 5_000_000
"""Effort for a proof that no plan fits: about ten seconds at most."""

MOST_ITERATIONS = 2**62

MOST_STARTS = 10_000
"""More is a slip of the hand."""


def make_plan(
    scenario: Scenario,
    *,
    objective: Objective | None = None,
    solver: SolverName | None = None,
    seconds: float | None = None,
    iterations: int | None = None,
    seed: int | None = None,
    starts: int = 1,
    jobs: int | None = None,
    ray: str | None = None,
    on_progress: OnProgress = ignore_progress,
    should_stop: ShouldStop = never,
) -> Plan:
    """The best plan that the solver finds; InfeasibleError if none fits the budgets.

    What is not given is taken from the scenario. `iterations` limits the solver's work in a
    reproducible way, `seconds` by the clock; with neither, the solver's own default number of
    iterations is used. `exact` needs no limit: it ends when the optimum is proven. When
    `should_stop` turns true, the best plan so far is returned.

    Of several `starts`, each with the whole effort, the best is returned, with its own seed. So
    many `jobs` of them run at a time, in processes, or on the cluster at the address `ray`; that
    does not change the result.
    """
    check_scenario(scenario)
    check_callable(on_progress=on_progress, should_stop=should_stop)
    seconds, iterations, seed, starts, jobs = check_effort(
        seconds, iterations, seed, starts, jobs, ray
    )
    objective = scenario.plan.objective if objective is None else objective
    solver = scenario.plan.solver if solver is None else solver
    check_choice("objective", objective, get_args(Objective))
    check_solver(solver, starts)
    seed = scenario.seed if seed is None else seed
    effort = Effort(iterations, seconds)
    problem = Problem.of(scenario)
    with connected(ray, jobs):
        if solver == "search":  # made or read before the clock starts
            from flexpress.planning.search import load

            load(problem, on_progress)
        started = time.perf_counter()
        if starts == 1:
            tours = solve(problem, objective, solver, effort, seed, on_progress, should_stop)
            own_seed = seed
        else:
            tours, own_seed = solve_often(
                problem,
                objective,
                solver,
                effort,
                seed,
                starts,
                jobs,
                on_progress,
                should_stop,
                on_ray=ray is not None,
            )
        elapsed = time.perf_counter() - started
    if tours is not None:
        return Plan.of(scenario, objective, tours, solver=solver, seed=own_seed, seconds=elapsed)

    words = Words.of(scenario)
    proof = None
    if solver == "exact":
        from flexpress.planning.bounds.infeasibility import out_of_reach

        proof = out_of_reach(problem, words) or "proven by trying all"
    elif not should_stop():
        proof = look_for_proof(problem, words, on_progress, should_stop)
    raise explain_infeasible(problem, words, proof, seed=seed, should_stop=should_stop)


def look_for_proof(
    problem: Problem, words: Words, on_progress: OnProgress, should_stop: ShouldStop
) -> str | None:
    """Why no plan keeps the budgets, if that can be proven in moderate time."""
    from flexpress.planning.bounds.compiled import load
    from flexpress.planning.bounds.infeasibility import prove_infeasible
    from flexpress.planning.bounds.work import Work

    load(on_progress)
    on_progress(Progress(1.0, None, "no plan found, looking for a proof that there is none"))
    work = Work(labels=PROOF_LABELS, should_stop=should_stop)
    return prove_infeasible(problem, words, work)


def solve(
    problem: Problem,
    objective: Objective,
    solver: SolverName,
    effort: Effort,
    seed: int,
    on_progress: OnProgress,
    should_stop: ShouldStop,
) -> Tours | None:
    """Tours within the budgets, or None if the solver found none. Loads only what it needs."""
    if solver == "exact":
        from flexpress.planning.exact import solve_exact

        return solve_exact(problem, objective)
    if solver == "carp":
        from flexpress.planning.carp import solve_carp

        return solve_carp(
            problem,
            objective,
            seconds=effort.seconds,
            iterations=effort.iterations,
            seed=seed,
            on_progress=on_progress,
            should_stop=should_stop,
        )
    from flexpress.planning.search import solve_search

    return solve_search(
        problem,
        objective,
        seconds=effort.seconds,
        iterations=effort.iterations,
        seed=seed,
        on_progress=on_progress,
        should_stop=should_stop,
    )


def solve_often(
    problem: Problem,
    objective: Objective,
    solver: SolverName,
    effort: Effort,
    seed: int,
    starts: int,
    jobs: int | None,
    on_progress: OnProgress,
    should_stop: ShouldStop,
    *,
    on_ray: bool,
) -> tuple[Tours | None, int]:
    """The tours of the best start, if any found some, and its seed."""
    from flexpress.planning.starts import Start, best_of, staff, start_seeds

    tasks = [Start(problem, objective, solver, effort, own) for own in start_seeds(seed, starts)]
    at_a_time, open_pool = staff(jobs, on_ray=on_ray)
    best = best_of(tasks, at_a_time, on_progress, should_stop, open_pool=open_pool)
    return (None, seed) if best is None else (best[1], best[0].seed)


def check_effort(
    seconds: float | None,
    iterations: int | None,
    seed: int | None,
    starts: int = 1,
    jobs: int | None = None,
    ray: str | None = None,
) -> tuple[float | None, int | None, int | None, int, int | None]:
    """All but `ray` as plain numbers; InputError for the first that is not allowed."""
    if seconds is not None and iterations is not None:
        raise InputError("seconds and iterations are both given; give one of them")
    if seconds is not None:
        seconds = check_number("seconds", seconds, above=0, most=LONGEST_TIME)
    if iterations is not None:
        iterations = check_whole("iterations", iterations, 1, MOST_ITERATIONS)
    if seed is not None:
        seed = check_whole("seed", seed, 0, LARGEST_SEED)
    starts = check_whole("starts", starts, 1, MOST_STARTS)
    if jobs is not None:
        jobs = check_whole("jobs", jobs, 1)
    if ray is not None and check_text("ray", ray) and starts == 1:
        raise InputError(
            f"ray = {ray}: one start needs no cluster; give starts = 2 or more, or leave ray out"
        )
    return seconds, iterations, seed, starts, jobs


def check_solver(solver: SolverName, starts: int) -> None:
    check_choice("solver", solver, get_args(SolverName))
    if solver == "exact" and starts > 1:
        raise InputError(
            f"starts = {starts}: the solver exact finds the optimum in one; leave starts out, "
            "or choose another solver"
        )
