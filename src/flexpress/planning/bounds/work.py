"""How long to look for a proof: a number of labels, which repeats, or seconds."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from flexpress.planning.progress import OnProgress, Progress, ShouldStop, ignore_progress, never

LABELS = 30_000_000
"""Where no time is given: about a minute."""

LABELS_PER_CALL = 50_000
"""What a call of pricing costs beside its labels."""


@dataclass
class Work:
    """Counts what was done; `over` tells when it is enough."""

    seconds: float | None = None
    should_stop: ShouldStop = never
    on_progress: OnProgress = ignore_progress
    done: int = 0
    bound: float | None = None
    labels: int = LABELS  # the limit where no seconds are given
    started: float = field(default_factory=time.perf_counter)

    def add(self, labels: int) -> None:
        self.done += LABELS_PER_CALL + labels
        self.on_progress(Progress(self.fraction, self.bound))

    def tell(self, bound: float) -> None:
        """Take note of a proven bound."""
        self.bound = max(bound, self.bound or 0.0)
        self.on_progress(Progress(self.fraction, self.bound))

    @property
    def fraction(self) -> float:
        if self.seconds is None:
            return min(self.done / self.labels, 1.0)
        return min((time.perf_counter() - self.started) / self.seconds, 1.0)

    def over(self) -> bool:
        return self.fraction >= 1.0 or self.should_stop()
