"""A small field under attack: the real server and clients, and couriers played by hand.

The programs run in threads of this process, at ports of their own, with mTLS.
"""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from callers import PATIENCE, Answer, HandCourier, opened, until
from small_run import FOUR

from flexpress.field.book_reader import BookReader
from flexpress.field.book_rows import SERVER_ROWS
from flexpress.field.client import run_client
from flexpress.field.identity import load_key, load_seal_key
from flexpress.field.kit import STATE, ServerKit, load_kit
from flexpress.field.log import Log
from flexpress.field.messages import Manifest, Orders, Parcel, Payload, Receipt
from flexpress.field.rehearsal import make_kits
from flexpress.field.sealing import open_parcel
from flexpress.field.server import run_server
from flexpress.field.store import DATABASE
from flexpress.field.tables import empty_tables
from flexpress.files.lock import LOCK
from flexpress.learning import Vector
from flexpress.planning import make_plan


@dataclass
class Running:
    """A program in a thread, and what it has said."""

    entries: list[dict[str, Any]] = field(default_factory=list)
    error: BaseException | None = None
    last: Mapping[str, object] = field(default_factory=lambda: {"event": ""})  # it ends with this
    _stop: Callable[[], object] | None = None

    def hear(self, entry: dict[str, Any]) -> None:
        self.entries.append(entry)
        if entry["event"] == "started":
            loop, task = asyncio.get_running_loop(), asyncio.current_task()
            assert task is not None
            self._stop = lambda: loop.call_soon_threadsafe(task.cancel)
        if self.last.items() <= entry.items():
            raise asyncio.CancelledError  # here and now, while no connection is in use

    def said(self, event: str, **details: object) -> list[dict[str, Any]]:
        return [
            entry
            for entry in self.entries
            if entry["event"] == event and details.items() <= entry.items()
        ]

    def has_started(self) -> bool:
        if self.error is not None:
            raise self.error
        return self._stop is not None

    def stop(self) -> None:
        if self._stop is not None:
            with suppress(RuntimeError):  # it has ended by itself
                self._stop()


@contextmanager
def running(run: Callable[..., None], folder: Path, **last: object) -> Iterator[Running]:
    """The program of this kit until the end of the block, or until it says the last thing."""
    program = Running(last=last or {"event": ""})

    def work() -> None:
        try:
            run(folder, log=Log(folder.name, sink=program.hear))
        except BaseException as error:  # for the test to see
            program.error = error

    thread = threading.Thread(target=work)
    thread.start()
    try:
        until(program.has_started)
        yield program
    finally:
        program.stop()
        thread.join(PATIENCE)
        assert not thread.is_alive()


def state_of(kit: Path, *, parts: bool = True) -> dict[str, str]:
    """All that a program remembers: each row of its database, and the digest of each file.

    Parts are files that have not arrived as a whole: nobody believes them yet. Files that the
    server needs no more do not count: it removes them in its own time.
    """
    rows: dict[str, str] = {}
    path = kit / STATE / DATABASE
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        for name, key, value in database.execute("SELECT name, key, value FROM rows"):
            rows[f"row {name}/{key}"] = value.decode()
    leaving = _needed_no_more(kit, rows)
    for file in sorted(kit.rglob("*")):
        ours = not file.name.startswith((DATABASE, LOCK, *leaving)) and file.is_file()
        if ours and (parts or file.suffix != ".part"):
            content = file.read_bytes()
            rows[f"file {file.relative_to(kit)}"] = hashlib.sha256(content).hexdigest()
    return rows


def _needed_no_more(kit: Path, rows: Mapping[str, str]) -> set[str]:
    """Digests of whole files of the server that its tables have no use for."""
    if kit.name != "server":
        return set()
    tables = empty_tables(SERVER_ROWS)
    for key, value in rows.items():
        name, _, place = key.removeprefix("row ").partition("/")
        tables[name][place] = msgspec.json.decode(value, type=SERVER_ROWS[name])
    found = {file.name for file in (kit / STATE).iterdir() if len(file.name) == 64}
    return found - BookReader(tables).files()


