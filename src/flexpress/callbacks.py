"""Functions that a caller may pass to be notified, or to stop the work; and their defaults."""

from __future__ import annotations

from collections.abc import Callable

Tell = Callable[[str], None]
"""Receives notes for the user, such as "downloading ..."."""

ShouldStop = Callable[[], bool]
"""Asked between pieces of work; once it returns true, the work ends with what there is."""


def ignore_note(note: str) -> None:
    """The default of `tell`."""


def never() -> bool:
    """The default of `should_stop`."""
    return False
