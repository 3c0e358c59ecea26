"""Files that the server needs no more are removed while it goes on answering.

What is needed stands in its tables: all other files go, a while after somebody has asked for it.
On a busy disk that takes long, so a thread does it; meanwhile somebody may come to need a file that
is on its way out. So who writes a row that names a file does it while holding the file: he waits
until it is out, and then it stays out or comes again, but does not vanish behind his back.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager

from flexpress.field.store import Files

_PAUSE = 1.0
"""Seconds from one time to the next: each looks at all files, however few are to go."""


class Tidying:
    """Of the folder of these files; `needed` says what the tables name."""

    def __init__(self, files: Files, needed: Callable[[], set[str]]) -> None:
        self._files, self._needed = files, needed
        self._held: Counter[str] = Counter()
        self._leaving: set[str] = set()
        self._asked, self._out = asyncio.Event(), asyncio.Event()

    def ask(self) -> None:
        """Something is needed no more."""
        self._asked.set()

    @asynccontextmanager
    async def holding(self, names: Iterable[str]) -> AsyncIterator[None]:
        """Files of these digests do not go during the block, whether a row names them or not."""
        held = set(names)
        while not held.isdisjoint(self._leaving):
            await self._out.wait()
        self._held.update(held)
        try:
            yield
        finally:
            self._held.subtract(held)
            self._held = +self._held

    async def work(self) -> None:
        """For ever."""
        while True:
            await self._asked.wait()
            self._asked.clear()
            await self.tidy()
            await asyncio.sleep(_PAUSE)

    async def tidy(self) -> None:
        """Once. Nothing comes between looking and making known what is to go."""
        self._out.clear()
        self._leaving = self._files.names() - self._needed() - self._held.keys()
        try:
            await asyncio.to_thread(self._files.remove, frozenset(self._leaving))
        finally:
            self._leaving = set()
            self._out.set()
