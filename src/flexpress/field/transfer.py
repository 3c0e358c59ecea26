"""Files that a courier fetches and pushes: every transfer goes on where the link was cut.

Files are named by their SHA-256, so a part that was received yesterday is still good today; it is
checked when the file is whole. What has arrived is in the file at once, and is not sent again.
Memory does not grow with the size of files. The other end is in `serving`.

Fetching is GET with a Range. Pushing is HEAD, which tells the Upload-Offset, then PATCH from there,
a piece at a time.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import aiohttp

from flexpress.field.calling import (
    LinkDown,
    Patience,
    RefusedByPeer,
    check_status,
    insist,
    link_errors,
)
from flexpress.field.parts import (
    COMPLETE,
    OFFSET,
    STEP,
    append,
    arrived,
    number,
    open_part,
    silence_limit,
)
from flexpress.field.store import Files
from flexpress.field.tables import Refused
from flexpress.files.disk import open_file

Progress = Callable[[int, int], None]
"""Receives how many bytes have arrived, and how many it will be."""

_PIECE = 2**18  # bytes of one PATCH: they must pass within one silence
_PATIENCE = Patience()


def no_progress(arrived: int, size: int) -> None:
    """The default of `progress`."""


async def fetch(
    session: aiohttp.ClientSession,
    url: str,
    sha: str,
    size: int,
    files: Files,
    *,
    patience: Patience = _PATIENCE,
    progress: Progress = no_progress,
) -> None:
    """Until `files` has it. LinkDown when patience ends, RefusedByPeer if it will not come."""
    damaged = False

    async def attempt() -> None:
        nonlocal damaged
        if files.has(sha):
            return
        begun = arrived(files, sha, size)
        try:
            if begun < size:
                await _fetch_rest(session, url, sha, size, files, patience.silence, progress)
            await asyncio.to_thread(files.finish, sha)
        except LinkDown as error:
            error.progress = files.partial(sha)[1] - begun
            raise
        except Refused as error:  # the digest differs; `files` has removed the part
            if not begun or damaged:
                raise RefusedByPeer(502, f"{url}: {error.reason}") from None
            damaged = True  # perhaps what was there before: power was lost while it was written
            raise LinkDown(f"{url}: {error.reason}", progress=1) from None

    await insist(attempt, patience)


async def push(
    session: aiohttp.ClientSession,
    url: str,
    path: Path,
    *,
    offset: int | None = None,
    patience: Patience = _PATIENCE,
    progress: Progress = no_progress,
) -> None:
    """Until the peer has it. LinkDown when patience ends, RefusedByPeer if it does not take it.

    `offset` is how much of it the peer says it has, if it was asked just now.
    """
    reached, damaged, told = -1, False, offset

    async def attempt() -> None:
        nonlocal reached, damaged, told
        before, begun, told = reached, told, None
        if begun is None or begun > size:
            begun = await _offset_at_peer(session, url, size, patience.silence)
        try:
            offset = begun
            while offset is not None:
                reached = offset
                progress(offset, size)
                offset = await _push_piece(session, url, file, offset, size, patience.silence)
        except LinkDown as error:
            error.progress = max(0, reached - before)
            raise
        except RefusedByPeer as error:
            if error.status != 422 or not begun or damaged:
                raise
            damaged = True  # perhaps what it had before: power was lost while it was written
            raise LinkDown(f"{url}: {error.reason}", progress=1) from None
        progress(size, size)

    with open_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        await insist(attempt, patience)


async def _fetch_rest(
    session: aiohttp.ClientSession,
    url: str,
    sha: str,
    size: int,
    files: Files,
    silence: float,
    progress: Progress,
) -> None:
    offset = files.partial(sha)[1]
    headers = {"Range": f"bytes={offset}-"}
    with open_part(files, sha) as file, link_errors(url):
        async with (
            silence_limit(silence) as hear,
            session.get(url, headers=headers, allow_redirects=False) as response,
        ):
            await check_status(response)
            expected = f"bytes {offset}-{size - 1}/{size}"
            if response.status != 206 or response.headers.get("Content-Range") != expected:
                raise RefusedByPeer(502, f"{url}: must send {expected}, and does not")
            while offset < size and (chunk := await response.content.read(STEP)):
                offset += append(file, chunk[: size - offset])
                progress(offset, size)
                hear(len(chunk))
    if offset < size:
        raise LinkDown(f"{url}: ended after {offset:,} of {size:,} bytes")


async def _offset_at_peer(
    session: aiohttp.ClientSession, url: str, size: int, silence: float
) -> int | None:
    """How much of it the peer has; None if that is all, checked and durable."""
    with link_errors(url):
        async with (
            asyncio.timeout(silence),
            session.head(url, allow_redirects=False) as response,
        ):
            await check_status(response)
            return _read_state(response, url, size)


async def _push_piece(
    session: aiohttp.ClientSession,
    url: str,
    file: BinaryIO,
    offset: int,
    size: int,
    silence: float,
) -> int | None:
    """The offset after the next piece; None if the peer has all of it, checked and durable."""
    file.seek(offset)
    piece = file.read(min(_PIECE, size - offset))
    with link_errors(url):
        async with (
            asyncio.timeout(silence),
            session.patch(
                url, data=piece, headers={OFFSET: str(offset)}, allow_redirects=False
            ) as response,
        ):
            if response.status == 409 and OFFSET in response.headers:
                raise LinkDown(f"{url}: an older connection has written to this file")
            await check_status(response)
            after = _read_state(response, url, size)
    if after is not None and after <= offset < size:
        raise LinkDown(f"{url}: has not taken anything")
    return after


def _read_state(response: aiohttp.ClientResponse, url: str, size: int) -> int | None:
    if response.headers.get(COMPLETE) == "?1":
        return None
    offset = number(response.headers.get(OFFSET))
    if offset is None or offset > size:
        raise RefusedByPeer(502, f"{url}: {OFFSET} must be a number up to {size}")
    return offset
