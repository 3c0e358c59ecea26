"""The page's server: on this machine only, one socket per browser, files to and fro."""

from __future__ import annotations

import asyncio
import io
import re
import socket
import zipfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import msgspec
from aiohttp import WSMsgType, web

from flexpress.control import messages
from flexpress.control.field_desk import FieldDesk
from flexpress.control.folder import Folder
from flexpress.control.guard import Guard
from flexpress.control.learn_desk import LearnDesk
from flexpress.control.page import PAGE_FILES, page_file
from flexpress.control.plan_desk import PlanDesk, stored_map
from flexpress.control.topics import Topics
from flexpress.errors import FlexpressError, InputError
from flexpress.files.disk import PLAN, SCENARIO
from flexpress.planning import export_notes, export_plan, load_plan, parse_origin
from flexpress.planning.export import EXPORT_FORMATS
from flexpress.scenario import Scenario

LARGEST_UPLOAD = 20_000_000
LARGEST_MESSAGE = 5_000_000

_FILE = re.compile(r"[\w+-][\w .+-]{0,150}\Z")
_LEARN = (messages.Simulate, messages.Pause, messages.GoOn, messages.Report)
_FIELD = (messages.Decide, messages.Confirm, messages.Withdraw)
_REPORT_POLICY = "default-src 'none'; img-src 'self' data:; style-src 'unsafe-inline'; sandbox"
_KINDS = {".html": "text/html", ".png": "image/png", ".svg": "image/svg+xml", ".csv": "text/csv"}


class ControlServer:
    """All of it. `open_port` first, then `serve`."""

    def __init__(self, root: Path, kit: Path | None = None, tiles: str = "") -> None:
        self.folder, self._tiles = Folder(root), tiles
        self.topics = Topics()
        self.plan = PlanDesk(self.folder, self.topics)
        self.learn = LearnDesk(self.folder, self.topics, self.plan.draft)
        self.field = FieldDesk(kit, self.topics)
        self._sockets: set[web.WebSocketResponse] = set()
        self._ended = asyncio.Event()

    def open_port(self, port: int = 0) -> Guard:
        """InputError if it is in use."""
        self._listener = socket.socket()
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._listener.bind(("127.0.0.1", port))
        except OSError:
            self._listener.close()
            raise InputError(f"port {port} is in use; choose another with --port") from None
        self.guard = Guard(self._listener.getsockname()[1], self._tiles)
        return self.guard

    async def serve(self, on_ready: Callable[[str], None] = lambda address: None) -> None:
        """Until it is cancelled, or `stop` is called."""
        runner = web.AppRunner(self._app(), shutdown_timeout=1.0, access_log=None)
        await runner.setup()
        await web.SockSite(runner, self._listener).start()
        on_ready(self.guard.address)
        try:
            await self._ended.wait()
        finally:
            for each in list(self._sockets):
                await each.close()
            await runner.cleanup()

    def stop(self) -> None:
        self._ended.set()

    def _app(self) -> web.Application:
        app = web.Application(middlewares=[self.guard.middleware()], client_max_size=LARGEST_UPLOAD)
        app.add_routes(
            [
                web.get("/", lambda request: page_file("control.html")),
                *(web.get(f"/{name}", _page_handler(name)) for name in PAGE_FILES),
                web.get("/socket", self._socket),
                web.post("/upload", self._upload),
                web.get("/scenario.toml", self._toml),
                web.get("/plan/{name}/map.json", self._plan_map),
                web.get("/plan/{name}/export/{format}", self._export),
                web.get("/run/{name}/map.json", self._run_map),
                web.get("/run/{name}/{file:.+}", self._run_file),
            ]
        )
        app.cleanup_ctx.append(self._background)
        return app

    async def _background(self, app: web.Application) -> AsyncIterator[None]:
        """The workers and the watch over the field."""
        for desk in (self.plan, self.learn, self.field):
            desk.publish()
        self.topics.publish("settings", {"tiles": self._tiles, "formats": EXPORT_FORMATS})
        self.plan.worker.start()
        watch = asyncio.create_task(self.field.watch())
        yield
        watch.cancel()
        self.plan.worker.end()
        self.learn.worker.end()

    async def _socket(self, request: web.Request) -> web.StreamResponse:
        channel = web.WebSocketResponse(max_msg_size=LARGEST_MESSAGE, heartbeat=30.0)
        await channel.prepare(request)
        self._sockets.add(channel)
        outbox = _Outbox(channel)
        self.topics.join(outbox.put)
        try:
            async for message in channel:
                if message.type in (WSMsgType.TEXT, WSMsgType.BINARY):
                    self._hear(message.data, outbox)
        finally:
            self.topics.leave(outbox.put)
            self._sockets.discard(channel)
            outbox.end()
        return channel

    def _hear(self, text: str | bytes, outbox: _Outbox) -> None:
        """One wish; what is wrong with it is said to who sent it."""
        try:
            self.perform(messages.read_wish(text))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            outbox.refuse(f"not understood: {error}")
        except FlexpressError as error:
            outbox.refuse(str(error))
        except Exception as error:  # a bug must not end the socket
            outbox.refuse(f"{type(error).__name__}: {error}. This is a bug; please report it")

    def perform(self, wish: messages.Command) -> None:
        desk = (
            self.learn
            if isinstance(wish, _LEARN)
            else self.field
            if isinstance(wish, _FIELD)
            else self.plan
        )
        desk.perform(wish)

    async def _upload(self, request: web.Request) -> web.Response:
        """A file that was dropped or pasted; 413 if it is too large, before it is read."""
        if (request.content_length or 0) > LARGEST_UPLOAD:
            raise web.HTTPRequestEntityTooLarge(LARGEST_UPLOAD, request.content_length or 0)
        content = await request.read()
        try:
            return web.json_response(
                {"note": self.plan.upload(request.query.get("name", ""), content)}
            )
        except FlexpressError as error:
            return web.json_response({"fault": str(error)}, status=422)

    async def _toml(self, request: web.Request) -> web.Response:
        return _download("scenario.toml", self.plan.draft.text.encode(), "application/toml")

    async def _plan_map(self, request: web.Request) -> web.Response:
        return await self._map(self.folder.plan, request)

    async def _run_map(self, request: web.Request) -> web.Response:
        """202 while a run has not written its plan yet."""
        return await self._map(self.folder.run, request, missing=202)

    async def _map(
        self, find: Callable[[str], Path], request: web.Request, missing: int = 404
    ) -> web.Response:
        try:
            place = _with_plan(find(request.match_info["name"]))
            return web.json_response(await asyncio.to_thread(stored_map, place))
        except FlexpressError as error:
            return web.json_response({"fault": str(error)}, status=missing)

    async def _export(self, request: web.Request) -> web.Response:
        """One file as it is, several as a ZIP."""
        format, origin = request.match_info["format"], request.query.get("origin", "")
        try:
            place = self.folder.plan(request.match_info["name"])
            scenario = Scenario.load(place / SCENARIO)
            plan = load_plan(place / PLAN, scenario)
            where = parse_origin(origin) if origin else None
            files = export_plan(scenario, plan, format, origin=where)
            notes = export_notes(scenario, plan, format)
        except FlexpressError as error:
            return web.Response(status=422, text=f"{error}\n")
        if len(files) == 1:
            ((name, text),) = files.items()
            return _download(name, text.encode(), "application/octet-stream", notes)
        return _download(f"{place.name}-{format}.zip", _zip(files), "application/zip", notes)

    async def _run_file(self, request: web.Request) -> web.StreamResponse:
        """The report of runs, and the pictures beside it."""
        try:
            folder = self.folder.run(request.match_info["name"])
        except FlexpressError as error:
            return web.Response(status=404, text=f"{error}\n")
        parts = request.match_info["file"].split("/")
        path = folder.joinpath(*parts)
        inside = all(_FILE.match(part) for part in parts) and path.resolve().is_relative_to(folder)
        kind = _KINDS.get(path.suffix)
        if not inside or kind is None or not path.is_file():
            return web.Response(status=404, text="no such file\n")
        headers = {"Content-Type": kind, "Content-Security-Policy": _REPORT_POLICY}
        return web.Response(body=path.read_bytes(), headers=headers)


