"""Several starts of a solver: a seed and a worker for each, and the best is kept."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass

import numpy as np

from flexpress.errors import FlexpressError
from flexpress.planning.objectives import cost_of
from flexpress.planning.problem import Problem, Tours
from flexpress.planning.progress import Effort, OnProgress, Progress, ShouldStop
from flexpress.planning.solve import solve
from flexpress.scenario import Objective, SolverName
from flexpress.workers.cluster import cluster_cores, on_cluster
from flexpress.workers.processes import OpenPool, num_cores, perform_all, process_pool
from flexpress.workers.ray_executor import LostError, ray_pool

PAUSE = 0.1
"""Seconds between two reports of a start: more often nobody looks."""

SAME = 1e-12
"""Relative: what differs less, differs by rounding."""


@dataclass(frozen=True)
class Start:
    """A task for a worker: all that its tours depend on."""

    problem: Problem
    objective: Objective
    solver: SolverName
    effort: Effort
    seed: int

    def __call__(self, tell: OnProgress, should_stop: ShouldStop) -> Tours | None:
        on_progress = now_and_then(tell)
        return solve(
            self.problem,
            self.objective,
            self.solver,
            self.effort,
            self.seed,
            on_progress,
            should_stop,
        )

    def cost(self, tours: Tours) -> float:
        return cost_of(self.problem, self.objective, tours)


def start_seeds(seed: int, starts: int) -> list[int]:
    """The first start has the seed itself; more starts leave the seeds of the others as they are.

    They are short, so that a user can type the seed of the best.
    """
    drawn = [np.random.SeedSequence(seed, spawn_key=(number,)) for number in range(1, starts)]
    return [seed, *(int(sequence.generate_state(1)[0]) for sequence in drawn)]


def staff(jobs: int | None, *, on_ray: bool) -> tuple[int, OpenPool]:
    """How many at a time, and who: processes, or the Ray cluster that we are connected to."""
    if not on_ray:
        return jobs or num_cores(), process_pool
    with on_cluster() as ray:
        return jobs or cluster_cores(ray), ray_pool


def best_of(
    starts: Sequence[Start],
    jobs: int,
    on_progress: OnProgress,
    should_stop: ShouldStop,
    *,
    open_pool: OpenPool = process_pool,
) -> tuple[Start, Tours] | None:
    """The best start and its tours, of equal ones the first; None if no start found any.

    It does not depend on the number of jobs, the starts done at a time, nor on the kind of pool.
    """
    found: dict[int, Tours] = {}
    summary = Summary(len(starts), on_progress)

    def on_end(number: int, tours: Tours | None) -> None:
        if tours is not None:
            found[number] = tours
        summary.end(number, None if tours is None else starts[number].cost(tours))

    try:
        perform_all(
            dict(enumerate(starts)),
            min(jobs, len(starts)),
            on_start=lambda number: None,
            on_news=summary.hear,
            on_end=on_end,
            should_stop=should_stop,
            open_pool=open_pool,
        )
    except BrokenProcessPool:
        raise FlexpressError(
            "the process of a start was ended from outside, perhaps for want of memory; "
            "try fewer jobs at a time"
        ) from None
    except LostError as error:
        raise FlexpressError(f"a start was {error}; try fewer jobs at a time") from None
    costs = {number: starts[number].cost(found[number]) for number in sorted(found)}
    limit = min(costs.values(), default=math.inf) * (1 + SAME)
    best = next((number for number, cost in costs.items() if cost <= limit), None)
    return None if best is None else (starts[best], found[best])


class Summary:
    """The progress of all starts as one."""

    def __init__(self, starts: int, on_progress: OnProgress) -> None:
        self._latest = [Progress(0.0, None)] * starts
        self._on_progress = on_progress
        self._done = 0
        self._cost = math.inf

    def hear(self, number: int, progress: Progress) -> None:
        self._latest[number] = progress
        if progress.cost is not None:
            self._cost = min(self._cost, progress.cost)
        none_yet = math.isinf(self._cost)
        notes = [latest.note for latest in self._latest if latest.note and none_yet]
        self._on_progress(
            Progress(
                sum(latest.fraction for latest in self._latest) / len(self._latest),
                None if none_yet else self._cost,
                notes[0] if notes else "",
                f"{self._done} of {len(self._latest)} starts done",
            )
        )

    def end(self, number: int, cost: float | None) -> None:
        self._done += 1
        self.hear(number, Progress(1.0, cost))


def now_and_then(tell: OnProgress) -> OnProgress:
    """Not everything is passed on, but all notes: nothing may come after them for long."""
    last = -math.inf

    def on_progress(progress: Progress) -> None:
        nonlocal last
        now = time.monotonic()
        if progress.note or now - last >= PAUSE:
            last = now
            tell(progress)

    return on_progress
