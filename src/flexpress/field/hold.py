"""The courier's rules: K1 collect, K2 seal. It forgets on a receipt, or when its tour is closed.

It carries one tour at a time. After a restart it continues where it was: the rows say which tour is
under way, which stops are done, and whether the hold is sealed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from flexpress.field.messages import (
    Manifest,
    Orders,
    Parcel,
    Receipt,
    Snapshot,
    UpdateName,
    decode,
    digest_of,
)
from flexpress.field.tables import Change, Decision, Refused, Row, Table, Tables, row_types


class OrdersRow(Row, frozen=True):
    """The tour under way."""

    orders: Orders


class HeldRow(Row, frozen=True):
    """A parcel whose content is durable here."""

    parcel: Parcel
    stop: int  # counted from 0
    leftover: bool  # it was in the client's outbox before this visit


class StopRow(Row, frozen=True):
    """A stop that is behind the courier."""

    state: Literal["done", "missed"]


class SealedRow(Row, frozen=True):
    """What it brings home; it does not change any more."""

    manifest: Manifest


ORDERS = Table("orders", OrdersRow)
HELD = Table("parcels", HeldRow)
STOPS = Table("stops", StopRow)
SEALED = Table("sealed", SealedRow)

COURIER_ROWS = row_types(ORDERS, HELD, STOPS, SEALED)
"""For `Store.open`."""


class CourierHold:
    """Reads the courier's tables and decides; changes nothing."""

    def __init__(self, tables: Tables, run: str, courier: str, content_size: int) -> None:
        """Contents are of this size in bytes, every one of them."""
        self._tables = tables
        self._run = run
        self._courier = courier
        self._content_size = content_size

    # What is under way

    @property
    def orders(self) -> Orders | None:
        row = ORDERS.rows(self._tables).get("")
        return None if row is None else row.orders

    @property
    def snapshot(self) -> Snapshot:
        """Of the tour under way. Refused (404) without one."""
        return _opened(self._under_way())

    @property
    def manifest(self) -> Manifest | None:
        """What it brings home, once it is sealed."""
        row = SEALED.rows(self._tables).get("")
        return None if row is None else row.manifest

    def next_stop(self) -> int | None:
        """The first stop that is neither done nor missed, counted from 0."""
        behind = STOPS.rows(self._tables)
        stops = range(len(self._under_way().stops))
        return next((stop for stop in stops if str(stop) not in behind), None)

    def stops_behind(self) -> list[int]:
        """The stops that are done or missed."""
        return sorted(map(int, STOPS.rows(self._tables)))

    def parcels(self) -> tuple[Parcel, ...]:
        """In the order in which they are added: as visited; then leftovers, by name."""
        rows = HELD.rows(self._tables).values()
        ordered = sorted(
            rows, key=lambda row: (row.leftover, 0 if row.leftover else row.stop, row.parcel.name)
        )
        return tuple(row.parcel for row in ordered)

    def files(self) -> set[str]:
        """Digests of all files that are still needed; the others may go."""
        if self.orders is None:
            return set()
        sealed = self.manifest
        total = {sealed.total} if sealed is not None and sealed.total else set()
        return {self.snapshot.model, *total, *(parcel.content for parcel in self.parcels())}

    # What changes it

    def load(self, orders: Orders) -> Decision[Snapshot]:
        """A tour begins. The same tour again: the courier keeps the orders that it has."""
        snapshot = _opened(orders)
        if (snapshot.run, snapshot.courier) != (self._run, self._courier):
            raise Refused(403, f"the orders are for {snapshot.courier} in run {snapshot.run}")
        if self.orders is None:
            return Decision((ORDERS.put("", OrdersRow(orders)),), snapshot)
        under_way = self.snapshot
        if under_way.tour != snapshot.tour:
            raise Refused(409, f"tour {under_way.tour} is under way: bring it home first")
        return Decision((), under_way)

    def collect(self, stop: int, parcels: Iterable[Parcel]) -> Decision[None]:
        """K1. These parcels of a client, as it listed them; their contents are durable.

        The stop is done. A second visit may add to it, and repeats what is held already.
        """
        client = self._stop(stop)
        held = HELD.rows(self._tables)
        changes: list[Change] = []
        for number, parcel in enumerate(parcels):
            self._check(client, parcel)
            row = held.get(parcel.name.key)
            if row is None:
                changes.append(HELD.put(parcel.name.key, HeldRow(parcel, stop, number > 0)))
            elif row.parcel != parcel:
                raise Refused(422, f"update {parcel.name.key} is not the one that is held")
        if STOPS.rows(self._tables).get(str(stop)) != StopRow("done"):
            changes.append(STOPS.put(str(stop), StopRow("done")))
        return Decision(tuple(changes), None)

    def missed(self, stop: int) -> Decision[None]:
        """The client could not be visited. A stop that is done stays done."""
        self._stop(stop)
        if str(stop) in STOPS.rows(self._tables):
            return Decision((), None)
        return Decision((STOPS.put(str(stop), StopRow("missed")),), None)

    def seal(self, total: str | None) -> Decision[Manifest]:
        """K2. Nothing is added any more; `total` is the digest of the sum of `parcels()`, if any.

        Again: the same manifest, whatever the total.
        """
        snapshot = self.snapshot
        if self.manifest is not None:
            return Decision((), self.manifest)
        manifest = Manifest(self._run, snapshot.tour, self.parcels(), total)
        return Decision((SEALED.put("", SealedRow(manifest)),), manifest)

    def drop(self, names: Iterable[UpdateName]) -> Decision[None]:
        """These parcels are damaged: they do not come along, and the hold is not sealed any more.

        Their clients have them until the server has seen them. If it has, because it took the hold
        before and its receipt was lost, it answers 409 to the next one: then all is forgotten.
        """
        self._under_way()
        lost = [HELD.delete(name.key) for name in names]
        sealed = [SEALED.delete("")] if self.manifest is not None else []
        return Decision((*lost, *sealed), None)

    def close(self, receipt: Receipt | None) -> Decision[frozenset[str]]:
        """Forget the tour: it is accepted, or (None) the server has answered 409 or 410.

        Then it is closed without this hold, and clients still have what was not accepted. The
        answer names the files that may go.
        """
        if receipt is not None:
            sealed = self.manifest
            if sealed is None or receipt != Receipt(self._run, sealed.tour, digest_of(sealed)):
                raise Refused(409, f"the receipt for tour {receipt.tour} is not for this hold")
        changes = tuple(
            table.delete(key)
            for table in (ORDERS, HELD, STOPS, SEALED)
            for key in table.rows(self._tables)
        )
        return Decision(changes, frozenset(self.files()))

    # How it is decided

    def _under_way(self) -> Orders:
        if self.orders is None:
            raise Refused(404, "no tour is under way")
        return self.orders

    def _stop(self, stop: int) -> str:
        """The client there. Refused if nothing may be collected there."""
        stops = self._under_way().stops
        if self.manifest is not None:
            raise Refused(409, f"tour {self.manifest.tour} is sealed")
        if not 0 <= stop < len(stops):
            raise Refused(404, f"the tour has {len(stops)} stops, not a stop {stop}")
        return stops[stop].client

    def _check(self, client: str, parcel: Parcel) -> None:
        if parcel.name.client != client:
            raise Refused(422, f"{client} has handed over an update of {parcel.name.client}")
        if parcel.size != self._content_size:
            limit = f"must have {self._content_size:,} bytes"
            raise Refused(413, f"update {parcel.name.key}: {parcel.size:,}; {limit}")


def _opened(orders: Orders) -> Snapshot:
    """Its signature is for the clients: couriers cannot change what they carry unnoticed."""
    return decode(orders.snapshot.snapshot.encode(), Snapshot)