class _Outbox:
    """Messages to one browser, in their order; one that cannot keep up is cut off."""

    def __init__(self, channel: web.WebSocketResponse) -> None:
        self._channel = channel
        self._queue: asyncio.Queue[bytes] = asyncio.Queue(maxsize=1000)
        self._task = asyncio.create_task(self._send())

    def put(self, message: bytes) -> None:
        try:
            self._queue.put_nowait(message)
        except asyncio.QueueFull:
            self._task.cancel()

    def refuse(self, text: str) -> None:
        self.put(msgspec.json.encode({"topic": "refused", "value": text}))

    def end(self) -> None:
        self._task.cancel()

    async def _send(self) -> None:
        try:
            while True:
                message = await self._queue.get()
                await self._channel.send_str(message.decode())
        except ConnectionError:
            return


def _page_handler(name: str) -> Callable[[web.Request], Any]:
    return lambda request: page_file(name)


def _with_plan(place: Path) -> Path:
    """The folder itself, or the first run in it."""
    if (place / PLAN).exists():
        return place
    return next(iter(sorted(path.parent for path in place.glob(f"*/{PLAN}"))), place)


def _zip(files: dict[str, str]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return content.getvalue()


def _download(name: str, content: bytes, kind: str, notes: list[str] | None = None) -> web.Response:
    safe = re.sub(r"[^\w.+-]", "_", name, flags=re.ASCII)
    headers = {"Content-Disposition": f'attachment; filename="{safe}"', "Content-Type": kind}
    if notes:
        headers["X-Notes"] = " ".join("; ".join(notes).encode("ascii", "replace").decode().split())
    return web.Response(body=content, headers=headers)
