"""C1: what a client does at a visit, and what it refuses with nothing changed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace
from small_field import INCARNATION, RUN, Client, commit, copied, parcel_of, sha

from flexpress.field.desk import OUTBOX, BaseRow, ClientDesk, KnownRow
from flexpress.field.messages import Parcel, Seen, Snapshot, VisitAnswer
from flexpress.field.tables import Refused

FIRST = Snapshot(RUN, 3, "courier-1", 0, 0, sha("x0"), 4, (3,), (), ())
SECOND = replace(FIRST, tour=5, round=1, version=1, model=sha("x1"), next_tour=6, open_tours=(5,))


def seen(snapshot: Snapshot, upto: int) -> Snapshot:
    return replace(snapshot, seen=(Seen("client-1", INCARNATION, upto),))


def sequences(answer: VisitAnswer) -> list[int]:
    return [parcel.name.sequence for parcel in answer.parcels]


def outbox(client: Client) -> dict[str, int | None]:
    return {key: row.bound for key, row in OUTBOX.rows(client.tables).items()}


def test_a_client_without_a_model_has_nothing_to_freeze() -> None:
    client = Client("client-1", preloaded=False)
    needs = client.desk.needs("courier-1", FIRST)
    assert (needs.model, needs.freeze) == (True, None)
    commit(client.tables, client.desk.expect("courier-1", FIRST))
    assert client.desk.coming == FIRST.model
    assert client.desk.expect("courier-1", FIRST).changes == ()
    assert client.visit(FIRST).parcels == ()
    assert client.desk.coming is None
    assert client.desk.base == BaseRow(3, 0, 0, FIRST.model, 0, 1.0)


def test_a_database_begins_once() -> None:
    client = Client("client-1")
    assert client.desk.begin("f" * 16, sha("x0"), 9.0).changes == ()


def test_a_newer_tour_freezes_and_brings_a_new_base() -> None:
    """Though the version is the same: the first tours all bring x^0."""
    client = Client("client-1")
    assert client.desk.needs("courier-1", FIRST).freeze == BaseRow(0, -1, 0, sha("x0"), 0, 0.0)
    answer = client.visit(FIRST)
    (parcel,) = answer.parcels
    assert (parcel.tour, parcel.round, parcel.version) == (0, -1, 0)
    assert client.desk.base == BaseRow(3, 0, 0, sha("x0"), 0, 1.0, parcel.vector)
    assert outbox(client) == {"1": 3}
    assert client.desk.hands_over(parcel.content)
    assert client.desk.files() == {sha("x0"), parcel.content}


def test_a_second_visit_on_the_same_tour_changes_nothing() -> None:
    client = Client("client-1")
    answer = client.visit(FIRST)
    before = copied(client.tables)
    assert client.visit(FIRST) == answer
    assert client.tables == before


def test_a_client_forgets_what_was_seen_and_nothing_else() -> None:
    client = Client("client-1")
    client.visit(FIRST)
    assert sequences(client.visit(seen(SECOND, 1))) == [2]
    assert outbox(client) == {"2": 5}
    third = replace(SECOND, tour=6, next_tour=7, open_tours=(5, 6), courier="courier-2")
    assert sequences(client.visit(seen(third, 1))) == [3]
    assert outbox(client) == {"2": 5, "3": 6}


def test_what_another_incarnation_has_sent_is_not_ours() -> None:
    client = Client("client-1", incarnation=2)
    client.visit(FIRST)
    assert sequences(client.visit(seen(SECOND, 9))) == [2, 1]


def test_what_a_closed_tour_did_not_bring_goes_with_the_next_one() -> None:
    client = Client("client-1")
    client.visit(FIRST)
    assert sequences(client.visit(SECOND)) == [2, 1]
    assert outbox(client) == {"1": 5, "2": 5}


def test_what_is_bound_to_an_open_tour_stays_bound() -> None:
    client = Client("client-1")
    client.visit(FIRST)
    assert sequences(client.visit(replace(SECOND, open_tours=(3, 5)))) == [2]
    assert outbox(client) == {"1": 3, "2": 5}


def test_an_old_tour_gets_what_is_free_and_brings_no_base() -> None:
    """Tour 4 left before tour 5, and comes after it."""
    client = Client("client-1")
    old = replace(FIRST, tour=4, courier="courier-2", next_tour=5, open_tours=(3, 4))
    client.visit(FIRST)
    client.visit(replace(SECOND, open_tours=(3, 4, 5)))
    base = client.desk.base
    assert client.desk.needs("courier-2", old).model is False
    assert sequences(client.visit(old)) == []
    assert client.desk.base == base
    assert sequences(client.visit(FIRST)) == [1]


def test_an_update_of_no_step_is_not_sent() -> None:
    client = Client("client-1")
    decision = client.desk.visit("courier-1", FIRST, None, now=2.0, first_step=4)
    answer = commit(client.tables, decision)
    assert answer.parcels == ()
    assert client.desk.base == BaseRow(3, 0, 0, sha("x0"), 4, 2.0, None)
    assert client.desk.next_name().sequence == 1


def test_a_client_keeps_what_it_has_learnt() -> None:
    known = KnownRow(7, (2, 5), ("client-9",))
    older = replace(FIRST, next_tour=5, open_tours=(2, 3), revoked=("client-8",))
    newer = replace(FIRST, tour=8, next_tour=9, open_tours=(5, 7, 8))
    assert known.learning(older) == KnownRow(7, (2, 5), ("client-8", "client-9"))
    assert known.learning(newer) == KnownRow(9, (5, 7, 8), ("client-9",))
    assert known.learning(older).learning(newer) == known.learning(newer).learning(older)


# Refused, with nothing changed

REFUSALS: dict[str, tuple[str, Snapshot, int, str]] = {
    "another run": ("courier-1", replace(SECOND, run="6" * 32), 403, "of run 666"),
    "another courier's snapshot": ("courier-2", SECOND, 403, "for courier-1, not for courier-2"),
    "a courier that is revoked": ("courier-8", replace(SECOND, courier="courier-8"), 403, "rev"),
    "its own revocation": ("courier-1", replace(SECOND, revoked=("client-1",)), 403, "revoked"),
    "a closed tour": ("courier-1", replace(FIRST, tour=2), 410, "tour 2 is closed"),
    "a tour that closed itself": ("courier-1", replace(SECOND, open_tours=()), 410, "closed"),
}


@pytest.mark.parametrize("what", REFUSALS)
def test_refused(what: str) -> None:
    peer, snapshot, status, match = REFUSALS[what]
    client = Client("client-1")
    client.visit(replace(FIRST, revoked=("courier-8",)))
    before = copied(client.tables)
    parcel = parcel_of(client.desk.next_name(), 3, 0, 0)
    requests: list[Callable[[], object]] = [
        lambda: client.desk.needs(peer, snapshot),
        lambda: client.desk.expect(peer, snapshot),
        lambda: client.desk.visit(peer, snapshot, parcel, now=2.0, first_step=0),
    ]
    for request in requests:
        with pytest.raises(Refused, match=match) as caught:
            request()
        assert caught.value.status == status
    assert client.tables == before


PARCELS: dict[str, Callable[[ClientDesk], Parcel]] = {
    "out of turn": lambda desk: parcel_of(replace(desk.next_name(), sequence=7), 3, 0, 0),
    "of another base": lambda desk: parcel_of(desk.next_name(), 2, 0, 0),
    "of another version": lambda desk: parcel_of(desk.next_name(), 3, 1, 0),
}


@pytest.mark.parametrize("what", PARCELS)
def test_a_parcel_that_is_not_the_next_one_is_refused(what: str) -> None:
    client = Client("client-1")
    client.visit(FIRST)
    before = copied(client.tables)
    parcel = PARCELS[what](client.desk)
    with pytest.raises(Refused, match="visit again"):
        client.desk.visit("courier-1", SECOND, parcel, now=2.0, first_step=0)
    assert client.tables == before


def test_nothing_is_frozen_twice_on_one_tour() -> None:
    client = Client("client-1")
    client.visit(FIRST)
    parcel = parcel_of(client.desk.next_name(), 3, 0, 0)
    with pytest.raises(Refused, match="visit again"):
        client.desk.visit("courier-1", FIRST, parcel, now=2.0, first_step=0)


def test_a_revoked_courier_is_known() -> None:
    client = Client("client-1")
    client.visit(replace(FIRST, revoked=("courier-8",)))
    assert client.desk.is_revoked("courier-8")
    assert not client.desk.is_revoked("courier-1")


def test_only_what_is_bound_is_handed_over() -> None:
    client = Client("client-1")
    (parcel,) = client.visit(FIRST).parcels
    assert client.desk.hands_over(parcel.content)
    assert not client.desk.hands_over(FIRST.model)


def test_a_model_that_another_courier_brings_is_still_expected() -> None:
    client = Client("client-1")
    other = replace(SECOND, tour=4, courier="courier-2", model=sha("x1"), open_tours=(3, 4, 5))
    commit(client.tables, client.desk.expect("courier-2", other))
    client.visit(FIRST)
    assert client.desk.coming == other.model
    assert client.desk.files() >= {other.model}
