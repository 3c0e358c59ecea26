"""Room on the disk: a program that finds none says so, waits, and tries again. Nothing is lost.

What is tried again is a step that changes all or nothing: a commit, a file, or the whole of what a
server does next.
"""

from __future__ import annotations

import asyncio
import math
import shutil
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from flexpress.errors import InputError
from flexpress.field.log import Log
from flexpress.files.disk import DiskFullError

_A = TypeVar("_A")

_WAIT_SECONDS = 5.0
"""From one try to the next."""
_SILENT_SECONDS = 60.0
"""A full disk is told once in this time, however often something is tried."""


class Room:
    """On the disk of the program that logs here."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._told: dict[str, float] = {}  # a folder, or other trouble, and when

    async def insist(self, attempt: Callable[[], Awaitable[_A]]) -> _A:
        """What it returns, once there is room for it."""
        while True:
            try:
                return await attempt()
            except DiskFullError as error:
                self.tell(error)
            await asyncio.sleep(_WAIT_SECONDS)

    def tell(self, error: InputError) -> None:
        """In one line of the log; what is not written now is tried again by whoever wanted it."""
        now = time.monotonic()
        what = str(error.path.parent) if isinstance(error, DiskFullError) else str(error)
        if now < self._told.get(what, -math.inf) + _SILENT_SECONDS:
            return
        self._told[what] = now
        if not isinstance(error, DiskFullError):
            self._log("disk-trouble", reason=str(error))
            return
        sizes = {"needed": error.needed} if error.needed is not None else {}
        remedy = "make room: it is tried again, and nothing is lost"
        self._log("disk-full", file=str(error.path), **sizes, free=_free(error), remedy=remedy)


def _free(error: DiskFullError) -> int | None:
    """Bytes; a quota may leave less."""
    try:
        return shutil.disk_usage(error.path.parent).free
    except OSError:
        return None
