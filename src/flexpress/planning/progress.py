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
    stage: str = ""  # how far it is, where there are several starts


OnProgress = Callable[[Progress], None]
ShouldStop = Callable[[], bool]


def ignore_progress(progress: Progress) -> None:
    """For callers who do not listen."""


def telling(on_progress: OnProgress) -> Callable[[str], None]:
    """Passes notes on to a listener before the work begins."""
    return lambda note: on_progress(Progress(0.0, None, note))


def never() -> bool:
    """For callers who do not interrupt."""
    return False


@dataclass(frozen=True)
class Effort:
    """How long to work: a number of iterations (reproducible) or of seconds from now on."""

    iterations: int | None = None
    seconds: float | None = None
    started: float = field(default_factory=time.perf_counter)

    def part(self, parts: int) -> Effort:
        """One of so many equal parts, beginning now."""
        if self.iterations is not None:
            return Effort(iterations=max(1, self.iterations // parts))
        assert self.seconds is not None
        return Effort(seconds=self.seconds / parts)

    def at_most(self, chunk: int, done: int) -> int:
        """The size of the next piece of work."""
        return chunk if self.iterations is None else min(chunk, self.iterations - done)

    def fraction(self, done: int) -> float:
        """Share of the effort spent after `done` iterations."""
        if self.iterations is not None:
            return done / self.iterations
        assert self.seconds is not None
        return (time.perf_counter() - self.started) / self.seconds
