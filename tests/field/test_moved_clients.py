"""A client that another courier is to visit: where it comes in the tour, and what is on its way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from live_field import LiveField, Nursery, make_kits, nursery
from small_field import Client, Courier, Server, copied
from test_live_wall_clock import ENDLESS, is_merged, mission, steps_that_count, stop

from flexpress.errors import InputError
from flexpress.field import operate
from flexpress.field.book_rows import HOMES, MemberRow
from flexpress.field.messages import Stop
from flexpress.field.overview import Overview
from flexpress.field.tables import Refused, apply_changes

THREE = {"courier-1": ["client-1", "client-2"], "courier-2": ["client-3"]}


def move(server: Server, client: str, courier: str) -> None:
    apply_changes(server.tables, server.book.move(client, courier).changes)


def test_it_comes_last_and_the_others_stay() -> None:
    server = Server.of(THREE)
    before = {stop.client: stop for stop in server.book.stops("courier-1")}
    move(server, "client-3", "courier-1")
    *others, last = server.book.stops("courier-1")
    assert others == list(before.values())
    assert last == Stop("client-3", "localhost", 1000, before["client-2"].seconds)
    assert server.book.stops("courier-2") == ()
    move(server, "client-2", "courier-2")
    assert [stop.client for stop in server.book.stops("courier-2")] == ["client-2"]


def test_once_more_changes_nothing() -> None:
    server = Server.of(THREE)
    move(server, "client-3", "courier-1")
    before = copied(server.tables)
    move(server, "client-3", "courier-1")
    assert server.tables == before


@pytest.mark.parametrize(
    ("client", "courier", "reason"),
    [
        ("client-9", "courier-1", "client-9 is not a client of this run"),
        ("courier-2", "courier-1", "courier-2 is not a client of this run"),
        ("client-3", "courier-9", "courier-9 is not a courier of this run"),
        ("client-3", "client-1", "client-1 is not a courier of this run"),
        ("client-2", "courier-2", "client-2 is revoked"),
        ("client-3", "courier-0", "courier-0 is revoked"),
    ],
)
def test_who_cannot_be_moved(client: str, courier: str, reason: str) -> None:
    server = Server.of({**THREE, "courier-0": []})
    server.revoke("client-2")
    server.revoke("courier-0")
    before = copied(server.tables)
    with pytest.raises(Refused, match=reason):
        server.book.move(client, courier)
    assert server.tables == before


def out(server: Server, name: str, number: int) -> Courier:
    courier = Courier(name)
    server.release(name, number)
    courier.load(server.depart(name))
    return courier


def comes_home(server: Server, courier: Courier) -> list[int]:
    """The sequence numbers that count."""
    manifest = courier.seal()
    courier.close(server.accept(courier.name, manifest))
    round_ = server.book.tour(manifest.tour).round
    parcels = HOMES.rows(server.tables)[f"{courier.name}/{round_}"].parcels
    return [parcel.name.sequence for parcel in parcels]


@pytest.mark.parametrize("old_is_first", [True, False])
def test_what_the_old_courier_carries_counts_once(old_is_first: bool) -> None:
    """It was moved while the old courier was on its way home with its update."""
    server, client = Server.of(THREE), Client("client-3")
    old = out(server, "courier-2", 0)
    old.collect(0, client.visit(old.hold.snapshot))
    move(server, "client-3", "courier-1")
    new = out(server, "courier-1", 0)
    assert [stop.client for stop in new.hold.orders.stops][-1] == "client-3"  # type: ignore[union-attr]
    new.collect(2, client.visit(new.hold.snapshot))
    couriers = (old, new) if old_is_first else (new, old)
    counted = [comes_home(server, courier) for courier in couriers]
    assert counted == ([[1], [2]] if old_is_first else [[2], [1]])


def test_a_tour_under_way_visits_it_once_more() -> None:
    """The new courier came first; the old one still has it on its list, and is not refused."""
    server, client = Server.of(THREE), Client("client-3")
    old = out(server, "courier-2", 0)
    move(server, "client-3", "courier-1")
    new = out(server, "courier-1", 0)
    new.collect(2, client.visit(new.hold.snapshot))
    old.collect(0, client.visit(old.hold.snapshot))
    assert sorted(comes_home(server, new) + comes_home(server, old)) == [1]


def test_what_a_lost_courier_carries_comes_with_the_new_one() -> None:
    server, client = Server.of(THREE), Client("client-3")
    lost = out(server, "courier-2", 0)
    lost.collect(0, client.visit(lost.hold.snapshot))
    move(server, "client-3", "courier-1")
    server.void(lost.hold.snapshot.tour)
    new = out(server, "courier-1", 0)
    new.collect(2, client.visit(new.hold.snapshot))
    assert comes_home(server, new) == [2, 1]  # this visit's own first, then the leftover
    with pytest.raises(Refused, match="void"):
        comes_home(server, lost)


def test_a_courier_without_clients_is_waited_for_while_it_is_out() -> None:
    """FedEx-Sync merges what it brings with the rest; then it has no more rounds to fly."""
    server = Server.of(THREE)
    for number in (1, 2):
        server.enrol(f"courier-{number}", MemberRow("courier", number=number))
    overview = Overview(server.tables, server.book)
    courier = out(server, "courier-2", 0)
    move(server, "client-3", "courier-1")
    assert set(overview.situation().couriers) == {1, 2}
    comes_home(server, courier)
    assert set(overview.situation().couriers) == {1}


@pytest.fixture(scope="module")
def children() -> Iterator[Nursery]:
    with nursery() as opened:
        yield opened


def test_real_programs(children: Nursery, tmp_path: Path) -> None:
    """client-4 was the only one of courier-2."""
    with mission(children, tmp_path) as field:
        field.start_all()
        is_merged(field, "client-4")
        operate(field.operator, "move", "client-4", courier="courier-1")
        field.until("courier-1", "visited", client="client-4")
        is_merged(field, "client-4")
        late = len(field.events("courier-2", "visited"))
        is_merged(field, "client-4")
        assert len(field.events("courier-2", "visited")) <= late + 1
        stop(field)
        assert steps_that_count(field)[3] > 0


@contextmanager
def server_alone(children: Nursery, folder: Path, **settings: Any) -> Iterator[Path]:
    """Its operator's kit."""
    with mission(children, folder, **settings) as field:
        field.start("server")
        field.until("server", "started")
        yield field.operator


def test_refusals_are_one_line(children: Nursery, tmp_path: Path) -> None:
    with server_alone(children, tmp_path) as kit:
        with pytest.raises(InputError, match="refuses: client-9 is not a client of this run"):
            operate(kit, "move", "client-9", courier="courier-1")
        with pytest.raises(InputError, match="say which courier is to visit it, with --courier"):
            operate(kit, "move", "client-1")
        with pytest.raises(InputError, match="name what to move"):
            operate(kit, "move", courier="courier-1")


def test_by_the_plan_nobody_moves(children: Nursery, tmp_path: Path) -> None:
    with LiveField(children, make_kits(ENDLESS, tmp_path / "kits")) as field:
        field.start("server")
        field.until("server", "started")
        with pytest.raises(InputError, match="by the plan's clock nobody moves"):
            operate(field.operator, "move", "client-1", courier="courier-2")
