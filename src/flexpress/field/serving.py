"""Files at the port of a server or client: GET with a Range; HEAD, and PATCH from an offset.

Programs decide beforehand who may ask for what. The size of what is pushed was announced, in orders
or in a manifest: more than that is refused before it is written. The other end is in `transfer`.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import BinaryIO

from aiohttp import web

from flexpress.field.answering import caller_lost, problem
from flexpress.field.parts import (
    COMPLETE,
    OFFSET,
    SILENCE,
    STEP,
    append,
    arrived,
    number,
    open_part,
    silence_limit,
)
from flexpress.field.store import Files
from flexpress.files.disk import open_file


async def send_file(
    request: web.Request, path: Path, silence: float = SILENCE
) -> web.StreamResponse:
    """The answer to a GET, from where the Range begins."""
    with open_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        part = _range(request, size)
        if part is None:
            return problem(416, "no such range", {"Content-Range": f"bytes */{size}"})
        response = web.StreamResponse(status=206 if "Range" in request.headers else 200)
        response.content_type = "application/octet-stream"
        response.content_length = part.stop - part.start
        response.headers["Accept-Ranges"] = "bytes"
        if response.status == 206:
            response.headers["Content-Range"] = f"bytes {part.start}-{part.stop - 1}/{size}"
        file.seek(part.start)
        await _send(request, response, file, part.stop - part.start, silence)
    return response


class Uploads:
    """Answers to HEAD and PATCH: one object for all that arrives in a folder of files."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._latest: dict[str, object] = {}  # who may write a part: the caller that came last
        self._finishing: dict[str, asyncio.Lock] = {}

    def offset(self, sha: str, size: int) -> web.Response:
        """The answer to a HEAD."""
        complete = self._files.has(sha)
        state = _state(size if complete else arrived(self._files, sha, size), complete=complete)
        return web.Response(headers={**state, "Content-Length": "0"})  # else the caller hangs up

    async def receive(
        self, request: web.Request, sha: str, size: int, silence: float = SILENCE
    ) -> web.Response:
        """The answer to a PATCH. With the last byte, the file is checked and made durable."""
        if self._files.has(sha):
            return web.Response(status=204, headers=_state(size, complete=True))
        offset = arrived(self._files, sha, size)
        refusal = _misplaced(request, offset, size)
        if refusal is not None:
            return refusal
        self._latest[sha] = writer = object()
        with open_part(self._files, sha) as file, caller_lost():
            async with silence_limit(silence) as hear:
                while chunk := await request.content.read(STEP):
                    if self._latest.get(sha) is not writer:
                        offset = arrived(self._files, sha, size)
                        return problem(409, "a newer connection goes on with it", _state(offset))
                    offset += append(file, chunk)
                    hear(len(chunk))
        if offset < size:
            return web.Response(status=204, headers=_state(offset))
        await self._finish(sha)
        return web.Response(status=204, headers=_state(size, complete=True))

    async def _finish(self, sha: str) -> None:
        """Once, even if a caller lost patience meanwhile and asks again."""
        try:
            async with self._finishing.setdefault(sha, asyncio.Lock()):
                await asyncio.to_thread(self._files.finish, sha)
        finally:
            self._latest.pop(sha, None)
            self._finishing.pop(sha, None)


def _state(offset: int, *, complete: bool = False) -> dict[str, str]:
    return {OFFSET: str(offset), COMPLETE: "?1" if complete else "?0"}


def _misplaced(request: web.Request, offset: int, size: int) -> web.Response | None:
    """Why this piece cannot be written, before a byte of it is."""
    length = request.content_length
    if length is None:
        return problem(411, "Content-Length is missing")
    if number(request.headers.get(OFFSET)) != offset:
        return problem(409, f"{OFFSET} must be {offset}", _state(offset))
    if offset + length > size:
        return problem(413, f"{offset + length:,} bytes: were announced as {size:,}")
    return None


def _range(request: web.Request, size: int) -> slice | None:
    """Only `bytes=7-` and `bytes=7-99`; None if there is no such part."""
    try:
        asked = request.http_range
    except ValueError:
        return None
    start = asked.start or 0
    stop = size if asked.stop is None else min(asked.stop, size)
    if "Range" in request.headers and not 0 <= start < stop:
        return None
    return slice(start, stop)


async def _send(
    request: web.Request, response: web.StreamResponse, file: BinaryIO, left: int, silence: float
) -> None:
    transport = request.transport
    if transport is None:  # the caller is gone
        return
    transport.set_write_buffer_limits(high=STEP)
    try:
        async with silence_limit(silence) as hear:
            await response.prepare(request)
            while left:
                chunk = file.read(min(STEP, left))
                if not chunk:
                    raise ConnectionAbortedError("the file is shorter than it was")
                await response.write(chunk)
                left -= len(chunk)
                hear(len(chunk))
            await response.write_eof()
    except (TimeoutError, ConnectionError):  # it is gone, or silent
        transport.abort()
