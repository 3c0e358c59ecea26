"""K1, K2 and forgetting: what a courier does, and what it refuses with nothing changed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace
from small_field import (
    RUN,
    SIZE,
    Courier,
    Server,
    commit,
    copied,
    name_of,
    parcel_of,
    restarted,
    sha,
)

from flexpress.field.hold import COURIER_ROWS, HELD, STOPS
from flexpress.field.messages import Manifest, Orders, Receipt, UpdateName, digest_of
from flexpress.field.tables import Refused

CLIENTS = ["client-2", "client-1", "client-3"]


def orders(number: int = 0) -> Orders:
    """Of tour 1, or of a later one."""
    server = Server.of({"courier-1": CLIENTS})
    for each in range(number + 1):
        server.release("courier-1", each)
        given = server.depart("courier-1")
        if each < number:
            server.void(each + 1)
    return given


def loaded() -> Courier:
    courier = Courier("courier-1")
    courier.load(orders())
    return courier


def collect(courier: Courier, stop: int, *names: UpdateName) -> None:
    commit(courier.tables, courier.hold.collect(stop, [parcel_of(name) for name in names]))


def test_a_courier_goes_from_stop_to_stop() -> None:
    courier = Courier("courier-1")
    assert courier.hold.orders is None
    assert courier.hold.files() == set()
    snapshot = courier.load(orders())
    assert courier.hold.snapshot == snapshot
    collect(courier, 0, name_of(1, "client-2"))
    assert courier.hold.next_stop() == 1
    commit(courier.tables, courier.hold.missed(1))
    assert courier.hold.next_stop() == 2
    collect(courier, 2)
    assert courier.hold.next_stop() is None
    assert courier.hold.stops_behind() == [0, 1, 2]
    assert {key: row.state for key, row in STOPS.rows(courier.tables).items()} == {
        "0": "done",
        "1": "missed",
        "2": "done",
    }


def test_a_stop_that_was_missed_may_be_visited_later() -> None:
    courier = loaded()
    commit(courier.tables, courier.hold.missed(0))
    collect(courier, 0, name_of(1, "client-2"))
    assert STOPS.rows(courier.tables)["0"].state == "done"
    assert courier.hold.missed(0).changes == ()


def test_the_same_orders_again_change_nothing() -> None:
    courier = loaded()
    decision = courier.hold.load(orders())
    assert decision.changes == ()
    assert decision.answer == courier.hold.snapshot


def test_a_parcel_is_held_once() -> None:
    courier = loaded()
    collect(courier, 0, name_of(1, "client-2"))
    before = copied(courier.tables)
    collect(courier, 0, name_of(1, "client-2"))
    assert courier.tables == before
    collect(courier, 0, name_of(1, "client-2"), name_of(2, "client-2"))
    assert len(HELD.rows(courier.tables)) == 2


def test_parcels_are_in_the_order_of_the_tour_and_leftovers_by_name() -> None:
    courier = loaded()
    collect(courier, 2, name_of(4, "client-3"), name_of(2, "client-3"), name_of(10, "client-3"))
    collect(courier, 1, name_of(3, "client-1"), name_of(1, "client-1"))
    collect(courier, 0, name_of(7, "client-2"))
    assert [parcel.name for parcel in courier.hold.parcels()] == [
        name_of(7, "client-2"),
        name_of(3, "client-1"),
        name_of(4, "client-3"),
        name_of(1, "client-1"),
        name_of(2, "client-3"),
        name_of(10, "client-3"),
    ]


def test_a_sealed_hold_does_not_change() -> None:
    courier = loaded()
    collect(courier, 0, name_of(1, "client-2"))
    manifest = commit(courier.tables, courier.hold.seal(sha("sum")))
    assert manifest == Manifest(RUN, 1, courier.hold.parcels(), sha("sum"))
    assert courier.hold.files() == {sha("x0"), sha("sum"), *(p.content for p in manifest.parcels)}
    again = courier.hold.seal(sha("other"))
    assert (again.changes, again.answer) == ((), manifest)


@pytest.mark.parametrize("accepted", [True, False])
def test_a_courier_forgets_on_a_receipt_or_when_its_tour_is_closed(accepted: bool) -> None:
    courier = loaded()
    collect(courier, 0, name_of(1, "client-2"))
    manifest = courier.seal()
    receipt = Receipt(RUN, 1, digest_of(manifest)) if accepted else None
    assert courier.close(receipt) == {sha("x0"), manifest.parcels[0].content}
    assert all(not rows for rows in courier.tables.values())
    courier.load(orders(1))
    assert courier.hold.snapshot.tour == 2


def test_a_courier_goes_on_after_a_restart() -> None:
    courier = loaded()
    collect(courier, 0, name_of(1, "client-2"))
    again = Courier("courier-1", tables=restarted(courier.tables, COURIER_ROWS))
    assert again.tables == courier.tables
    assert again.hold.next_stop() == 1
    assert again.seal() == courier.seal()


# Refused, with nothing changed

Request = Callable[[Courier], object]
LARGE = replace(parcel_of(name_of(2, "client-2")), size=SIZE + 1)
CHANGED = replace(parcel_of(name_of(1, "client-2")), steps=9)
FLYING: dict[str, tuple[Request, int, str]] = {
    "another tour": (lambda courier: courier.load(orders(1)), 409, "tour 1 is under way"),
    "another client": (
        lambda courier: collect(courier, 0, name_of(1, "client-1")),
        422,
        "client-2 has handed over an update of client-1",
    ),
    "too large": (lambda courier: courier.hold.collect(0, [LARGE]), 413, "must have 8 bytes"),
    "not the same": (lambda courier: courier.hold.collect(0, [CHANGED]), 422, "not the one"),
    "no such stop": (lambda courier: collect(courier, 3), 404, "has 3 stops"),
    "no stop": (lambda courier: courier.hold.missed(-1), 404, "has 3 stops"),
    "a receipt before it is sealed": (
        lambda courier: courier.close(Receipt(RUN, 1, sha("manifest"))),
        409,
        "not for this hold",
    ),
}
SEALED: dict[str, tuple[Request, int, str]] = {
    "collect": (lambda courier: collect(courier, 1, name_of(1, "client-1")), 409, "is sealed"),
    "missed": (lambda courier: courier.hold.missed(1), 409, "is sealed"),
    "receipt of another manifest": (
        lambda courier: courier.close(Receipt(RUN, 1, sha("manifest"))),
        409,
        "not for this hold",
    ),
    "receipt of another tour": (
        lambda courier: courier.close(Receipt(RUN, 2, digest_of(courier.seal()))),
        409,
        "not for this hold",
    ),
}
AT_HOME: dict[str, tuple[Request, int, str]] = {
    "orders of another courier": (
        lambda courier: Courier("courier-2").load(orders()),
        403,
        "for courier-1",
    ),
    "collect": (lambda courier: collect(courier, 0), 404, "no tour is under way"),
    "next stop": (lambda courier: courier.hold.next_stop(), 404, "no tour is under way"),
    "seal": (lambda courier: courier.seal(), 404, "no tour is under way"),
}


def refused(courier: Courier, request: Request, status: int, match: str) -> None:
    before = copied(courier.tables)
    with pytest.raises(Refused, match=match) as caught:
        request(courier)
    assert caught.value.status == status
    assert courier.tables == before


@pytest.mark.parametrize("what", FLYING)
def test_refused_in_flight(what: str) -> None:
    courier = loaded()
    collect(courier, 0, name_of(1, "client-2"))
    refused(courier, *FLYING[what])


@pytest.mark.parametrize("what", SEALED)
def test_refused_when_sealed(what: str) -> None:
    courier = loaded()
    courier.seal()
    refused(courier, *SEALED[what])


@pytest.mark.parametrize("what", AT_HOME)
def test_refused_at_home(what: str) -> None:
    refused(Courier("courier-1"), *AT_HOME[what])
