"""Ctrl-C and SIGTERM: the first asks for the best plan so far, the second aborts."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interruption:
    """Whether the user has asked to stop; solvers poll `requested`."""

    def __init__(self) -> None:
        self._asked = False

    def requested(self) -> bool:
        return self._asked

    def ask(self, signal_number: int, frame: object) -> None:
        """The signal handler."""
        if self._asked:
            raise KeyboardInterrupt
        self._asked = True


@contextmanager
def interruptible() -> Iterator[Interruption]:
    """Within the block signals are requests; afterwards they mean again what they did before."""
    interruption = Interruption()
    before = {number: signal.signal(number, interruption.ask) for number in SIGNALS}
    try:
        yield interruption
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
