"""One job in a process of its own, on one thread: value, wall and CPU seconds, peak memory."""

from __future__ import annotations

import multiprocessing
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from instances import Case
from solvers import SOLVERS

from flexpress import Scenario
from flexpress.planning import Problem
from flexpress.planning.progress import Effort
from flexpress.planning.search import solve_search

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")

Result = TypeVar("Result")
Seconds = tuple[float, float]
"""Wall and CPU."""


@dataclass(frozen=True)
class Measurement:
    """`value` is None when no plan within the budgets was found."""

    value: float | None
    wall: float
    cpu: float
    megabytes: float


def measure(solver: str, case: Case, seconds: float, seed: int) -> Measurement:
    return in_own_process(job, solver, case, seconds, seed)


def job(solver: str, case: Case, seconds: float, seed: int) -> Measurement:
    """Solve; the value is recomputed from the tours by our own `Problem.cost`."""
    (chosen,) = [one for one in SOLVERS if one.name == solver]
    solve = chosen.prepare(case.problem, case.objective, seconds, seed)
    wall, cpu = time.perf_counter(), time.process_time()
    tours = solve()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    if tours is not None:
        visited = sorted(node for tour in tours for node in tour)
        assert visited == list(range(1, case.problem.num_clients + 1)), f"{solver}: not a plan"
    kept = tours is not None and case.problem.feasible(tours)
    value = case.problem.cost(case.objective, tours) if tours is not None and kept else None
    return Measurement(value, wall, cpu, peak_megabytes())


def peak_megabytes() -> float:
    unit = 1 if sys.platform == "darwin" else 1024  # ru_maxrss is in bytes there, else in KiB
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def compile_seconds() -> tuple[Seconds, Seconds]:
    """First call of `search`: without compiled code on the disk, and with it."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["NUMBA_CACHE_DIR"] = folder
        try:
            return in_own_process(first_call), in_own_process(first_call)
        finally:
            del os.environ["NUMBA_CACHE_DIR"]


def first_call() -> Seconds:
    problem = Problem.of(Scenario.preset("four"))
    wall, cpu = time.perf_counter(), time.process_time()
    solve_search(problem, "minmax", Effort(iterations=1))
    return time.perf_counter() - wall, time.process_time() - cpu


def in_own_process(function: Callable[..., Result], *arguments: object) -> Result:
    os.environ.update(dict.fromkeys(THREADS, "1"))
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=context) as pool:
        return pool.submit(function, *arguments).result()
