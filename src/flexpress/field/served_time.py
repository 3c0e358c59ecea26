"""The time of a mission: it passes while the server runs, whatever is done to the computer's clock.

It begins as the computer's clock was at the first start, and is stored now and then. While the
server is off it stands still: how long that was, only the computer's clock could tell, and that may
have been set meanwhile. So a mission lasts until the server has run for so long, and a tour is too
long if the server has been there, and waited, for so long.
"""

from __future__ import annotations

import time
from collections.abc import Callable


class ServedTime:
    """In seconds."""

    def __init__(self, start: float, clock: Callable[[], float] = time.monotonic) -> None:
        """It goes on from `start`; the clock must not jump."""
        self._clock = clock
        self._offset = start - clock()

    def now(self) -> float:
        return self._offset + self._clock()
