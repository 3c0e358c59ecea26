"""One tour after another with the pure core: what is trained is accepted, once."""

from __future__ import annotations

import pytest
from small_field import Client, Courier, Server, sha

from flexpress.field.book_rows import HOMES, SEEN, ProgressRow
from flexpress.field.desk import OUTBOX
from flexpress.field.messages import Payload
from flexpress.field.tables import apply_changes


@pytest.mark.parametrize("payload", ["parcel", "sum"])
def test_two_tours(payload: Payload) -> None:
    server = Server.of({"courier-1": ["client-1", "client-2"]}, payload)
    courier = Courier("courier-1", payload)
    clients = {name: Client(name) for name in ("client-1", "client-2")}
    for number in range(2):
        server.release("courier-1", number)
        orders = server.depart("courier-1")
        snapshot = courier.load(orders)
        for stop, where in enumerate(orders.stops):
            assert courier.hold.next_stop() == stop
            courier.collect(stop, clients[where.client].visit(snapshot))
        manifest = courier.seal()
        assert [p.name.client for p in manifest.parcels] == ["client-1", "client-2"]
        gone = courier.close(server.accept("courier-1", manifest))
        assert gone >= {parcel.content for parcel in manifest.parcels}
    assert {key: row.upto for key, row in SEEN.rows(server.tables).items()} == {
        "client-1/0000000000000001": 2,
        "client-2/0000000000000001": 2,
    }
    assert list(HOMES.rows(server.tables)) == ["courier-1/0", "courier-1/1"]
    assert all(len(OUTBOX.rows(client.tables)) == 1 for client in clients.values())
    merged = server.book.merged(1, sha("x1"), ["courier-1/0", "courier-1/1"], ProgressRow(4))
    apply_changes(server.tables, merged.changes)
    assert not HOMES.rows(server.tables)
    assert server.book.files() == {sha("x1")}
