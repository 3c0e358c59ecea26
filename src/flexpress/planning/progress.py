"""How long a solver works, how it reports its progress, and how it is stopped."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from flexpress.callbacks import ShouldStop, never
from flexpress.planning.problem import Tours


@dataclass(frozen=True)
class Progress:
    """The state of a solver, reported between pieces of work."""

    fraction: float  # of the effort, 0 to 1
    cost: float | None  # of the best plan so far; None until one fits the budgets
    note: str = ""  # what the solver does, if it is not searching
    stage: str = ""  # how many starts are done, if there are several


OnProgress = Callable[[Progress], None]

OnTours = Callable[[Tours], None]
"""Receives the tours of each better plan, as lists of nodes 1..N."""


def ignore_progress(progress: Progress) -> None:
    """The default of `on_progress`."""


@dataclass(frozen=True)
class Watch:
    """The caller's callbacks: for progress, to stop the work, and for better tours, if wanted."""

    on_progress: OnProgress = ignore_progress
    should_stop: ShouldStop = never
    on_tours: OnTours | None = None

    def note(self, text: str) -> None:
        """Report a note before the work begins."""
        self.on_progress(Progress(0.0, None, text))


UNWATCHED = Watch()


@dataclass(frozen=True, kw_only=True)
class Effort:
    """How much to work: limits of each start, the number of starts, and the first seed.

    A limit of iterations is reproducible. With no limit the solver chooses one of iterations.
    """

    seconds: float | None = None
    iterations: int | None = None
    seed: int = 0
    starts: int = 1
    jobs: int | None = None  # starts that run at the same time; None: one per core

    def part(self, parts: int) -> Effort:
        """One of several equal parts."""
        if self.iterations is not None:
            return replace(self, iterations=max(1, self.iterations // parts))
        assert self.seconds is not None
        return replace(self, seconds=self.seconds / parts)

    def next_chunk(self, chunk: int, done: int) -> int:
        """Iterations to do next: at most `chunk`."""
        return chunk if self.iterations is None else min(chunk, self.iterations - done)

    def fraction(self, done: int, started: float) -> float:
        """Share of the effort spent on `done` iterations since `started` (perf_counter)."""
        if self.iterations is not None:
            return done / self.iterations
        assert self.seconds is not None
        return (time.perf_counter() - started) / self.seconds
