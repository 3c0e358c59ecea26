"""What both ends of a link share: the limit of silence, and files that have arrived in part.

Nobody is waited for without a limit. What is limited is silence, not the time that a large body
takes: `STEP` bytes must pass within the seconds of a silence.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from io import FileIO
from pathlib import Path

import aiohttp

from flexpress.field.store import Files
from flexpress.files.disk import unwritable

SILENCE = 60.0
"""Seconds."""
STEP = 2**16
"""Bytes that are read or written at once. Less than that in the time of a silence is silence."""

OFFSET, COMPLETE = "Upload-Offset", "Upload-Complete"
"""Headers: how much of a file has arrived; whether it is whole, checked and durable."""


@asynccontextmanager
async def silence_limit(seconds: float) -> AsyncIterator[Callable[[int], None]]:
    """TimeoutError after a silence; the function is told how many bytes have passed."""
    loop, heard = asyncio.get_running_loop(), 0
    async with asyncio.timeout(seconds) as limit:

        def hear(num_bytes: int) -> None:
            nonlocal heard
            heard += num_bytes
            if heard >= STEP:
                heard = 0
                limit.reschedule(loop.time() + seconds)

        yield hear


async def read_all(
    stream: aiohttp.StreamReader, most: int, hear: Callable[[int], None] = lambda num_bytes: None
) -> bytes | None:
    """A body, or None if it is longer than that."""
    content = bytearray()
    while chunk := await stream.read(STEP):
        content += chunk
        if len(content) > most:
            return None
        hear(len(chunk))
    return bytes(content)


def arrived(files: Files, sha: str, size: int) -> int:
    """Bytes of it that are there. A part that is too long cannot become this file: it goes."""
    path, offset = files.partial(sha)
    if offset > size:
        path.unlink(missing_ok=True)
        return 0
    return offset


def open_part(files: Files, sha: str) -> FileIO:
    """To append to: what is written is in the file at once."""
    path, _ = files.partial(sha)
    with _disk_errors(path):
        return FileIO(path, "ab")


def append(file: FileIO, chunk: bytes) -> int:
    """All of it: such a file may take less at once."""
    view = memoryview(chunk)
    with _disk_errors(Path(str(file.name))):
        while view:
            view = view[file.write(view) :]
    return len(chunk)


@contextmanager
def _disk_errors(path: Path) -> Iterator[None]:
    """InputError: what the disk does not do is not the link's fault. DiskFullError is one."""
    try:
        yield
    except OSError as error:
        raise unwritable(path, error) from None


def number(text: str | None) -> int | None:
    """Of a header: digits only, and not more of them than a size can have."""
    if text is None or len(text) > 18 or not (text.isascii() and text.isdigit()):
        return None
    return int(text)
