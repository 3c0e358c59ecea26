"""A server that is restored from an old copy: no number of a tour means two tours."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from live_field import Nursery, nursery
from small_field import Client, Courier, Server, copied
from test_live_wall_clock import is_merged, mission, stop

from flexpress.field.book_rows import HOMES, ProgressRow
from flexpress.field.tables import Refused, Tables, apply_changes

NOW = 1.8e9


class Flown:
    """One courier and one client. Every update that is merged is in `merged`."""

    def __init__(self) -> None:
        self.server = Server.of({"courier-1": ["client-1"]})
        self.courier, self.client = Courier("courier-1"), Client("client-1")
        self.merged: list[int] = []
        self.round = 0

    def depart(self) -> int:
        self.server.release("courier-1", self.round, self.server.book.counter.version)
        self.round += 1
        return self.courier.load(self.server.depart("courier-1")).tour

    def visit(self) -> None:
        self.courier.collect(0, self.client.visit(self.courier.hold.snapshot))

    def come_home(self) -> None:
        manifest = self.courier.seal()
        try:
            receipt = self.server.accept("courier-1", manifest)
        except Refused as error:
            if error.status != 410:
                raise
            self.courier.close(None)
        else:
            self.courier.close(receipt)
            self.merge()

    def merge(self) -> None:
        book, tables = self.server.book, self.server.tables
        homes = HOMES.rows(tables)
        brought = [p.name.sequence for home in homes.values() for p in home.parcels]
        version = book.counter.version + 1
        decided = book.merged(version, "a" * 64, tuple(homes), ProgressRow())
        apply_changes(tables, decided.changes)
        self.merged += brought

    def tour(self) -> int:
        number = self.depart()
        self.visit()
        self.come_home()
        return number

    def copy(self) -> tuple[Tables, list[int], int]:
        return copied(self.server.tables), list(self.merged), self.round

    def restore(self, copy: tuple[Tables, list[int], int], now: float = NOW) -> None:
        self.server = Server(tables=copied(copy[0]))
        self.merged, self.round = list(copy[1]), copy[2]
        apply_changes(self.server.tables, self.server.book.restored(now).changes)


def test_no_number_is_given_twice_even_if_it_is_restored_twice() -> None:
    field = Flown()
    field.tour()
    copy = field.copy()
    numbers = [field.tour() for _ in range(3)]
    field.restore(copy)
    numbers += [field.tour() for _ in range(3)]
    field.restore(copy, NOW + 60.0)
    numbers += [field.tour() for _ in range(3)]
    assert numbers == sorted(set(numbers))
    field.restore(copy, now=0.0)  # a clock that is not set
    assert field.server.book.counter.next_tour > 1_000_000


@pytest.mark.parametrize("where", ["home", "loaded", "visited", "sealed"])
@pytest.mark.parametrize("is_in_copy", [True, False])
def test_all_that_was_not_merged_and_seen_counts_once(where: str, is_in_copy: bool) -> None:
    """Wherever the courier is when the server is restored, on a tour of the copy or a later one."""
    field = Flown()
    field.tour()
    if not is_in_copy:
        copy = field.copy()
        field.tour()  # update 2 came home, and is merged; the client has not heard of it
    if where != "home":
        field.depart()
    if is_in_copy:
        copy = field.copy()
    if where in ("visited", "sealed"):
        field.visit()
    if where == "sealed":
        field.courier.seal()
    field.restore(copy)
    if where != "home":
        field.come_home()
        assert field.courier.hold.orders is None
    for _ in range(3):
        field.tour()
    lost = {2} - set(field.merged) if not is_in_copy else set()
    assert sorted(field.merged) == sorted(set(field.merged))
    last = max(field.merged)
    assert set(range(1, last + 1)) - set(field.merged) == lost
    heard = where in ("visited", "sealed") and not is_in_copy
    assert lost == ({2} if heard else set())  # the client was told that it was seen


def test_without_it_clients_refuse_tours_that_they_know_to_be_closed() -> None:
    field = Flown()
    copy = field.copy()
    for _ in range(3):
        field.tour()
    field.server = Server(tables=copied(copy[0]))
    field.round = copy[2]
    field.depart()
    with pytest.raises(Refused, match="tour 1 is closed"):
        field.visit()


@pytest.fixture(scope="module")
def children() -> Iterator[Nursery]:
    with nursery() as opened:
        yield opened


@pytest.mark.slow
def test_real_programs(children: Nursery, tmp_path: Path) -> None:
    with mission(children, tmp_path) as field:
        field.start_all()
        is_merged(field, "client-1")
        stop(field)
        shutil.copytree(field.folder / "server", tmp_path / "copy")
        field.start("server")
        is_merged(field, "client-1")
        is_merged(field, "client-4")
        field.kill("server")
        shutil.rmtree(field.folder / "server")
        shutil.copytree(tmp_path / "copy", field.folder / "server")
        field.start("server", restored=True)
        first = field.until("server", "restored")["next_tour"]
        departed = len(field.events("server", "departed"))
        for client in ("client-1", "client-4"):
            visit = field.wait(lambda e, name=client: e["program"] == name and bool(e.get("steps")))  # type: ignore[misc]
            assert visit["tour"] >= first
            field.until("server", "returned", tour=visit["tour"])
            field.until("server", "merged")
        later = [entry["tour"] for entry in field.events("server", "departed")[departed:]]
        assert min(later) >= first
        stop(field)
        assert field.counted().max() == 1
