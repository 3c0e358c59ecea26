"""A field in which everything goes wrong, and what must hold nevertheless.

Each method of `World` that is an action takes three numbers, and chooses with them among what there
is: so a schedule is a list of names and numbers, and any part of a schedule is a schedule. Messages
get lost, come late, come again and in any order; programs end between a commit and its answer;
disks are lost; tours are voided; couriers come back after that; members are revoked.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TypeVar

from field_state import Field
from msgspec.structs import replace
from small_field import Client, Courier, Server, commit, restarted, sha

from flexpress.field.book_rows import (
    HOMES,
    MEMBERS,
    RELEASED,
    SERVER_ROWS,
    ProgressRow,
)
from flexpress.field.desk import CLIENT_ROWS, OUTBOX
from flexpress.field.hold import COURIER_ROWS
from flexpress.field.messages import (
    Manifest,
    Orders,
    Parcel,
    Receipt,
    Snapshot,
    UpdateName,
    VisitAnswer,
)
from flexpress.field.tables import Refused

_T = TypeVar("_T")


def chosen(options: Sequence[_T], number: int) -> _T:
    return options[number % len(options)]


class World(Field):
    """What may happen."""

    # Actions: tours

    def go_on(self, a: int, b: int, c: int) -> None:
        """A courier does what is next: it departs, visits its next client, or comes home."""
        k = a % len(self.couriers)
        hold = self.couriers[k].hold
        if hold.orders is None:
            self._depart(k, b)
        elif hold.manifest is None and (stop := hold.next_stop()) is not None:
            self._visit(k, stop, c)
        else:
            self._come_home(k, b, c)

    def _depart(self, k: int, luck: int) -> None:
        """The answer may come late, or never."""
        courier = self.couriers[k]
        if not self.is_revoked(courier.name):
            self._release(courier.name)
            orders = self.server.depart(courier.name)
            self._remember(self.orders, (k, orders))
            if luck % 8:
                self._load(k, orders)

    def late_orders(self, a: int, b: int, c: int) -> None:
        """The answer to a courier that asked long ago; its tour may be closed by now."""
        if self.orders:
            self._load(*chosen(self.orders, a))

    def _release(self, courier: str) -> None:
        released = RELEASED.rows(self.server.tables).get(courier)
        if released is None:
            self.server.release(courier, 0, self._version())
        elif released.tour is not None and self.server.book.tour(released.tour).state != "open":
            self.server.release(courier, released.round + 1, self._version())

    def _load(self, k: int, orders: Orders) -> None:
        if self.couriers[k].hold.orders is None:
            self._remember(self.snapshots, self.couriers[k].load(orders))

    # Actions: visits

    def visit(self, a: int, b: int, c: int) -> None:
        """A courier is at any of its stops, perhaps once more."""
        if flying := self._flying():
            k = chosen(flying, a)
            orders = self.couriers[k].hold.orders
            if orders is not None and orders.stops:
                self._visit(k, b % len(orders.stops), c)

    def _visit(self, k: int, stop: int, luck: int) -> None:
        """The answer may get lost or come late, or a part of the parcels."""
        courier, snapshot = self.couriers[k], self.couriers[k].hold.snapshot
        answer = self._visited(self._client_at(k, stop), snapshot)
        if answer is None:
            if courier.hold.manifest is None:
                commit(courier.tables, courier.hold.missed(stop))
            return
        self._remember(self.visits, (k, snapshot.tour, stop, answer))
        if luck % 8 == 1:
            answer = replace(answer, parcels=answer.parcels[: luck // 8 % 3])
        if luck % 8:
            self._collect(k, snapshot.tour, stop, answer)

    def _client_at(self, k: int, stop: int) -> str:
        orders = self.couriers[k].hold.orders
        assert orders is not None
        return orders.stops[stop].client

    def late_answer(self, a: int, b: int, c: int) -> None:
        if self.visits:
            self._collect(*chosen(self.visits, a))

    def visit_again(self, a: int, b: int, c: int) -> None:
        """Somebody shows an old snapshot to some client, and hears nothing."""
        if self.snapshots:
            self._visited(chosen(self.clients, b).name, chosen(self.snapshots, a))

    def _visited(self, name: str, snapshot: Snapshot) -> VisitAnswer | None:
        client = self.clients[int(name.rpartition("-")[2])]
        before = dict(OUTBOX.rows(client.tables))
        try:
            answer = client.visit(snapshot)
        except Refused:
            return None
        for parcel in answer.parcels:
            known = self.frozen.setdefault(parcel.name, parcel)
            self.demand(parcel == known, "I5", parcel)
        for key in before.keys() - OUTBOX.rows(client.tables).keys():
            self.demand(self.is_seen(before[key].parcel.name), "I4", before[key])
        return answer

    def _collect(self, k: int, tour: int, stop: int, answer: VisitAnswer) -> None:
        hold = self.couriers[k].hold
        if hold.orders is not None and hold.snapshot.tour == tour and hold.manifest is None:
            with suppress(Refused):  # after it lost its disk, its stops may be others
                self.couriers[k].collect(stop, answer)

    # Actions: the return

    def come_home(self, a: int, b: int, c: int) -> None:
        """A courier comes home early, or says once more what it has brought."""
        if flying := self._flying():
            self._come_home(chosen(flying, a), b, c)

    def _come_home(self, k: int, luck: int, verdict: int) -> None:
        """The manifest or its answer may get lost or come late."""
        manifest = self._sealed(k)
        self._remember(self.manifests, (k, manifest))
        if luck % 8:
            self._return(k, manifest, verdict, heard=luck % 8 > 1)

    def late_manifest(self, a: int, b: int, c: int) -> None:
        if self.manifests:
            k, manifest = chosen(self.manifests, a)
            self._return(k, manifest, c, heard=bool(b % 4))

    def late_receipt(self, a: int, b: int, c: int) -> None:
        if self.receipts:
            self._close(*chosen(self.receipts, a))

    def _sealed(self, k: int) -> Manifest:
        manifest = self.couriers[k].seal()
        if manifest.total is not None:
            self.sums[manifest.total] = [parcel.name for parcel in manifest.parcels]
        return manifest

    def _return(self, k: int, manifest: Manifest, verdict: int, heard: bool) -> None:
        try:
            receipt = self._accepted(k, manifest, verdict)
        except Refused as refused:
            if refused.status not in (409, 410):
                return
            receipt = None
        self._remember(self.receipts, (k, manifest.tour, receipt))
        if heard:
            self._close(k, manifest.tour, receipt)

    def _accepted(self, k: int, manifest: Manifest, verdict: int) -> Receipt | None:
        """Now and then the server finds an update that is worth nothing, or is not signed."""
        server, name = self.server, self.couriers[k].name
        state = server.book.tour(manifest.tour).state
        if state == "open":
            self.check_once(manifest)
        names = [parcel.name for parcel in manifest.parcels]
        odd = [chosen(names, verdict)] if names and verdict % 16 < 2 else []
        if self.setting.payload == "sum":
            odd = []
        if verdict % 2:
            receipt = server.accept(name, manifest, dict.fromkeys(odd, "not finite"))
        else:
            receipt = server.accept(name, manifest, None, odd)
        if state != "accepted":
            self._apply(name, manifest.tour)
        return receipt

    def _apply(self, courier: str, tour: int) -> None:
        for home in HOMES.rows(self.server.tables).values():
            if (home.courier, home.tour) == (courier, tour):
                self.applied.update(self._brought(home.total, home.parcels))

    def _brought(self, total: str | None, parcels: Sequence[Parcel]) -> list[UpdateName]:
        return [parcel.name for parcel in parcels] if total is None else self.sums[total]

    def _close(self, k: int, tour: int, receipt: Receipt | None) -> None:
        hold = self.couriers[k].hold
        if hold.orders is not None and hold.snapshot.tour == tour:
            with suppress(Refused):  # a receipt for another manifest of this tour
                self.couriers[k].close(receipt)

    # Actions: mission and operator

    def void(self, a: int, b: int, c: int) -> None:
        if tours := list(self.server.book.open_tours()):
            self.server.void(chosen(tours, a))

    def merge(self, a: int, b: int, c: int) -> None:
        """Some of those that are home."""
        keys = list(HOMES.rows(self.server.tables))
        self._merge([key for bit, key in enumerate(keys) if a >> bit & 1])

    def revoke(self, a: int, b: int, c: int) -> None:
        """Rarely, and never the last courier."""
        couriers = [self.couriers[k].name for k in self._alive()]
        names = [client.name for client in self.clients] + couriers[1:]
        if a % 4 == 0:
            self.server.revoke(chosen(names, b))

    def move(self, a: int, b: int, c: int) -> None:
        """Another courier visits this client from now on."""
        self._move(chosen(self.clients, a).name, chosen(self.couriers, b).name)

    def _move(self, client: str, courier: str) -> None:
        row = MEMBERS.rows(self.server.tables)[client]
        self.server.enrol(client, replace(row, courier=courier))

    def _merge(self, keys: Sequence[str]) -> None:
        homes = [HOMES.rows(self.server.tables)[key] for key in keys]
        version = self._version() + 1
        decision = self.server.book.merged(version, sha(version), keys, ProgressRow(version))
        commit(self.server.tables, decision)
        for home in homes:
            self.ledger.update(self._brought(home.total, home.parcels))

    def _version(self) -> int:
        return self.server.book.counter.version

    def _alive(self) -> list[int]:
        """Couriers that are not revoked."""
        return [k for k, each in enumerate(self.couriers) if not self.is_revoked(each.name)]

    def _flying(self) -> list[int]:
        """Couriers that carry something, revoked or not."""
        return [k for k, each in enumerate(self.couriers) if each.hold.orders is not None]

    # Actions: programs and disks

    def restart(self, a: int, b: int, c: int) -> None:
        """Somebody's memory is lost; what was committed is read again."""
        setting, number = self.setting, a % (1 + len(self.couriers) + len(self.clients))
        if number == 0:
            tables = restarted(self.server.tables, SERVER_ROWS)
            self.server = Server(setting.payload, tables, setting.book)
        elif number <= len(self.couriers):
            old = self.couriers[number - 1]
            tables = restarted(old.tables, COURIER_ROWS)
            self.couriers[number - 1] = Courier(old.name, setting.payload, tables)
        else:
            i = number - 1 - len(self.couriers)
            tables = restarted(self.clients[i].tables, CLIENT_ROWS)
            self.clients[i] = Client(self.clients[i].name, 0, tables, setting.desk)

    def lose_client(self, a: int, b: int, c: int) -> None:
        """Its disk is gone: it begins anew, and what was only there is lost."""
        i = a % len(self.clients)
        self.lost |= {row.parcel.name for row in OUTBOX.rows(self.clients[i].tables).values()}
        self.incarnations += self.setting.new_incarnations
        self.clients[i] = Client(self.clients[i].name, self.incarnations, desk=self.setting.desk)

    def lose_courier(self, a: int, b: int, c: int) -> None:
        """Its disk is gone, with its hold. It will get its open tour again."""
        k = a % len(self.couriers)
        self.couriers[k] = Courier(self.couriers[k].name, self.setting.payload)

    def _remember(self, late: list[_T], message: _T) -> None:
        """The last few, and some very old ones."""
        late.append(message)
        if len(late) > 9:
            del late[3]

    def check_recovery(self) -> None:
        """I6, on a copy: void what is open; one undisturbed tour each brings all that is left."""
        try:
            self.copy()._recover()
        except Refused as refused:
            self.demand(False, "I6", refused)

    def _recover(self) -> None:
        for tour in self.server.book.open_tours():
            self.server.void(tour)
        alive = self._alive()
        for client in self.clients:
            courier = MEMBERS.rows(self.server.tables)[client.name].courier
            if courier is not None and self.is_revoked(courier):
                self._move(client.name, self.couriers[alive[0]].name)
        for k in alive:
            self._fly(k)
        for client in self.clients:
            for row in OUTBOX.rows(client.tables).values():
                accepted = self.is_seen(row.parcel.name) or self.is_revoked(client.name)
                self.demand(accepted, "I6", row)
        self._merge(list(HOMES.rows(self.server.tables)))
        self.check_ledger()

    def _fly(self, k: int) -> None:
        """An undisturbed tour; a hold of a closed tour goes first."""
        courier = self.couriers[k]
        if courier.hold.orders is not None:
            self._return(k, self._sealed(k), 15, heard=True)
            self.demand(courier.hold.orders is None, "I6", f"{courier.name} cannot depart")
        self._release(courier.name)
        orders = self.server.depart(courier.name)
        snapshot = courier.load(orders)
        for stop, where in enumerate(orders.stops):
            answer = self._visited(where.client, snapshot)
            self.demand(answer is not None, "I6", f"{where.client} refused tour {snapshot.tour}")
            if answer is not None:
                courier.collect(stop, answer)
        self._return(k, self._sealed(k), 15, heard=True)
        self.demand(courier.hold.orders is None, "I6", f"tour {snapshot.tour} was not accepted")
