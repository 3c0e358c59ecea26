"""Members that are revoked: the server knows it at once, and clients from the next courier."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from besieged import Field, Tour, check_refused
from callers import Answer, Caller, opened, until
from forging import update_of
from msgspec.structs import replace
from scenes import Scene, out_with_updates

from flexpress.field.messages import Departing
from flexpress.field.operator import operate
from flexpress.field.parts import OFFSET
from flexpress.field.tls import caller_context


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    with out_with_updates(tmp_path) as scene:
        yield scene


def revoke(field: Field, name: str) -> None:
    operate(field.kits / "operator", "revoke", name)


def check(field: Field, attack: Callable[[], Answer], status: int, reason: str) -> None:
    """The mission goes on meanwhile: nobody waits for a tour that is revoked."""
    check_refused(field, attack, status, reason, clock=False)


def test_a_courier_at_the_server(scene: Scene) -> None:
    """Nothing is open to it any more, from the next question on."""
    field, one = scene.field, scene.field.one
    revoke(field, "courier-1")
    number, parcel = scene.one.number, scene.one.parcels[0]
    content = f"/courier/tours/{number}/contents/{parcel.content}"
    calls = {
        "depart": partial(one.home, "POST", "/courier/depart", Departing(one.run)),
        "manifest": partial(one.announce, scene.manifest),
        "return": partial(one.finish, scene.manifest),
        "content": partial(one.home, "PATCH", content, b"x", {OFFSET: "0"}),
        "model": partial(one.home, "GET", f"/courier/models/{opened(scene.one.orders).model}"),
    }
    for call in calls.values():
        check(field, call, 403, "the certificate of courier-1 is revoked")


def test_a_connection_that_was_open_before(scene: Scene) -> None:
    """Each question is looked at, not each connection."""
    body = f'{{"run":"{scene.manifest.run}"}}'
    question = f"POST /courier/depart HTTP/1.1\r\nHost: server\r\nContent-Length: {len(body)}\r\n"
    with scene.home.connect() as connection:
        connection.sendall(f"{question}\r\n{body}".encode())
        assert connection.recv(2**16).startswith(b"HTTP/1.1 200 OK\r\n")
        revoke(scene.field, "courier-1")
        connection.sendall(f"{question}\r\n{body}".encode())
        received = b""
        while b"HTTP/1.1 403 " not in received:
            received += connection.recv(2**16)


def test_a_tour_that_is_revoked_brings_nothing(scene: Scene) -> None:
    """Its updates stay with the clients; the others' count, and nobody waits for it."""
    field = scene.field
    revoke(field, "courier-1")
    assert field.one.finish(scene.manifest).status == 403
    field.come_home(scene.two)
    until(lambda: field.server.said("merged", version=1))
    assert field.server_rows("seen").keys() == {
        f"{parcel.name.client}/{parcel.name.incarnation}" for parcel in scene.two.parcels
    }
    assert field.outbox("client-4") == ["1"]


def test_a_courier_at_clients(scene: Scene) -> None:
    """They learn of it from the next courier, whoever that is; until then they serve it."""
    field, thief = scene.field, scene.field.one
    revoke(field, "courier-1")
    assert thief.near("client-4")("POST", "/visit", scene.one.orders.snapshot).status == 200
    field.come_home(scene.two)
    later = field.two.depart()
    assert opened(later).revoked == ("courier-1",)
    field.two.visit("client-4", later.snapshot, field.two.model(later))
    near, parcel = thief.near("client-4"), scene.one.parcels[0]
    for call in (
        partial(near, "POST", "/visit", scene.one.orders.snapshot),
        partial(near, "GET", f"/parcels/{parcel.content}"),
        partial(near, "PATCH", f"/models/{opened(later).model}", b"x", {OFFSET: "0"}),
    ):
        check(field, call, 403, "the certificate of courier-1 is revoked")


def test_the_news_is_believed_before_the_model_has_come(scene: Scene) -> None:
    """The link to the courier that brings it may be cut at once."""
    field = scene.field
    revoke(field, "courier-1")
    field.come_home(scene.two)
    later = field.two.depart()
    answer = field.two.near("client-4")("POST", "/visit", later.snapshot)
    assert b"send-model" in answer.content
    near = field.one.near("client-4")
    visit = partial(near, "POST", "/visit", scene.one.orders.snapshot)
    check(field, visit, 403, "the certificate of courier-1 is revoked")


def test_updates_of_a_client(scene: Scene) -> None:
    """They are left out, and are not asked for; others in the same tour count."""
    field = scene.field
    revoke(field, "client-4")
    extra, content = update_of(field.kits, "client-4", sequence=5)
    parcels = (*scene.one.parcels, extra)
    tour = Tour(field.one, scene.one.orders, b"", parcels, (*scene.one.contents, content))
    field.come_home(tour)
    (other,) = (parcel for parcel in scene.one.parcels if parcel.name.client != "client-4")
    assert list(field.server_rows("seen")) == [f"{other.name.client}/{other.name.incarnation}"]
    assert field.server_rows("refused") == {}


def test_a_client_refuses_to_work_once_it_is_revoked(scene: Scene) -> None:
    field = scene.field
    revoke(field, "client-4")
    for tour in (scene.one, scene.two):
        field.come_home(tour)
    orders = field.one.depart()
    assert [stop.client for stop in orders.stops] == ["client-3"]
    near = field.one.near("client-4")
    visit = partial(near, "POST", "/visit", orders.snapshot)
    check(field, visit, 403, "client-4 is revoked")


def test_a_sum_with_an_update_of_a_revoked_client(tmp_path: Path) -> None:
    with out_with_updates(tmp_path, "sum") as scene:
        revoke(scene.field, "client-4")
        sha = hashlib.sha256(b"").hexdigest()
        manifest = replace(scene.manifest, total=sha)
        for send in (scene.field.one.announce, scene.field.one.finish):
            reason = "has an update of a revoked client; void the tour"
            check(scene.field, partial(send, manifest), 422, reason)


def test_the_operator_is_asked_again_and_again(scene: Scene) -> None:
    """To revoke nobody, or what is revoked: nothing changes."""
    field = scene.field
    question = f'{{"run":"{scene.manifest.run}","name":"courier-9"}}'.encode()
    operator = Caller(caller_context(field.kits / "operator"), "server", scene.home.port)
    check_refused(
        field,
        lambda: operator("POST", "/operator/revoke", question),
        404,
        "courier-9 is not a member",
    )
    revoke(field, "courier-1")
    before = field.states(clock=False)
    revoke(field, "courier-1")
    assert field.states(clock=False) == before
