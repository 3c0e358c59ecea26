"""A server, couriers and clients with nothing between them: a core and its tables in memory each.

Contents are a byte each: the digest of the letter is enough.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from copy import deepcopy
from typing import TypeVar

from flexpress.field.book import ServerBook
from flexpress.field.book_rows import SERVER_ROWS, MemberRow, ProgressRow
from flexpress.field.desk import CLIENT_ROWS, ClientDesk
from flexpress.field.hold import COURIER_ROWS, CourierHold
from flexpress.field.messages import (
    Manifest,
    Orders,
    Parcel,
    Receipt,
    SignedSnapshot,
    Snapshot,
    UpdateName,
    VisitAnswer,
    digest_of,
    encode,
)
from flexpress.field.returns import Payload
from flexpress.field.tables import Decision, Tables, apply_changes, empty_tables

RUN = "5" * 32
SIGNATURE = "0" * 128
SIZE = 8
_A = TypeVar("_A")


def sha(content: object) -> str:
    return hashlib.sha256(repr(content).encode()).hexdigest()


def commit(tables: Tables, decision: Decision[_A]) -> _A:
    apply_changes(tables, decision.changes)
    return decision.answer


class Server:
    """With version 0, and couriers that may depart as soon as they are home."""

    def __init__(self, payload: Payload = "parcel", **clients_of: Collection[str]) -> None:
        """courier=clients in the order of the tour; `_` in names stands for `-`."""
        self.payload = payload
        self.tables = empty_tables(SERVER_ROWS)
        self.book = ServerBook(self.tables, RUN, payload, SIZE)
        for courier, clients in clients_of.items():
            name = courier.replace("_", "-")
            self.enrol(name, MemberRow("courier"))
            for order, client in enumerate(clients):
                row = MemberRow("client", False, name, "localhost", 1000, float(order), order)
                self.enrol(client, row)
        commit(self.tables, self.book.merged(0, sha("x0"), (), ProgressRow()))

    def enrol(self, name: str, row: MemberRow) -> None:
        commit(self.tables, self.book.enrol(name, row))

    def release(self, courier: str, number: int, version: int = 0) -> None:
        commit(self.tables, self.book.release(courier, number, version))

    def depart(self, courier: str) -> Orders:
        snapshot = commit(self.tables, self.book.depart(courier))
        assert isinstance(snapshot, Snapshot), snapshot
        return orders_of(snapshot, self.book)

    def void(self, tour: int) -> None:
        commit(self.tables, self.book.void(tour))

    def accept(
        self, courier: str, manifest: Manifest, refused: Mapping[UpdateName, str] | None = None
    ) -> Receipt:
        decision = self.book.accept(
            courier, manifest, digest_of(manifest), manifest.total, refused or {}
        )
        return commit(self.tables, decision)


def orders_of(snapshot: Snapshot, book: ServerBook) -> Orders:
    signed = SignedSnapshot(encode(snapshot).decode(), SIGNATURE)
    return Orders(signed, book.stops(snapshot.courier), SIZE, 60.0)


class Courier:
    def __init__(self, name: str, payload: Payload = "parcel") -> None:
        self.name = name
        self.payload = payload
        self.tables = empty_tables(COURIER_ROWS)
        self.hold = CourierHold(self.tables, RUN, name, SIZE)

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
    def __init__(self, name: str, incarnation: int = 1, *, preloaded: bool = True) -> None:
        self.name = name
        self.tables = empty_tables(CLIENT_ROWS)
        self.desk = ClientDesk(self.tables, RUN, name)
        model = sha("x0") if preloaded else None
        commit(self.tables, self.desk.begin(f"{incarnation:016x}", model, 0.0))

    def visit(self, snapshot: Snapshot) -> VisitAnswer:
        needs = self.desk.needs(snapshot.courier, snapshot)
        base = needs.freeze
        parcel = None
        if base is not None:
            name = self.desk.next_name()
            parcel = parcel_of(name, base.tour, base.version, base.round)
        decision = self.desk.visit(snapshot.courier, snapshot, parcel, now=1.0, first_step=0)
        return commit(self.tables, decision)


def parcel_of(name: UpdateName, tour: int = 0, version: int = 0, number: int = -1) -> Parcel:
    vector = sha(name)
    return Parcel(name, tour, version, number, 1, vector, SIGNATURE, vector, SIZE)


def frozen_copy(tables: Tables) -> Tables:
    return deepcopy(tables)
