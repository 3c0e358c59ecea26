"""A server, couriers and clients with nothing between them: a core and its tables in memory each.

Nobody trains: an update is its name, and the digest of the name is its content.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping
from typing import TypeVar

import msgspec

from flexpress.field.book import ServerBook
from flexpress.field.book_rows import SERVER_ROWS, MemberRow, ProgressRow
from flexpress.field.desk import CLIENT_ROWS, ClientDesk
from flexpress.field.hold import COURIER_ROWS, CourierHold
from flexpress.field.messages import (
    Manifest,
    Orders,
    Parcel,
    Payload,
    Receipt,
    SignedSnapshot,
    Snapshot,
    UpdateName,
    VisitAnswer,
    digest_of,
    encode,
)
from flexpress.field.tables import Decision, Tables, apply_changes, empty_tables

RUN = "5" * 32
SIGNATURE = "0" * 128
SIZE = 8
INCARNATION = "0" * 15 + "1"
_A = TypeVar("_A")


def sha(content: object) -> str:
    return hashlib.sha256(repr(content).encode()).hexdigest()


def commit(tables: Tables, decision: Decision[_A]) -> _A:
    apply_changes(tables, decision.changes)
    return decision.answer


def copied(tables: Tables) -> Tables:
    """Rows do not change, so that they need not be copied."""
    return {name: dict(rows) for name, rows in tables.items()}


def restarted(tables: Tables, types: Mapping[str, type[msgspec.Struct]]) -> Tables:
    """As a program finds them on its disk when it starts."""
    return {
        name: {
            key: msgspec.json.decode(msgspec.json.encode(row), type=types[name])
            for key, row in rows.items()
        }
        for name, rows in tables.items()
    }


class Server:
    """With version 0."""

    def __init__(
        self,
        payload: Payload = "parcel",
        tables: Tables | None = None,
        book: type[ServerBook] = ServerBook,
    ) -> None:
        self.payload = payload
        self.tables = empty_tables(SERVER_ROWS) if tables is None else tables
        self.book = book(self.tables, RUN, payload, SIZE)
        if tables is None:
            commit(self.tables, self.book.merged(0, sha("x0"), (), ProgressRow()))

    @classmethod
    def of(cls, clients_of: Mapping[str, Iterable[str]], payload: Payload = "parcel") -> Server:
        """Couriers, and their clients in the order of the tour."""
        server = cls(payload)
        for courier, clients in clients_of.items():
            server.enrol(courier, MemberRow("courier"))
            for order, client in enumerate(clients):
                server.enrol(client, client_row(courier, order))
        return server

    def enrol(self, name: str, row: MemberRow) -> None:
        commit(self.tables, self.book.enrol(name, row))

    def revoke(self, name: str) -> None:
        commit(self.tables, self.book.revoke(name))

    def release(self, courier: str, number: int, version: int = 0) -> None:
        commit(self.tables, self.book.release(courier, number, version))

    def depart(self, courier: str) -> Orders:
        snapshot = commit(self.tables, self.book.depart(courier))
        assert isinstance(snapshot, Snapshot), snapshot
        signed = SignedSnapshot(encode(snapshot).decode(), SIGNATURE)
        return Orders(signed, self.book.stops(courier), SIZE, 60.0)

    def void(self, tour: int) -> None:
        commit(self.tables, self.book.void(tour))

    def accept(
        self,
        courier: str,
        manifest: Manifest,
        refused: Mapping[UpdateName, str] | None = None,
        unproven: Collection[UpdateName] = (),
    ) -> Receipt:
        digest = digest_of(manifest)
        decision = self.book.accept(
            courier, manifest, digest, manifest.total, refused or {}, unproven
        )
        return commit(self.tables, decision)


def client_row(courier: str, order: int) -> MemberRow:
    return MemberRow("client", False, courier, "localhost", 1000 + order, float(order), order)


class Courier:
    def __init__(
        self,
        name: str,
        payload: Payload = "parcel",
        tables: Tables | None = None,
        hold: type[CourierHold] = CourierHold,
    ) -> None:
        self.name = name
        self.payload = payload
        self.tables = empty_tables(COURIER_ROWS) if tables is None else tables
        self.hold = hold(self.tables, RUN, name, SIZE)

    def load(self, orders: Orders) -> Snapshot:
        return commit(self.tables, self.hold.load(orders))

    def collect(self, stop: int, answer: VisitAnswer) -> None:
        commit(self.tables, self.hold.collect(stop, answer.parcels))

    def seal(self) -> Manifest:
        parcels = self.hold.parcels()
        adds_up = self.payload == "sum" and parcels
        total = sha([parcel.vector for parcel in parcels]) if adds_up else None
        return commit(self.tables, self.hold.seal(total))

    def close(self, receipt: Receipt | None) -> frozenset[str]:
        return commit(self.tables, self.hold.close(receipt))


class Client:
    """With x^0 on board, if it is not told otherwise."""

    def __init__(
        self,
        name: str,
        incarnation: int = 1,
        tables: Tables | None = None,
        desk: type[ClientDesk] = ClientDesk,
        *,
        preloaded: bool = True,
    ) -> None:
        self.name = name
        self.tables = empty_tables(CLIENT_ROWS) if tables is None else tables
        self.desk = desk(self.tables, RUN, name)
        if tables is None:
            model = sha("x0") if preloaded else None
            commit(self.tables, self.desk.begin(f"{incarnation:016x}", model, 0.0))

    def visit(self, snapshot: Snapshot) -> VisitAnswer:
        base = self.desk.needs(snapshot.courier, snapshot).freeze
        parcel = None
        if base is not None:
            parcel = parcel_of(self.desk.next_name(), base.tour, base.version, base.round)
        decision = self.desk.visit(snapshot.courier, snapshot, parcel, now=1.0, first_step=0)
        return commit(self.tables, decision)


def parcel_of(name: UpdateName, tour: int = 0, version: int = 0, number: int = -1) -> Parcel:
    vector = sha(name)
    return Parcel(name, tour, version, number, 1, vector, SIGNATURE, vector, SIZE)


def name_of(sequence: int, client: str = "client-1") -> UpdateName:
    return UpdateName(client, INCARNATION, sequence)


def manifest_of(tour: int, *names: UpdateName, total: str | None = None) -> Manifest:
    return Manifest(RUN, tour, tuple(parcel_of(name) for name in names), total)


def server_with_two_tours(payload: Payload = "parcel") -> Server:
    """Two couriers: tour 1 and tour 2 are open."""
    server = Server.of({"courier-1": ["client-1", "client-2"], "courier-2": ["client-3"]}, payload)
    for courier in ("courier-1", "courier-2"):
        server.release(courier, 0)
        server.depart(courier)
    return server
