"""The client: trains on its own samples, and serves the courier when it comes near."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from aiohttp import web

from flexpress.arguments import check_path
from flexpress.callbacks import Tell
from flexpress.errors import InputError
from flexpress.field.answering import answer, guard, peer_in, read_message, serve
from flexpress.field.desk import CLIENT_ROWS, BaseRow, ClientDesk
from flexpress.field.identity import load_key
from flexpress.field.kit import FIRST_MODEL, STATE, ClientKit, load_kit
from flexpress.field.local_training import LOCAL, LocalTraining
from flexpress.field.log import Log
from flexpress.field.messages import Parcel, SignedSnapshot, Snapshot, VisitAnswer
from flexpress.field.program import run_program
from flexpress.field.room import Room
from flexpress.field.sealing import make_parcel, open_snapshot, public_key, public_seal_key
from flexpress.field.serving import Uploads, send_file
from flexpress.field.store import Files, Store
from flexpress.field.tables import Decision, Refused, row_types
from flexpress.field.tls import server_context
from flexpress.field.trainer import Trainer
from flexpress.field.vectors import bytes_of, is_finite
from flexpress.files.disk import DiskFullError, read_bytes
from flexpress.learning import Vector

_A = TypeVar("_A")

_LARGEST_SNAPSHOT = 2**24

OnPort = Callable[[int], None]


def run_client(
    folder: str | Path,
    *,
    log: Log | None = None,
    on_port: OnPort = lambda port: None,
) -> None:
    """Train and serve until it is stopped. `on_port` is called with the port it listens at."""
    folder = check_path("folder", folder)
    kit = load_kit(folder, ClientKit)
    log = log or Log(kit.name)

    def tell(note: str) -> None:
        log("note", text=note)

    with Store.open(folder / STATE, {**CLIENT_ROWS, **row_types(LOCAL)}) as store:
        client = _Client(folder, kit, store, log, tell)
        run_program(lambda: client.work(on_port))


class _Client:
    def __init__(self, folder: Path, kit: ClientKit, store: Store, log: Log, tell: Tell) -> None:
        self._kit, self._store, self._log, self._room = kit, store, log, Room(log)
        self._context = server_context(folder)
        self._key, self._server_key = load_key(folder), public_key(kit.server_key)
        self._seal_to = public_seal_key(kit.seal_key) if kit.payload == "parcel" else None
        self._files = Files(folder / STATE)
        self._uploads = Uploads(self._files)
        self._desk = ClientDesk(store.tables, kit.run, kit.name, largest_outbox=kit.largest_outbox)
        self._begin_database(folder)
        trainer = Trainer.in_folder(kit.training, folder, tell)
        self._training = LocalTraining(
            trainer, store, self._files, kit, self._desk.files, tell=self._room.tell
        )
        self._visiting = asyncio.Lock()

    def _begin_database(self, folder: Path) -> None:
        """Once: a name for it, and x^0 if it is on board."""
        model = None
        if self._kit.training.preloaded and self._desk.base is None:
            content = read_bytes(folder / FIRST_MODEL)
            if len(content) != self._kit.model_size:
                raise InputError(
                    f"{folder / FIRST_MODEL}: has {len(content):,} bytes: must have "
                    f"{self._kit.model_size:,}; take the file of the kit"
                )
            model = self._files.write(content)
        self._commit(self._desk.begin(secrets.token_hex(8), model, time.time()))

    async def work(self, on_port: OnPort) -> None:
        app = web.Application(
            middlewares=[guard("courier", self._desk.is_revoked, self._room.tell)]
        )
        app.add_routes(
            [
                web.post("/visit", self._visit),
                web.head("/models/{sha}", self._model_offset),
                web.patch("/models/{sha}", self._receive_model),
                web.get("/parcels/{sha}", self._send_parcel, allow_head=False),
            ]
        )
        runner, port = await serve(app, self._context, self._kit.host, self._kit.port)
        on_port(port)
        self._log("started", port=port)
        self._training.begin(self._desk.base)
        try:
            await self._training.work()
        finally:
            await runner.cleanup()
            self._training.save()
            self._log("stopped")

    # A courier is near

    async def _visit(self, request: web.Request) -> web.Response:
        signed = await read_message(request, SignedSnapshot, most=_LARGEST_SNAPSHOT)
        snapshot = open_snapshot(self._server_key, signed, self._kit.run)
        async with self._visiting:
            return answer(await self._met_with_room(peer_in(request).name, snapshot))

    async def _met_with_room(self, peer: str, snapshot: Snapshot) -> VisitAnswer:
        """Without room, what was written for this visit goes: it will be written again."""
        try:
            return await self._met(peer, snapshot)
        except DiskFullError:
            self._files.remove_unless(self._desk.files() | self._training.files())
            raise

    async def _met(self, peer: str, snapshot: Snapshot) -> VisitAnswer:
        """C1: what must be there first, or the hand-over."""
        needs = self._desk.needs(peer, snapshot)
        if needs.model and (offset := self._files.offset(snapshot.model)) is not None:
            self._commit(self._desk.expect(peer, snapshot))
            return VisitAnswer("send-model", model_offset=offset)
        done = await self._trained(needs.freeze, snapshot)
        if done is None:
            return VisitAnswer("training", wait=self._training.wait)
        parcel, first_step = done
        now = time.time()
        visited = self._desk.visit(peer, snapshot, parcel, now=now, first_step=first_step)
        handed_over = self._commit(visited)
        if needs.model:
            self._training.begin(self._desk.base)
        self._files.remove_unless(self._desk.files() | self._training.files())
        self._log(
            "visited",
            courier=peer,
            tour=snapshot.tour,
            version=snapshot.version,
            steps=0 if parcel is None else parcel.steps,
            parcels=len(handed_over.parcels),
        )
        return handed_over

    async def _trained(
        self, base: BaseRow | None, snapshot: Snapshot
    ) -> tuple[Parcel | None, int] | None:
        """What was trained from this base, frozen, and the next local step; None: not yet."""
        if base is None:
            return None, self._training.first_step(snapshot.round, None)
        local = self._training.until(snapshot.round)
        if local is None:
            return None
        parcel, steps = None, local.num_steps
        if steps:
            update = local.update
            if is_finite(update):
                parcel = await asyncio.to_thread(self._freeze, base, steps, update)
            else:  # nobody would take it, and a sum that has it in it would be lost
                self._log("not-finite", tour=snapshot.tour, steps=steps)
        return parcel, self._training.first_step(snapshot.round, local)

    def _freeze(self, base: BaseRow, steps: int, update: Vector) -> Parcel:
        """The update as a parcel whose content is durable; it never changes from now on."""
        vector = bytes_of(update, self._kit.dtype)
        parcel, pieces = make_parcel(
            self._key,
            self._kit.run,
            vector,
            name=self._desk.next_name(),
            tour=base.tour,
            version=base.version,
            round=base.round,
            steps=steps,
            seal_to=self._seal_to,
        )
        self._files.write_pieces(pieces, parcel.content)
        if self._kit.training.head_start:
            self._files.write(vector, parcel.vector)
        return parcel

    async def _model_offset(self, request: web.Request) -> web.Response:
        return self._uploads.offset(self._coming(request), self._kit.model_size)

    async def _receive_model(self, request: web.Request) -> web.Response:
        return await self._uploads.receive(request, self._coming(request), self._kit.model_size)

    def _coming(self, request: web.Request) -> str:
        """Only the model that a snapshot of the server's has named."""
        sha = request.match_info["sha"]
        if sha != self._desk.coming:
            raise Refused(404, "no snapshot has named this model; visit first")
        return sha

    async def _send_parcel(self, request: web.Request) -> web.StreamResponse:
        sha = request.match_info["sha"]
        if not self._desk.hands_over(sha) or not self._files.has(sha):
            raise Refused(404, "no such parcel is to be handed over")
        return await send_file(request, self._files.path(sha))

    def _commit(self, decision: Decision[_A]) -> _A:
        self._store.commit(decision.changes)
        return decision.answer
