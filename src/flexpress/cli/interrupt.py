"""Ctrl-C, SIGTERM and SIGHUP: the first asks for the best result so far, a second one aborts."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

HANGUP = getattr(signal, "SIGHUP", None)  # a terminal that closes; there is none on Windows


class Interruption:
    """Whether the user has asked to stop; solvers poll `requested`."""

    def __init__(self) -> None:
        self._asked = False

    def requested(self) -> bool:
        return self._asked

    def ask(self, signal_number: int, frame: object) -> None:
        """The signal handler. SIGHUP never aborts: terminal and shell may both send one."""
        if self._asked and signal_number != HANGUP:
            raise KeyboardInterrupt
        self._asked = True


@contextmanager
def interruptible() -> Iterator[Interruption]:
    """Within the block signals are requests; afterwards they mean again what they did before."""
    interruption = Interruption()
    before = {number: signal.signal(number, interruption.ask) for number in heard_signals()}
    try:
        yield interruption
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def heard_signals() -> list[signal.Signals]:
    """Under `nohup`, SIGHUP stays ignored."""
    heard = [signal.SIGINT, signal.SIGTERM]
    if HANGUP is not None and signal.getsignal(HANGUP) is not signal.SIG_IGN:
        heard.append(HANGUP)
    return heard
