"""What the server's book says, as the mission's clock wants to know it: by numbers of couriers.

The clock asks before each step, and a step is small: so what has not changed is not gone through
again, neither the members nor what waits to be merged.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from flexpress.field.book import ServerBook
from flexpress.field.book_rows import HOMES, MEMBERS, RELEASED, HomeRow, home_key
from flexpress.field.due import Brought, Courier, Home, Key, Situation
from flexpress.field.messages import Parcel
from flexpress.field.tables import Tables
from flexpress.planning.plan import ClientId


class Overview:
    """Of these tables. Who changes members says so with `forget`."""

    def __init__(self, tables: Tables, book: ServerBook) -> None:
        self._tables, self._book = tables, book
        self._homes: dict[str, tuple[HomeRow, Home]] = {}

    def forget(self) -> None:
        """Members have changed."""
        for known in ("_names", "_couriers", "num_clients"):
            self.__dict__.pop(known, None)

    def situation(self) -> Situation:
        members, rows = MEMBERS.rows(self._tables), HOMES.rows(self._tables)
        self._homes = {key: (row, self._home(key, row)) for key, row in rows.items()}
        homes = {(members[r.courier].number, r.round): home for r, home in self._homes.values()}
        return Situation(homes, dict(self._flying()))

    def _flying(self) -> Iterator[tuple[int, Courier | None]]:
        """Couriers with somebody to visit; and who is out, if its last client was moved since."""
        for number, name, has_clients in self._couriers:
            courier = self.courier(name)
            if has_clients or (courier is not None and courier.state == "out"):
                yield number, courier

    def courier(self, name: str) -> Courier | None:
        """None before it is released for the first time."""
        released = RELEASED.rows(self._tables).get(name)
        if released is None:
            return None
        if released.tour is None:
            return Courier(released.round, released.version, "released")
        out = self._book.tour(released.tour).state == "open"
        return Courier(released.round, released.version, "out" if out else "closed")

    def name(self, number: int) -> str:
        """Of the courier with this number."""
        return self._names[number]

    def home_key(self, key: Key) -> str:
        return home_key(self.name(key[0]), key[1])

    @cached_property
    def num_clients(self) -> int:
        """That are enrolled and not revoked."""
        rows = MEMBERS.rows(self._tables).values()
        return sum(row.role == "client" and not row.revoked for row in rows)

    @cached_property
    def _names(self) -> dict[int, str]:
        """Of all couriers; the first to have a number keeps it."""
        members = reversed(MEMBERS.rows(self._tables).items())  # type: ignore[call-overload]  # of a dict
        return {row.number: name for name, row in members if row.role == "courier"}

    @cached_property
    def _couriers(self) -> list[tuple[int, str, bool]]:
        """Numbers and names of couriers that are not revoked; whether they have clients."""
        members = MEMBERS.rows(self._tables)
        visited = {row.courier for row in members.values() if not row.revoked}
        return [
            (row.number, name, name in visited)
            for name, row in members.items()
            if row.role == "courier" and not row.revoked
        ]

    def _home(self, key: str, row: HomeRow) -> Home:
        known = self._homes.get(key)
        if known is not None and known[0] is row:
            return known[1]
        version = self._book.tour(row.tour).version
        brought = (Brought(self._id_of(p), p.round, p.version, p.steps) for p in row.parcels)
        return Home(row.state == "accepted", version, tuple(brought))

    def _id_of(self, parcel: Parcel) -> ClientId:
        """In the scenario."""
        client = MEMBERS.rows(self._tables)[parcel.name.client].client
        return parcel.name.client if client is None else client
