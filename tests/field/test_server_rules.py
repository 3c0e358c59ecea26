"""S1, S2, S3: what the server decides."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from small_field import (
    INCARNATION,
    RUN,
    SIZE,
    Client,
    Courier,
    Server,
    client_row,
    commit,
    copied,
    manifest_of,
    name_of,
    server_with_two_tours,
    sha,
)

from flexpress.field.book_rows import (
    ANNOUNCED,
    HOMES,
    MEMBERS,
    REFUSED,
    SEEN,
    TOURS,
    ProgressRow,
)
from flexpress.field.messages import (
    Missing,
    Payload,
    Receipt,
    Seen,
    Snapshot,
    Wait,
    digest_of,
)
from flexpress.field.tables import Refused

# S1


def test_a_courier_waits_for_its_release() -> None:
    server = Server.of({"courier-1": []})
    decision = server.book.depart("courier-1")
    assert isinstance(decision.answer, Wait)
    assert not decision.answer.over
    assert decision.changes == ()


def test_a_courier_hears_that_the_mission_is_over() -> None:
    server = Server.of({"courier-1": []})
    commit(server.tables, server.book.note(ProgressRow(7, over=True)))
    answer = server.book.depart("courier-1").answer
    assert isinstance(answer, Wait)
    assert answer.over


def test_an_open_tour_is_given_again() -> None:
    server = server_with_two_tours()
    first = server.book.depart("courier-1")
    assert first.changes == ()
    assert isinstance(first.answer, Snapshot)
    assert (first.answer.tour, first.answer.open_tours, first.answer.next_tour) == (1, (1, 2), 3)
    server.void(2)
    again = server.book.depart("courier-1", now=9.0).answer
    assert again == replace(first.answer, open_tours=(1,))
    assert TOURS.rows(server.tables)["1"].since == 0.0


def test_an_open_tour_keeps_its_model() -> None:
    server = server_with_two_tours()
    commit(server.tables, server.book.merged(1, sha("x1"), (), ProgressRow()))
    again = server.book.depart("courier-1").answer
    assert isinstance(again, Snapshot)
    assert (again.version, again.model) == (0, sha("x0"))


def test_a_closed_round_is_not_flown_again() -> None:
    server = server_with_two_tours()
    server.void(1)
    assert isinstance(server.book.depart("courier-1").answer, Wait)
    server.release("courier-1", 0)
    assert isinstance(server.book.depart("courier-1").answer, Wait)
    server.release("courier-1", 1)
    answer = server.book.depart("courier-1").answer
    assert isinstance(answer, Snapshot)
    assert (answer.tour, answer.round, answer.open_tours) == (3, 1, (2, 3))


def test_a_newer_version_may_take_the_place_of_one_that_waits() -> None:
    server = Server.of({"courier-1": []})
    server.release("courier-1", 0)
    commit(server.tables, server.book.merged(1, sha("x1"), (), ProgressRow()))
    server.release("courier-1", 0, version=1)
    answer = server.book.depart("courier-1").answer
    assert isinstance(answer, Snapshot)
    assert (answer.round, answer.version) == (0, 1)


def test_a_snapshot_says_what_was_seen_and_who_is_revoked() -> None:
    server = server_with_two_tours()
    server.accept("courier-1", manifest_of(1, name_of(2), name_of(1), name_of(5)))
    server.revoke("client-3")
    answer = server.book.depart("courier-2").answer
    assert isinstance(answer, Snapshot)
    assert answer.seen == (Seen("client-1", INCARNATION, 2, (5,)),)
    assert answer.revoked == ("client-3",)
    assert answer.is_closed(1)
    assert answer.has_seen(name_of(5))
    assert not answer.has_seen(name_of(3))


def test_stops_are_in_the_order_of_the_tour() -> None:
    server = Server.of({"courier-1": ["client-2", "client-1", "client-3"]})
    server.revoke("client-1")
    assert [stop.client for stop in server.book.stops("courier-1")] == ["client-2", "client-3"]


# S2


def test_the_server_asks_for_what_it_has_not() -> None:
    server = server_with_two_tours()
    manifest = manifest_of(1, name_of(1), name_of(2), name_of(3))
    first, second, third = manifest.parcels
    offsets = {first.content: None, second.content: 3, third.content: SIZE}
    decision = server.book.announce("courier-1", manifest, digest_of(manifest), offsets.__getitem__)
    assert decision.answer == Missing(((second.content, 3), (third.content, SIZE)))
    commit(server.tables, decision)
    assert server.book.expects("courier-1", 1, third.content) == SIZE
    assert server.book.files() == {sha("x0"), *(parcel.content for parcel in manifest.parcels)}
    again = server.book.announce("courier-1", manifest, digest_of(manifest), lambda _: None)
    assert (again.changes, again.answer) == ((), Missing(()))
    server.accept("courier-1", manifest)
    assert not ANNOUNCED.rows(server.tables)
    late = server.book.announce("courier-1", manifest, digest_of(manifest), lambda _: 0)
    assert (late.changes, late.answer) == ((), Missing(()))


def test_the_server_does_not_ask_for_what_no_client_has_signed() -> None:
    server = server_with_two_tours()
    manifest = manifest_of(1, name_of(1), name_of(2))
    first, second = manifest.parcels
    decision = server.book.announce(
        "courier-1", manifest, digest_of(manifest), lambda _: 0, {first.name}
    )
    assert decision.answer == Missing(((second.content, 0),))


def test_the_server_asks_for_the_sum() -> None:
    server = server_with_two_tours("sum")
    manifest = manifest_of(1, name_of(1), total=sha("sum"))
    decision = server.book.announce("courier-1", manifest, digest_of(manifest), lambda _: 2)
    assert decision.answer == Missing(((sha("sum"), 2),))


@pytest.mark.parametrize("payload", ["parcel", "sum"])
def test_a_courier_may_come_home_with_nothing(payload: Payload) -> None:
    server = server_with_two_tours(payload)
    server.accept("courier-1", manifest_of(1))
    assert HOMES.rows(server.tables)["courier-1/0"].parcels == ()


def test_the_same_manifest_gets_the_same_receipt() -> None:
    server = server_with_two_tours()
    manifest = manifest_of(1, name_of(1))
    receipt = server.accept("courier-1", manifest)
    assert receipt == Receipt(RUN, 1, digest_of(manifest))
    before = copied(server.tables)
    assert server.accept("courier-1", manifest) == receipt
    assert server.tables == before


def test_what_the_server_has_added_up_is_needed_instead_of_the_parcels() -> None:
    server = server_with_two_tours()
    manifest = manifest_of(1, name_of(1), name_of(2))
    digest = digest_of(manifest)
    accepted = server.book.accept("courier-1", manifest, digest, None, {}, added=sha("added"))
    commit(server.tables, accepted)
    home = HOMES.rows(server.tables)["courier-1/0"]
    assert (home.total, home.parcels) == (sha("added"), manifest.parcels)
    assert sha("added") in server.book.files()
    assert not {parcel.content for parcel in manifest.parcels} & server.book.files()


def test_what_was_seen_is_left_out_of_parcels() -> None:
    server = server_with_two_tours()
    server.accept("courier-1", manifest_of(1, name_of(1)))
    manifest = manifest_of(2, name_of(1), name_of(2))
    assert server.book.fresh("courier-2", manifest, digest_of(manifest)) == manifest.parcels[1:]
    server.accept("courier-2", manifest)
    assert HOMES.rows(server.tables)["courier-2/0"].parcels == manifest.parcels[1:]
    assert SEEN.rows(server.tables) == {f"client-1/{INCARNATION}": Seen("client-1", INCARNATION, 2)}


def test_what_is_refused_is_seen_and_does_not_count() -> None:
    server = server_with_two_tours()
    manifest = manifest_of(1, name_of(1), name_of(2))
    server.accept("courier-1", manifest, {name_of(1): "not finite"})
    assert HOMES.rows(server.tables)["courier-1/0"].parcels == manifest.parcels[1:]
    assert server.book.has_seen(name_of(1))
    assert REFUSED.rows(server.tables)[name_of(1).key].reason == "not finite"


def test_what_is_not_proven_gets_no_verdict() -> None:
    server = server_with_two_tours()
    server.accept("courier-1", manifest_of(1, name_of(1)), None, [name_of(1)])
    assert HOMES.rows(server.tables)["courier-1/0"].parcels == ()
    assert not server.book.has_seen(name_of(1))


def test_an_update_of_a_revoked_client_does_not_count() -> None:
    """Nor is it in snapshots what was seen of it: nobody can make them large in its name."""
    server = server_with_two_tours()
    server.accept("courier-2", manifest_of(2, name_of(1)))
    server.revoke("client-1")
    server.accept("courier-1", manifest_of(1, name_of(2), name_of(1, "client-2")))
    kept = HOMES.rows(server.tables)["courier-1/0"].parcels
    assert [parcel.name.client for parcel in kept] == ["client-2"]
    assert not server.book.has_seen(name_of(2))
    server.release("courier-1", 1)
    answer = server.book.depart("courier-1").answer
    assert isinstance(answer, Snapshot)
    assert [seen.client for seen in answer.seen] == ["client-2"]


# S3, the mission and the operator


def test_a_void_tour_is_void_for_ever() -> None:
    server = server_with_two_tours()
    server.void(1)
    assert TOURS.rows(server.tables)["1"].state == "void"
    assert HOMES.rows(server.tables)["courier-1/0"].state == "void"
    assert server.book.void(1).changes == ()


def test_a_round_that_never_departs_can_be_voided() -> None:
    server = Server.of({"courier-1": []})
    server.release("courier-1", 0)
    commit(server.tables, server.book.void_round("courier-1"))
    assert HOMES.rows(server.tables)["courier-1/0"].state == "void"
    assert isinstance(server.book.depart("courier-1").answer, Wait)
    assert server.book.void_round("courier-1").changes == ()


@pytest.mark.parametrize("departed", [False, True])
def test_nobody_waits_for_a_revoked_courier(departed: bool) -> None:
    server = Server.of({"courier-1": []})
    server.release("courier-1", 0)
    if departed:
        server.depart("courier-1")
    server.revoke("courier-1")
    server.release("courier-1", 1)
    homes = {key: home.state for key, home in HOMES.rows(server.tables).items()}
    assert homes == {"courier-1/0": "void", "courier-1/1": "void"}
    assert server.book.open_tours() == {}


def test_releases_voids_and_revocations_may_be_repeated() -> None:
    server = server_with_two_tours()
    server.revoke("client-1")
    member = MEMBERS.rows(server.tables)["client-2"]
    for decision in (
        server.book.release("courier-1", 0, 0),
        server.book.revoke("client-1"),
        server.book.enrol("client-2", member),
    ):
        assert decision.changes == ()


def test_a_client_may_be_visited_by_another_courier() -> None:
    server = server_with_two_tours()
    server.enrol("client-1", client_row("courier-2", 0))
    assert [stop.client for stop in server.book.stops("courier-2")] == ["client-1", "client-3"]


def test_a_lost_disk_is_a_new_name() -> None:
    """The old updates of a client and its new ones never meet."""
    server = Server.of({"courier-1": ["client-1"]})
    courier = Courier("courier-1")
    server.release("courier-1", 0)
    snapshot = courier.load(server.depart("courier-1"))
    courier.collect(0, Client("client-1", 1).visit(snapshot))
    courier.collect(0, Client("client-1", 2).visit(snapshot))
    courier.close(server.accept("courier-1", courier.seal()))
    assert [row.upto for row in SEEN.rows(server.tables).values()] == [1, 1]
    assert len(SEEN.rows(server.tables)) == 2


def test_a_client_that_is_at_work_keeps_its_key() -> None:
    """A second kit of the same name would make all that the first has trained worthless."""
    server = server_with_two_tours()
    row = client_row("courier-1", 0)
    server.enrol("client-1", replace(row, public_key="1" * 64))  # nothing has come of it yet
    server.accept("courier-1", manifest_of(1, name_of(1)))
    with pytest.raises(Refused, match="client-1 is at work with another key") as caught:
        server.enrol("client-1", row)
    assert caught.value.status == 409
    server.enrol("client-1", replace(row, public_key="1" * 64, courier="courier-2"))