@dataclass(frozen=True)
class Tour:
    """A tour under way: its orders, the model, and what clients have handed over."""

    courier: HandCourier
    orders: Orders
    model: bytes
    parcels: tuple[Parcel, ...] = ()
    contents: tuple[bytes, ...] = ()

    @property
    def number(self) -> int:
        return opened(self.orders).tour

    def manifest(self, total: str | None = None) -> Manifest:
        return Manifest(self.courier.run, self.number, self.parcels, total)


@dataclass(frozen=True)
class Field:
    """Server and clients that run, and two couriers by hand."""

    kits: Path
    server: Running
    clients: Mapping[str, Running]
    one: HandCourier
    two: HandCourier

    def states(self, *, parts: bool = True, clock: bool = True) -> dict[str, dict[str, str]]:
        """Of the server and all clients; perhaps without what the mission's clock goes on with."""
        found = {n: state_of(self.kits / n, parts=parts) for n in ("server", *self.clients)}
        if not clock:
            for key in [k for k in found["server"] if k.startswith(("row progress", "file run"))]:
                del found["server"][key]
        return found

    def server_rows(self, table: str) -> dict[str, str]:
        prefix = f"row {table}/"
        rows = state_of(self.kits / "server").items()
        return {key.removeprefix(prefix): row for key, row in rows if key.startswith(prefix)}

    def outbox(self, client: str) -> list[str]:
        """Sequence numbers of the updates that it keeps."""
        prefix = "row outbox/"
        return sorted(k.removeprefix(prefix) for k in state_of(self.kits / client) if prefix in k)

    def fly(self, courier: HandCourier) -> Tour:
        """A round as a courier does it, up to the way home."""
        orders = courier.depart()
        model = courier.model(orders)
        parcels: list[Parcel] = []
        contents: list[bytes] = []
        for stop in orders.stops:
            answer = courier.visit(stop.client, orders.snapshot, model)
            parcels += answer.parcels
            contents += [courier.take(stop.client, parcel) for parcel in answer.parcels]
        return Tour(courier, orders, model, tuple(parcels), tuple(contents))

    def sum_of(self, tour: Tour) -> Vector:
        """Of its updates: as they are, or as the server opens them."""
        server = load_kit(self.kits / "server", ServerKit)
        total: Vector = np.zeros(server.num_params, "<f4")
        box = load_seal_key(self.kits / "server") if server.payload == "parcel" else None
        for parcel, content in zip(tour.parcels, tour.contents, strict=True):
            key = load_key(self.kits / parcel.name.client).public_key()
            total += np.frombuffer(open_parcel(key, server.run, parcel, content, box), "<f4")
        return total

    def come_home(self, tour: Tour) -> Receipt:
        return tour.courier.bring(tour.manifest(), *tour.contents)


@contextmanager
def besieged(
    folder: Path, payload: Payload = "parcel", absent: Collection[str] = ()
) -> Iterator[Field]:
    """Four clients of two couriers; absent ones do not run. Nobody has departed yet."""
    plan = make_plan(FOUR)
    kits = make_kits(FOUR, plan, folder / "kits", payload, 600.0, lambda note: None)
    with ExitStack() as stack:
        names = sorted({path.name for path in kits.glob("client-*")} - {*absent})
        clients = {n: stack.enter_context(running(run_client, kits / n)) for n in names}
        server = stack.enter_context(running(run_server, kits / "server"))
        couriers = HandCourier(kits, "courier-1"), HandCourier(kits, "courier-2")
        yield Field(kits, server, clients, *couriers)


def after_a_round(field: Field) -> tuple[Tour, Tour]:
    """Both couriers have brought the model to all clients, and are out again with updates."""
    for courier in (field.one, field.two):
        field.come_home(field.fly(courier))
    return field.fly(field.one), field.fly(field.two)


def check_refused(
    field: Field, attack: Callable[[], Answer], status: int, reason: str, *, clock: bool = True
) -> None:
    """It is refused in one line, and nobody remembers anything of it."""
    before = field.states(clock=clock)
    answer = attack()
    assert (answer.status, reason in answer.problem) == (status, True), answer
    assert "\n" not in answer.problem
    assert field.states(clock=clock) == before
