"""How a solver tells what it has, and learns when to stop."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Progress:
    """A solver's state, told between pieces of work."""

    fraction: float  # of the effort, 0 to 1
    cost: float | None  # of the best plan so far; None while none fits the budgets
    note: str = ""  # what is going on, where it is not the search itself


OnProgress = Callable[[Progress], None]
ShouldStop = Callable[[], bool]


def ignore_progress(progress: Progress) -> None:
    """For callers who do not listen."""


def never() -> bool:
    """For callers who do not interrupt."""
    return False


@dataclass(frozen=True)
class Effort:
    """How long a solver may work: a number of iterations (reproducible) or of seconds."""

    iterations: int | None = None
    seconds: float | None = None
    started: float = field(default_factory=time.perf_counter)

    def fraction(self, done: int) -> float:
        """Share of the effort spent after `done` iterations."""
        if self.iterations is not None:
            return done / self.iterations
        assert self.seconds is not None
        return (time.perf_counter() - self.started) / self.seconds
