"""A client's outbox has a limit; at it, nothing that was trained is lost."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from lone_client import KIT, lone_client
from lone_courier import OVER, Script, fly, orders_of
from msgspec.structs import replace
from small_field import RUN, Client, Courier, Server, commit, name_of, parcel_of, sha
from test_client_program import FIRST

from flexpress.field.book_rows import HOMES
from flexpress.field.calling import LinkDown
from flexpress.field.cargo import Cargo
from flexpress.field.desk import LARGEST_OUTBOX, OUTBOX, ClientDesk
from flexpress.field.hold import HELD
from flexpress.field.kit import ClientKit
from flexpress.field.messages import MOST_PARCELS, VisitAnswer, WireError, decode, encode

LIMIT = 3


class Training(Client):
    """Does as many steps as it is told between visits. `frozen` are those of each update."""

    def __init__(self) -> None:
        super().__init__("client-1")
        self.desk = ClientDesk(self.tables, RUN, "client-1", largest_outbox=LIMIT)
        self.steps = 0
        self.frozen: dict[int, int] = {}

    def train(self, steps: int, server: Server, courier: Courier, number: int) -> VisitAnswer:
        """Then the courier comes."""
        self.steps += steps
        server.release("courier-1", number)
        snapshot = courier.load(server.depart("courier-1"))
        base = self.desk.needs("courier-1", snapshot).freeze
        parcel = None
        if base is not None:
            name = self.desk.next_name()
            parcel = parcel_of(name, base.tour, base.version, base.round)
            self.frozen[name.sequence], self.steps = self.steps, 0
        visited = self.desk.visit("courier-1", snapshot, parcel, now=1.0, first_step=0)
        answer = commit(self.tables, visited)
        courier.collect(0, answer)
        return answer


def test_at_the_limit_training_goes_on_and_every_step_counts_once() -> None:
    server = Server.of({"courier-1": ["client-1"]})
    client, steps = Training(), 0
    for number in range(6):  # tours that do not come home
        courier = Courier("courier-1")
        answer = client.train(10 + number, server, courier, number)
        steps += 10 + number
        assert len(answer.parcels) == min(number + 1, LIMIT)
        assert len(OUTBOX.rows(client.tables)) <= LIMIT
        server.void(courier.hold.snapshot.tour)
    base = client.desk.base
    assert base is not None
    assert base.round == LIMIT - 1  # the present model is that of the last update
    counted: list[int] = []
    for number in (6, 7, 8):
        courier = Courier("courier-1")
        client.train(1, server, courier, number)
        steps += 1
        server.accept("courier-1", courier.seal())
        home = HOMES.rows(server.tables)[f"courier-1/{number}"]
        counted += [parcel.name.sequence for parcel in home.parcels]
    assert sorted(counted) == list(client.frozen)
    assert sum(client.frozen.values()) == steps


def test_a_model_that_is_not_taken_is_not_sent() -> None:
    client = Client("client-1")
    client.desk = ClientDesk(client.tables, RUN, "client-1", largest_outbox=1)
    client.visit(FIRST)
    later = replace(FIRST, tour=2, next_tour=3, open_tours=(1, 2), model=sha("x1"))
    needs = client.desk.needs("courier-1", later)
    assert (needs.model, needs.freeze) == (False, None)
    assert client.desk.expect("courier-1", later).changes == ()


def test_nobody_lists_more_than_a_courier_takes() -> None:
    parcels = (parcel_of(name_of(1)),) * (MOST_PARCELS + 1)
    decode(encode(VisitAnswer("ready", parcels=parcels[1:])), VisitAnswer)
    with pytest.raises(WireError, match="length <= 1024"):
        decode(encode(VisitAnswer("ready", parcels=parcels)), VisitAnswer)


def test_the_limit_is_in_the_kit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert KIT.largest_outbox == LARGEST_OUTBOX  # of kits that do not mention it
    assert isinstance(replace(KIT, largest_outbox=2), ClientKit)
    with lone_client(tmp_path, monkeypatch, []) as client:
        assert client._desk._largest_outbox == LARGEST_OUTBOX


def test_a_visit_that_is_cut_short_brings_what_is_on_board(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else an outbox that is too long for one visit would never get shorter."""
    parcels = tuple(parcel_of(name_of(number)) for number in (3, 1, 2))
    held: list[str] = []
    seal = Cargo.seal

    async def look(cargo: Cargo) -> object:
        held.extend(HELD.rows(cargo._hold._tables))
        cargo._files.write(np.zeros(2, "<f4").tobytes())
        monkeypatch.setattr(cargo, "_add_up", lambda parcels: sha("sum"))
        return await seal(cargo)

    monkeypatch.setattr(Cargo, "seal", look)
    cut: list[Exception | None] = [
        None,
        None,
        None,
        LinkDown("out of range"),
    ]  # the model, two parcels, then no more
    script = Script(
        [orders_of(1, "client-1"), OVER], models=cut, visits=[VisitAnswer("ready", parcels=parcels)]
    )
    fly(script, tmp_path, monkeypatch)
    assert held == [name_of(number).key for number in (3, 1)]
    (missed,) = [entry for entry in script.entries if entry["event"] == "missed"]
    assert (missed["parcels"], missed["reason"]) == (2, "out of range")
