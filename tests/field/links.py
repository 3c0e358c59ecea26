"""Members of a small run on this machine, and a link between them that breaks."""

from __future__ import annotations

import asyncio
import math
import random
import socket
import struct
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
from aiohttp import web

from flexpress.field import identity, tls
from flexpress.field.answering import guard, serve
from flexpress.field.calling import Patience, open_session
from flexpress.field.serving import Uploads, send_file
from flexpress.field.store import Files

HURRIED = Patience(total=600.0, silence=120.0, first_wait=0.001, longest_wait=0.01)


def make_kits(folder: Path) -> Path:
    authority = identity.make_authority(folder / "authority")
    for name, role in (("server", "server"), ("courier-1", "courier"), ("client-7", "client")):
        identity.issue(authority, name, role, folder / name)  # type: ignore[arg-type]  # they are
    return folder


class Link:
    """A proxy on this machine. It cuts each connection after so many bytes, both ways together."""

    def __init__(
        self,
        port: int,
        budgets: Callable[[], float] = lambda: math.inf,
        *,
        rate: float = math.inf,
        reset: bool = True,
    ) -> None:
        """To this port. The rate is in bytes a second; a cut is a reset, or else an end."""
        self._port, self._budgets, self._rate, self._reset = port, budgets, rate, reset
        self._tasks: set[asyncio.Task[None]] = set()
        self.connections = 0
        self.carried = 0

    @asynccontextmanager
    async def up(self) -> AsyncIterator[int]:
        """Its own port."""
        with socket.create_server(("127.0.0.1", 0)) as listening:
            listening.setblocking(False)
            self._start(self._accept(listening))
            try:
                yield listening.getsockname()[1]
            finally:
                for task in self._tasks:
                    task.cancel()
                await asyncio.gather(*self._tasks, return_exceptions=True)

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _accept(self, listening: socket.socket) -> None:
        while True:
            near, _ = await asyncio.get_running_loop().sock_accept(listening)
            self.connections += 1
            self._start(self._carry(near))

    async def _carry(self, near: socket.socket) -> None:
        loop, left = asyncio.get_running_loop(), [self._budgets()]
        with near, socket.socket() as far:
            far.setblocking(False)
            await loop.sock_connect(far, ("127.0.0.1", self._port))
            for end in (near, far):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            pumps = [
                asyncio.create_task(self._pump(near, far, left)),
                asyncio.create_task(self._pump(far, near, left)),
            ]
            try:
                await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for pump in pumps:
                    pump.cancel()
                await asyncio.gather(*pumps, return_exceptions=True)
            if self._reset:
                for end in (near, far):
                    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    async def _pump(self, source: socket.socket, target: socket.socket, left: list[float]) -> None:
        loop = asyncio.get_running_loop()
        while left[0] > 0 and (chunk := await loop.sock_recv(source, 2**14)):
            chunk = chunk[: int(min(left[0], len(chunk)))]
            left[0] -= len(chunk)
            self.carried += len(chunk)
            if self._rate < math.inf:
                await asyncio.sleep(len(chunk) / self._rate)
            await loop.sock_sendall(target, chunk)


def seeded(seed: int, low: int, high: int) -> Callable[[], float]:
    """Cuts after `low` to `high` bytes, the same ones for the same seed."""
    numbers = random.Random(seed)
    return lambda: float(numbers.randint(low, high))


@asynccontextmanager
async def port_of(
    kits: Path, files: Files, size: int, *, name: str = "server", silence: float = 60.0
) -> AsyncIterator[int]:
    """A program that offers all files, and takes files of this size."""
    uploads = Uploads(files)

    async def get(request: web.Request) -> web.StreamResponse:
        return await send_file(request, files.path(request.match_info["sha"]), silence)

    async def head(request: web.Request) -> web.StreamResponse:
        return uploads.offset(request.match_info["sha"], size)

    async def patch(request: web.Request) -> web.StreamResponse:
        return await uploads.receive(request, request.match_info["sha"], size, silence)

    app = web.Application(middlewares=[guard("courier", lambda name: False)])
    app.router.add_get("/files/{sha}", get, allow_head=False)
    app.router.add_head("/files/{sha}", head)
    app.router.add_patch("/files/{sha}", patch)
    runner, port = await serve(app, tls.server_context(kits / name), "127.0.0.1", 0, silence)
    try:
        yield port
    finally:
        await runner.cleanup()


@asynccontextmanager
async def calls(kits: Path, caller: str = "courier-1") -> AsyncIterator[aiohttp.ClientSession]:
    hosts = dict.fromkeys(("server", "client-7"), "127.0.0.1")
    async with open_session(tls.caller_context(kits / caller), hosts) as session:
        yield session
