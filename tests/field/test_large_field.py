"""1,000 clients, 50 couriers, many tours: what is sent stays small, and history is not searched."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from small_field import Client, Server, commit, manifest_of, name_of, sha

from flexpress.field.book_rows import HOMES, ProgressRow
from flexpress.field.desk import LARGEST_OUTBOX, OUTBOX
from flexpress.field.messages import Snapshot, decode

CLIENTS_OF = {f"courier-{k}": [f"client-{k}-{i}" for i in range(20)] for k in range(50)}


class LookedUp(dict[str, msgspec.Struct]):
    """A table in which keys are looked up, and which nobody goes through."""

    def _refuse(self, *_: Any) -> Any:
        raise AssertionError("somebody goes through all that has ever happened")

    __iter__ = items = values = keys = _refuse


def fly(server: Server, rounds: range) -> Iterator[Snapshot]:
    for number in rounds:
        for courier, clients in CLIENTS_OF.items():
            server.release(courier, number, server.book.counter.version)
            snapshot = decode(server.depart(courier).snapshot.snapshot.encode(), Snapshot)
            yield snapshot
            names = [name_of(number + 1, client) for client in clients]
            server.accept(courier, manifest_of(snapshot.tour, *names))
        homes = list(HOMES.rows(server.tables))
        version = server.book.counter.version + 1
        commit(server.tables, server.book.merged(version, sha(version), homes, ProgressRow()))


def test_snapshots_stay_small() -> None:
    server = Server.of(CLIENTS_OF)
    for history in ("tours", "versions", "refused"):
        server.tables[history] = LookedUp(server.tables[history])
    sizes = [len(msgspec.json.encode(snapshot)) for snapshot in fly(server, range(20))]
    assert sizes[-1] < 100_000
    assert sizes[-1] < 1.05 * sizes[200]  # but for more digits: it has all clients since then
    assert len(server.book.files()) == 1


def test_leftovers_of_many_voided_tours_go_home_together() -> None:
    server = Server.of({"courier-1": ["client-1"]})
    client = Client("client-1")
    for number in range(LARGEST_OUTBOX):
        server.release("courier-1", number)
        snapshot = decode(server.depart("courier-1").snapshot.snapshot.encode(), Snapshot)
        answer = client.visit(snapshot)
        assert [parcel.name.sequence for parcel in answer.parcels] == [
            number + 1,
            *range(1, number + 1),
        ]
        if number < LARGEST_OUTBOX - 1:
            server.void(snapshot.tour)
    server.accept(
        "courier-1", manifest_of(LARGEST_OUTBOX, *(parcel.name for parcel in answer.parcels))
    )
    server.release("courier-1", LARGEST_OUTBOX)
    snapshot = decode(server.depart("courier-1").snapshot.snapshot.encode(), Snapshot)
    assert [row.upto for row in snapshot.seen] == [LARGEST_OUTBOX]
    client.visit(snapshot)
    assert list(OUTBOX.rows(client.tables)) == [str(LARGEST_OUTBOX + 1)]
