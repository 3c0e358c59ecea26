"""Files that nobody needs go; those that somebody comes to need meanwhile do not."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable
from pathlib import Path

from flexpress.field.store import Files
from flexpress.field.tidying import Tidying

LIMIT = 60.0


class SlowFiles(Files):
    """Whose removal waits until it is let go."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.begun, self.go_on = threading.Event(), threading.Event()

    def remove(self, names: Iterable[str]) -> None:
        self.begun.set()
        assert self.go_on.wait(LIMIT)
        super().remove(names)


def test_what_nobody_needs_goes(tmp_path: Path) -> None:
    files = Files(tmp_path)
    needed, held, other = (files.write(content) for content in (b"needed", b"held", b"other"))
    files.partial("5" * 64)[0].write_bytes(b"part")

    async def work() -> None:
        tidying = Tidying(files, lambda: {needed})
        async with tidying.holding([held]):
            await tidying.tidy()
            assert files.names() == {needed, held}
        await tidying.tidy()

    asyncio.run(work())
    assert files.names() == {needed}
    assert not files.has(other)


def test_who_needs_a_file_that_is_on_its_way_out_waits(tmp_path: Path) -> None:
    """Otherwise it would find it, not write it again, and lose it."""
    files = SlowFiles(tmp_path)
    sha = files.write(b"the same")
    rows: set[str] = set()

    async def need(tidying: Tidying) -> None:
        async with tidying.holding([sha]):
            files.write(b"the same")
            rows.add(sha)

    async def work() -> None:
        tidying = Tidying(files, lambda: rows)
        leaving = asyncio.ensure_future(tidying.tidy())
        assert await asyncio.to_thread(files.begun.wait, LIMIT)
        needing = asyncio.ensure_future(need(tidying))
        await asyncio.sleep(0)
        assert not rows
        async with tidying.holding(["7" * 64]):  # others do not wait
            pass
        files.go_on.set()
        await asyncio.gather(leaving, needing)
        assert files.has(sha)
        await tidying.tidy()
        assert files.has(sha)

    asyncio.run(work())


def test_it_tidies_when_it_is_asked(tmp_path: Path) -> None:
    files = SlowFiles(tmp_path)
    files.go_on.set()

    async def work() -> None:
        tidying = Tidying(files, set)
        working = asyncio.ensure_future(tidying.work())
        tidying.ask()
        assert await asyncio.to_thread(files.begun.wait, LIMIT)
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)

    asyncio.run(work())
