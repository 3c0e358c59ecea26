"""A courier whose memory card has lost a parcel drops it: its client hands it over again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from live_field import LiveField, Nursery, nursery
from small_field import Client, Courier, Server
from test_live_wall_clock import ENDLESS, is_merged, lose, mission, steps_that_count, stop

from flexpress.field.book_rows import HOMES
from flexpress.field.hold import COURIER_ROWS, CourierHold
from flexpress.field.kit import STATE, CourierKit, load_kit
from flexpress.field.messages import Payload
from flexpress.field.store import Store
from flexpress.field.tables import Refused, apply_changes

TWO = {"courier-1": ["client-1", "client-2"]}


def fly(server: Server, courier: Courier, clients: list[Client], number: int) -> None:
    server.release("courier-1", number)
    courier.load(server.depart("courier-1"))
    for stop_, client in enumerate(clients):
        courier.collect(stop_, client.visit(courier.hold.snapshot))


def drop_first(courier: Courier) -> None:
    parcel, *_ = courier.hold.parcels()
    apply_changes(courier.tables, courier.hold.drop([parcel.name]).changes)


@pytest.mark.parametrize("is_sealed", [True, False])
@pytest.mark.parametrize("payload", ["parcel", "sum"])
def test_what_was_dropped_comes_later_and_counts_once(payload: Payload, is_sealed: bool) -> None:
    server, courier = Server.of(TWO, payload), Courier("courier-1", payload)
    clients = [Client("client-1"), Client("client-2")]
    fly(server, courier, clients, 0)
    if is_sealed:
        courier.seal()
    drop_first(courier)
    courier.close(server.accept("courier-1", courier.seal()))
    fly(server, courier, clients, 1)
    courier.close(server.accept("courier-1", courier.seal()))
    first, second = (
        [parcel.name.key for parcel in HOMES.rows(server.tables)[f"courier-1/{number}"].parcels]
        for number in (0, 1)
    )
    assert [name.split("/")[0] for name in first] == ["client-2"]
    assert [name.split("/")[0] for name in second] == ["client-1", "client-2", "client-1"]
    assert len({*first, *second}) == 4


def test_a_hold_that_the_server_has_taken_already_is_forgotten() -> None:
    """The receipt was lost, then a parcel: the server has the whole of it."""
    server, courier = Server.of(TWO), Courier("courier-1")
    fly(server, courier, [Client("client-1"), Client("client-2")], 0)
    server.accept("courier-1", courier.seal())
    drop_first(courier)
    with pytest.raises(Refused) as refused:
        server.accept("courier-1", courier.seal())
    assert refused.value.status == 409


@pytest.fixture(scope="module")
def children() -> Iterator[Nursery]:
    with nursery() as opened:
        yield opened


def held(field: LiveField) -> list[Path]:
    """Files of parcels on board of courier-2, which is not running."""
    kit = load_kit(field.folder / "courier-2", CourierKit)
    folder = field.folder / "courier-2" / STATE
    with Store.open(folder, COURIER_ROWS) as store:
        hold = CourierHold(store.tables, kit.run, kit.name, kit.model_size)
        return [folder / parcel.content for parcel in hold.parcels()]


@pytest.mark.parametrize(
    ("payload", "damage"),
    [
        ("sum", "changed"),
        pytest.param("sum", "gone", marks=pytest.mark.slow),
        ("parcel", "gone"),
        pytest.param("parcel", "changed", marks=pytest.mark.slow),
    ],
)
def test_real_programs(children: Nursery, tmp_path: Path, payload: Payload, damage: str) -> None:
    with mission(children, tmp_path, replace(ENDLESS, payload=payload)) as field:
        field.start_all(but=["courier-2"])
        lose(field, "courier-2", 2)  # it has orders, and has visited its client
        while not held(field):
            lose(field, "courier-2", 4)  # of the next tour, after it has sealed and closed this one
        for path in held(field):
            if damage == "gone":
                path.unlink()
            else:
                path.write_bytes(bytes(path.stat().st_size))
        field.start("courier-2")
        field.until("courier-2", "dropped")
        is_merged(field, "client-4")
        stop(field)
        assert steps_that_count(field)[3] > 0
