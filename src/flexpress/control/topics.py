"""What the page shows, by topic: whoever comes or comes back gets the whole state.

A topic always has its whole value. So a reload loses nothing, and a second browser sees the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

Listener = Callable[[bytes], None]


class Topics:
    """The last message of each topic, and who listens."""

    def __init__(self) -> None:
        self._last: dict[str, bytes] = {}
        self._listeners: set[Listener] = set()

    def publish(self, topic: str, value: Any) -> None:
        """To all listeners, unless it is what they know."""
        message = msgspec.json.encode({"topic": topic, "value": value}, enc_hook=_plain)
        if self._last.get(topic) == message:
            return
        self._last[topic] = message
        for listener in list(self._listeners):
            listener(message)

    def join(self, listener: Listener) -> None:
        for message in self._last.values():
            listener(message)
        self._listeners.add(listener)

    def leave(self, listener: Listener) -> None:
        self._listeners.discard(listener)


def _plain(value: Any) -> float:
    """Quantities remember their unit; here they are numbers."""
    if isinstance(value, float):
        return float(value)
    raise NotImplementedError(type(value).__name__)
