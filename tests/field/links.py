"""Members of a small run on this machine, and a link between them that breaks."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
from aiohttp import web

from flexpress.field import identity, tls
from flexpress.field.answering import guard, serve
from flexpress.field.calling import Patience, open_session
from flexpress.field.serving import Uploads, send_file
from flexpress.field.store import Files

HURRIED = Patience(total=300.0, silence=120.0, first_wait=0.001, longest_wait=0.05)


def make_kits(folder: Path) -> Path:
    authority = identity.make_authority(folder / "authority")
    for name, role in (("server", "server"), ("courier-1", "courier"), ("client-7", "client")):
        identity.issue(authority, name, role, folder / name)  # type: ignore[arg-type]  # they are
    return folder


@dataclass
class Link:
    """A loopback proxy. Each connection is cut after so many bytes; a rate limits it."""

    port: int  # of the program
    budgets: Callable[[], float] = lambda: float("inf")  # bytes until the next cut, both ways
    rate: float = float("inf")  # bytes a second
    reset: bool = True  # a cut is a reset; else the connection is just closed
    connections: int = 0
    carried: int = 0
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    @asynccontextmanager
    async def up(self) -> AsyncIterator[int]:
        server = await asyncio.start_server(self._carry, "127.0.0.1", 0)
        try:
            yield server.sockets[0].getsockname()[1]
        finally:
            server.close()
            for task in list(self._tasks):
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _carry(self, near: asyncio.StreamReader, near_out: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        try:
            far, far_out = await asyncio.open_connection("127.0.0.1", self.port)
            left = [self.budgets()]
            pumps = [
                asyncio.create_task(self._pump(near, far_out, left)),
                asyncio.create_task(self._pump(far, near_out, left)),
            ]
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)
            for out in (near_out, far_out):
                out.transport.abort() if self.reset else out.close()
        except OSError:
            near_out.transport.abort()
        except asyncio.CancelledError:
            near_out.transport.abort()
        finally:
            self._tasks.discard(task)

    async def _pump(
        self, source: asyncio.StreamReader, target: asyncio.StreamWriter, left: list[float]
    ) -> None:
        with suppress(OSError):
            while left[0] > 0 and (chunk := await source.read(2**14)):
                chunk = chunk[: int(min(left[0], len(chunk)))]
                left[0] -= len(chunk)
                self.carried += len(chunk)
                if self.rate < float("inf"):
                    await asyncio.sleep(len(chunk) / self.rate)
                target.write(chunk)
                await target.drain()


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
