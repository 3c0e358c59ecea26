"""Ctrl-C, SIGTERM and SIGHUP: the first asks for the best result so far, a second one aborts."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

INTERRUPTED = 130
"""The exit code, as of a program that ended by SIGINT."""

_HANGUP = getattr(signal, "SIGHUP", None)  # a terminal that closes; Windows has none


class Interruption:
    """Whether the user has asked to stop; calls poll `requested`.

    While there is nothing to keep, it is not `patient`, and the first signal aborts.
    """

    def __init__(self, *, patient: bool) -> None:
        self.patient = patient
        self._asked = False

    def requested(self) -> bool:
        return self._asked

    def ask(self, signal_number: int, frame: object) -> None:
        """The signal handler. SIGHUP never aborts later: terminal and shell may both send one."""
        first, self._asked = not self._asked, True
        if not (self.patient if first else signal_number == _HANGUP):
            raise KeyboardInterrupt


@contextmanager
def interruptible(*, patient: bool = True) -> Iterator[Interruption]:
    """Within the block signals are requests; afterwards they have their former meaning."""
    interruption = Interruption(patient=patient)
    before = {number: signal.signal(number, interruption.ask) for number in _heard_signals()}
    try:
        yield interruption
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _heard_signals() -> list[signal.Signals]:
    """Under `nohup`, SIGHUP stays ignored."""
    heard = [signal.SIGINT, signal.SIGTERM]
    if _HANGUP is not None and signal.getsignal(_HANGUP) is not signal.SIG_IGN:
        heard.append(_HANGUP)
    return heard
