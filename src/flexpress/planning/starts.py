"""Several starts of a solver in parallel processes; the best plan is kept."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace

import numpy as np

from flexpress.callbacks import ShouldStop
from flexpress.errors import FlexpressError
from flexpress.planning.problem import Problem, Rank, Tours
from flexpress.planning.progress import Effort, OnProgress, Progress, Watch
from flexpress.planning.solve import solve
from flexpress.scenario import Objective, SolverName
from flexpress.workers.processes import num_cores, perform_all, process_pool

_PAUSE = 0.1
"""Seconds between two reports of a start."""

_SAME = 1e-12
"""Relative: smaller differences of the cost are rounding."""


@dataclass(frozen=True)
class Start:
    """One start as a task for a worker process. The tours depend on nothing else."""

    problem: Problem
    objective: Objective
    solver: SolverName
    effort: Effort

    def __call__(self, on_progress: OnProgress, should_stop: ShouldStop) -> Tours | None:
        watch = Watch(_now_and_then(on_progress), should_stop)
        return solve(self.problem, self.objective, self.solver, self.effort, watch)


def make_starts(
    problem: Problem, objective: Objective, solver: SolverName, effort: Effort
) -> list[Start]:
    """The starts of this effort, each with its own seed."""
    seeds = _start_seeds(effort.seed, effort.starts)
    return [Start(problem, objective, solver, replace(effort, seed=seed)) for seed in seeds]


def _start_seeds(seed: int, starts: int) -> list[int]:
    """The given seed, then drawn ones. More starts do not change the seeds of the first ones.

    Drawn seeds are short, so that a user can type the seed of the best.
    """
    drawn = [np.random.SeedSequence(seed, spawn_key=(number,)) for number in range(1, starts)]
    return [seed, *(int(sequence.generate_state(1)[0]) for sequence in drawn)]


def best_of(starts: Sequence[Start], jobs: int | None, watch: Watch) -> tuple[Start, Tours] | None:
    """The best start and its tours, the first of equals; None if no start finds a plan.

    The result does not depend on `jobs`, the number of starts that run at the same time.
    """
    found: dict[int, Tours] = {}
    ranks: dict[int, Rank] = {}
    summary = _Summary(len(starts), watch.on_progress)

    def on_end(number: int, tours: Tours | None) -> None:
        if tours is not None:
            start = starts[number]
            found[number] = tours
            ranks[number] = start.problem.rank(start.objective, tours)
        summary.end(number, ranks[number][0] if number in ranks else None)

    try:
        perform_all(
            dict(enumerate(starts)),
            min(jobs or num_cores(), len(starts)),
            on_start=lambda number: None,
            on_news=summary.hear,
            on_end=on_end,
            should_stop=watch.should_stop,
            open_pool=process_pool,
        )
    except BrokenProcessPool:
        raise FlexpressError(
            "the process of a start was killed, perhaps for lack of memory; "
            "try fewer jobs at a time"
        ) from None
    if not found:
        return None
    best = _first_of_the_best(ranks)
    return starts[best], found[best]


def _first_of_the_best(ranks: Mapping[int, Rank]) -> int:
    """The lowest number of those with the least cost, and of these with the least seconds."""
    equals = sorted(ranks)
    for place in range(2):
        limit = min(ranks[number][place] for number in equals) * (1 + _SAME)
        equals = [number for number in equals if ranks[number][place] <= limit]
    return equals[0]


class _Summary:
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


def _now_and_then(on_progress: OnProgress) -> OnProgress:
    """Passes on only some reports, but all notes."""
    last = -math.inf

    def passed_on(progress: Progress) -> None:
        nonlocal last
        now = time.monotonic()
        if progress.note or now - last >= _PAUSE:
            last = now
            on_progress(progress)

    return passed_on
