"""How long to look for a proof: a number of labels, which is reproducible, or seconds."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from flexpress.planning.progress import UNWATCHED, Progress, Watch

_LABELS = 30_000_000
"""The limit if no time is given: about a minute."""

_LABELS_PER_CALL = 50_000
"""What a call of pricing costs in addition to its labels."""


@dataclass
class ProofEffort:
    """Counts the work that was done, and reports it together with the best bound."""

    seconds: float | None = None
    labels: int = _LABELS  # the limit if no seconds are given
    watch: Watch = UNWATCHED
    done: int = 0
    bound: float | None = None
    started: float = field(default_factory=time.perf_counter)

    def add(self, labels: int) -> None:
        self.done += _LABELS_PER_CALL + labels
        self._report()

    def proven(self, bound: float) -> None:
        """Take note of a proven bound."""
        self.bound = max(bound, self.bound or 0.0)
        self._report()

    @property
    def fraction(self) -> float:
        if self.seconds is None:
            return min(self.done / self.labels, 1.0)
        return min((time.perf_counter() - self.started) / self.seconds, 1.0)

    def over(self) -> bool:
        return self.fraction >= 1.0 or self.watch.should_stop()

    def _report(self) -> None:
        self.watch.on_progress(Progress(self.fraction, self.bound))
