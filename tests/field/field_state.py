"""Everything that there is in a small field, and what must hold in it at any moment (I1 to I5).

The model that it is compared with are sets: of updates that were frozen, lost, applied.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Self

from small_field import Client, Courier, Server, client_row, copied

from flexpress.field.book import ServerBook
from flexpress.field.book_rows import MEMBERS, REFUSED, SEEN, MemberRow
from flexpress.field.desk import DESK, OUTBOX, ClientDesk
from flexpress.field.hold import HELD
from flexpress.field.messages import (
    Manifest,
    Orders,
    Parcel,
    Payload,
    Receipt,
    Snapshot,
    UpdateName,
    VisitAnswer,
)

ALL = ("I1", "I2", "I3", "I4", "I5", "I6", "once")
"""The invariants of the protocol, and: no tour brings what another one has brought."""


class BrokenError(AssertionError):
    """An invariant does not hold."""

    def __init__(self, invariant: str, what: object) -> None:
        super().__init__(f"{invariant}: {what}")
        self.invariant = invariant


@dataclass(frozen=True)
class Setting:
    """Whose rules are followed, by how many; mutants are other classes than these."""

    payload: Payload = "parcel"
    num_couriers: int = 2
    num_clients: int = 3
    book: type[ServerBook] = ServerBook
    desk: type[ClientDesk] = ClientDesk
    new_incarnations: bool = True  # of clients that have lost their disk
    checks: Collection[str] = ALL


class Field:
    """All programs, and all messages that may still arrive."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.server = Server(setting.payload, book=setting.book)
        self.couriers = [
            Courier(f"courier-{k}", setting.payload) for k in range(setting.num_couriers)
        ]
        self.clients = [
            Client(f"client-{i}", desk=setting.desk) for i in range(setting.num_clients)
        ]
        for courier in self.couriers:
            self.server.enrol(courier.name, MemberRow("courier"))
        for i, client in enumerate(self.clients):
            self.server.enrol(client.name, client_row(f"courier-{i % setting.num_couriers}", i))
        self.incarnations = 1
        # What may still arrive, any number of times
        self.orders: list[tuple[int, Orders]] = []
        self.snapshots: list[Snapshot] = []
        self.visits: list[tuple[int, int, int, VisitAnswer]] = []  # courier, tour, stop
        self.manifests: list[tuple[int, Manifest]] = []
        self.receipts: list[tuple[int, int, Receipt | None]] = []  # courier, tour; None: closed
        # The model
        self.frozen: dict[UpdateName, Parcel] = {}
        self.lost: set[UpdateName] = set()  # with the disk of their client
        self.sums: dict[str, list[UpdateName]] = {}  # what is in a courier's sum
        self.applied: Counter[UpdateName] = Counter()  # by tours that were accepted
        self.ledger: Counter[UpdateName] = Counter()  # by versions of the model

    def check(self) -> None:
        """I1 to I5."""
        self._check_applied()
        for client in self.clients:
            self._check_outbox(client)
        self._check_tours()
        for courier in self.couriers:
            for row in HELD.rows(courier.tables).values():
                self.demand(self.frozen[row.parcel.name] == row.parcel, "I5", row)

    def demand(self, holds: bool, invariant: str, what: object) -> None:
        if not holds and invariant in self.setting.checks:
            raise BrokenError(invariant, what)

    def _check_applied(self) -> None:
        twice = [name for name, times in self.applied.items() if times > 1]
        self.demand(not twice, "I1", twice)

    def check_once(self, manifest: Manifest) -> None:
        """The server need not leave anything out: no tour brings what another has brought."""
        again = [parcel.name for parcel in manifest.parcels if self.is_seen(parcel.name)]
        self.demand(not again, "once", again)

    def _check_outbox(self, client: Client) -> None:
        """I2: what was frozen is here or seen. I5: what is here has not changed."""
        outbox, desk = OUTBOX.rows(client.tables), DESK.rows(client.tables)[""]
        seen = SEEN.rows(self.server.tables).get(f"{client.name}/{desk.incarnation}")
        for sequence in range(1, desk.next_sequence):
            row = outbox.get(str(sequence))
            if row is None:
                here = seen is not None and sequence in seen
                self.demand(here, "I2", (client.name, sequence))
            else:
                self.demand(self.frozen[row.parcel.name] == row.parcel, "I5", row)

    def is_seen(self, name: UpdateName) -> bool:
        seen = SEEN.rows(self.server.tables).get(f"{name.client}/{name.incarnation}")
        return seen is not None and name.sequence in seen

    def _check_tours(self) -> None:
        """I3: an update is in one open tour at most: bound to it, in a hold or in a manifest."""
        tours_of: dict[UpdateName, set[int]] = defaultdict(set)
        open_tours = self.server.book.open_tours()
        for name, tour in self._places():
            if tour in open_tours:
                tours_of[name].add(tour)
        several = [(name, tours) for name, tours in tours_of.items() if len(tours) > 1]
        self.demand(not several, "I3", several)

    def _places(self) -> Iterator[tuple[UpdateName, int]]:
        for client in self.clients:
            for row in OUTBOX.rows(client.tables).values():
                if row.bound is not None:
                    yield row.parcel.name, row.bound
        for courier in self.couriers:
            if courier.hold.orders is not None:
                tour = courier.hold.snapshot.tour
                for held in HELD.rows(courier.tables).values():
                    yield held.parcel.name, tour
        for _, manifest in self.manifests:
            for parcel in manifest.parcels:
                yield parcel.name, manifest.tour

    def check_ledger(self) -> None:
        """When all is home, the model is the count: one of each that was accepted, no other."""
        refused = REFUSED.rows(self.server.tables)
        for name in self.frozen:
            kept = self.is_seen(name) or name in self.lost or self.is_revoked(name.client)
            self.demand(kept, "I2", name)
            counts = self.is_seen(name) and name.key not in refused
            self.demand(self.ledger[name] == int(counts), "I1", (name, self.ledger[name]))

    def is_revoked(self, name: str) -> bool:
        return MEMBERS.rows(self.server.tables)[name].revoked

    def copy(self) -> Self:
        setting = self.setting
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__)
        copy.server = Server(setting.payload, copied(self.server.tables), setting.book)
        copy.couriers = [
            Courier(courier.name, setting.payload, copied(courier.tables))
            for courier in self.couriers
        ]
        copy.clients = [
            Client(client.name, 0, copied(client.tables), setting.desk) for client in self.clients
        ]
        for late in ("orders", "snapshots", "visits", "manifests", "receipts"):
            setattr(copy, late, list(getattr(self, late)))
        copy.frozen, copy.lost = dict(self.frozen), set(self.lost)
        copy.sums, copy.applied = dict(self.sums), Counter(self.applied)
        copy.ledger = Counter(self.ledger)
        return copy
