"""Who steals a courier can hold things up. He can neither forge, nor read, nor lose an update.

He has its key, its certificate, and all that it carries: the global model, which is not secret from
couriers; addresses; names and numbers of updates with the digests of their vectors (so that he can
tell whether he has guessed one right), and their sealed contents.
"""

from __future__ import annotations

import hashlib
import ssl
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from besieged import Field, Tour, check_refused
from callers import opened, until
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from forging import tampered, update_of
from handshakes import shake_hands
from msgspec.structs import replace
from stolen import Theft, stolen

from flexpress.field.identity import UntrustedError, load_key
from flexpress.field.kit import STATE
from flexpress.field.messages import Parcel, SignedSnapshot, encode
from flexpress.field.operator import operate
from flexpress.field.parts import OFFSET
from flexpress.field.sealing import sign_snapshot, unseal
from flexpress.field.store import Files
from flexpress.field.tls import caller_context, server_context


@pytest.fixture(scope="module")
def theft(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Theft]:
    """For tests that leave all as it is."""
    with stolen(tmp_path_factory.mktemp("field")) as theft:
        yield theft


@pytest.fixture
def new_theft(tmp_path: Path) -> Iterator[Theft]:
    with stolen(tmp_path) as theft:
        yield theft


def model_of(field: Field, version: int) -> bytes:
    until(lambda: field.server.said("merged", version=version))
    row = field.server_rows("versions")[str(version)]
    return Files(field.kits / "server" / STATE).read(row.split('"')[3])


def after(model: bytes, *sums: np.ndarray) -> bytes:
    """The model that the server must have after these."""
    total = sums[0].copy()
    for each in sums[1:]:
        total += each
    return (np.frombuffer(model, "<f4") - total / 4).tobytes()


# A model


def test_he_cannot_bring_another_model(theft: Theft) -> None:
    """Not under its name, and not with a snapshot that names it."""
    field, thief = theft.field, theft.thief
    snapshot = opened(theft.tour.orders)
    other = bytes(len(theft.tour.model))
    named = replace(snapshot, model=hashlib.sha256(other).hexdigest(), tour=9, open_tours=(9,))
    for forged in (
        sign_snapshot(load_key(theft.kit), named),
        SignedSnapshot(encode(named).decode(), theft.tour.orders.snapshot.signature),
    ):
        visit = partial(thief.near("client-4"), "POST", "/visit", forged)
        check_refused(field, visit, 403, "the signature is not of this content")
    for sha in (snapshot.model, named.model):
        near, headers = thief.near("client-4"), {OFFSET: "0"}
        push = partial(near, "PATCH", f"/models/{sha}", other, headers)
        check_refused(field, push, 404, "no snapshot has named this model")


def test_he_cannot_spoil_the_model_that_comes(new_theft: Theft) -> None:
    """He fills it with his bytes; the next courier still brings the right one."""
    theft, field = new_theft, new_theft.field
    for tour in (theft.tour, theft.other):
        field.come_home(tour)
    orders = theft.thief.depart()
    model, sha = theft.thief.model(orders), opened(orders).model
    near = theft.thief.near("client-4")
    assert b"send-model" in near("POST", "/visit", orders.snapshot).content
    assert near("PATCH", f"/models/{sha}", bytes(len(model)), {OFFSET: "0"}).status == 422
    assert near("PATCH", f"/models/{sha}", bytes(1000), {OFFSET: "0"}).status == 204
    honest = field.one  # the same tour, by the owner
    pushed = honest.push(honest.near("client-4"), f"/models/{sha}", model, 1000)
    assert pushed.status == 422  # what he left is thrown away with it, and it is sent again
    answer = honest.visit("client-4", orders.snapshot, model)
    assert len(answer.parcels) == 1
    assert Files(field.kits / "client-4" / STATE).read(sha) == model


def test_he_cannot_pose_as_the_server_or_as_a_client(theft: Theft) -> None:
    """A certificate of a courier calls; it does not answer."""
    calling = caller_context(theft.field.kits / "courier-2")
    for name in ("server", "client-4", "courier-1"):
        with pytest.raises(ssl.SSLCertVerificationError, match="certificate purpose"):
            shake_hands(server_context(theft.kit), calling, name)


def test_he_cannot_turn_a_client_back(theft: Theft) -> None:
    """All that he can show are snapshots of its own tours: an old one changes nothing."""
    field = theft.field
    before = field.states()
    again = theft.thief.near("client-4")("POST", "/visit", theft.tour.orders.snapshot)
    assert again.status == 200
    assert field.states() == before
    visit = partial(theft.thief.near("client-4"), "POST", "/visit", theft.other.orders.snapshot)
    check_refused(field, visit, 403, "the snapshot is for courier-2, not for courier-1")


# An update


def forgeries(theft: Theft) -> list[tuple[Parcel, bytes]]:
    """All that he can make out of what he has."""
    (first, second), (one, two) = theft.tour.parcels, theft.tour.contents
    own = load_key(theft.kit)
    return [
        update_of(theft.field.kits, "client-1", key=own),
        (replace(first, name=replace(first.name, sequence=2)), one),
        (replace(first, steps=100, name=replace(first.name, sequence=3)), one),
        (replace(first, content=second.content), two),
        tampered(second, two),
    ]


def test_he_cannot_forge_or_alter_an_update(new_theft: Theft) -> None:
    """His tour is accepted, and brings nothing; the clients keep theirs, and they count later."""
    theft, field = new_theft, new_theft.field
    forged = forgeries(theft)
    parcels, contents = zip(*forged, strict=True)
    tour = Tour(theft.thief, theft.tour.orders, b"", parcels, contents)
    field.come_home(tour)
    assert field.server_rows("seen") == {}
    assert len(field.server.said("unproven")) == len(forged)
    field.come_home(theft.other)
    model = after(theft.tour.model, field.sum_of(theft.other))
    assert model_of(field, 1) == model
    assert field.outbox("client-4") == field.outbox("client-3") == ["1"]


def test_he_cannot_make_a_client_forget(new_theft: Theft) -> None:
    """What he has kept, or spoilt, the client hands over again, and it counts once."""
    theft, field = new_theft, new_theft.field
    kept = replace(theft.tour.manifest(), parcels=())
    theft.thief.bring(kept)
    field.come_home(theft.other)
    model = model_of(field, 1)
    tours = [field.fly(field.one), field.fly(field.two)]
    again = {parcel.name for parcel in tours[0].parcels}
    assert {parcel.name for parcel in theft.tour.parcels} < again
    for parcel, content in zip(theft.tour.parcels, theft.tour.contents, strict=True):
        assert content in tours[0].contents  # the very bytes
        assert parcel in tours[0].parcels
    for tour in tours:
        field.come_home(tour)
    assert model_of(field, 2) == after(model, *(field.sum_of(tour) for tour in tours))


def test_he_cannot_have_an_update_counted_twice(new_theft: Theft) -> None:
    """He brings what the owner has brought, in the same tour and in the next."""
    theft, field = new_theft, new_theft.field
    receipt = field.come_home(theft.tour)
    assert field.come_home(theft.tour) == receipt
    some = replace(theft.tour.manifest(), parcels=theft.tour.parcels[:1])
    assert theft.thief.finish(some).status == 409
    field.come_home(theft.other)
    model = model_of(field, 1)
    assert model == after(theft.tour.model, field.sum_of(theft.tour), field.sum_of(theft.other))
    orders = theft.thief.depart()
    replay = Tour(theft.thief, orders, b"", theft.tour.parcels, theft.tour.contents)
    field.come_home(replay)
    theft.other.courier.bring(replace(theft.other.manifest(), tour=opened(field.two.depart()).tour))
    assert model_of(field, 2) == model


def test_he_cannot_have_an_update_counted_twice_by_another_courier(new_theft: Theft) -> None:
    """The owner's tour is void, so its client hands over the update again, to courier-2."""
    theft, field = new_theft, new_theft.field
    operate(field.kits / "operator", "void", str(theft.tour.number))
    field.come_home(theft.other)
    model = model_of(field, 1)
    orders = theft.thief.depart()
    visited = field.two.depart()
    leftover = field.two.visit("client-4", visited.snapshot, field.two.model(visited)).parcels
    contents = [field.two.take("client-4", parcel) for parcel in leftover]
    assert theft.tour.parcels[0] in leftover
    replay = Tour(theft.thief, orders, b"", theft.tour.parcels[:1], theft.tour.contents[:1])
    field.come_home(replay)
    honest = Tour(field.two, visited, b"", leftover, tuple(contents))
    field.come_home(honest)
    new = [parcel for parcel in leftover if parcel not in theft.tour.parcels]
    rest = Tour(
        field.two, visited, b"", tuple(new), tuple(contents[leftover.index(p)] for p in new)
    )
    assert model_of(field, 2) == after(model, field.sum_of(replay), field.sum_of(rest))


# What he can read


def vector_of(theft: Theft, number: int) -> bytes:
    parcels, contents = theft.tour.parcels, theft.tour.contents
    only = Tour(theft.thief, theft.tour.orders, b"", (parcels[number],), (contents[number],))
    return theft.field.sum_of(only).tobytes()


def test_he_cannot_read_parcels(theft: Theft) -> None:
    """Nothing that he has contains a piece of the updates, or opens a box."""
    own = X25519PrivateKey.from_private_bytes(load_key(theft.kit).private_bytes_raw())
    for number, content in enumerate(theft.tour.contents):
        vector = vector_of(theft, number)
        assert hashlib.sha256(vector).hexdigest() == theft.tour.parcels[number].vector
        for file in theft.files():
            assert not any(piece in file for piece in pieces(vector))
        for associated in (b"", encode(theft.tour.parcels[number])):
            with pytest.raises(UntrustedError, match="does not open"):
                unseal(own, content, associated)


def pieces(vector: bytes) -> list[bytes]:
    """Sixteen bytes each; those of zeros are everywhere."""
    found = [vector[start : start + 16] for start in range(0, len(vector) - 16, 16)]
    return [piece for piece in found if piece.count(0) < 8]


def test_a_sum_is_trusted_to_its_courier(tmp_path: Path) -> None:
    """What `sum` gives away: the thief reads updates, brings a sum of his own, and loses updates.

    The server can check who has signed which names, but not what was added.
    """
    with stolen(tmp_path, "sum") as theft:
        field = theft.field
        vector = theft.tour.contents[0]
        assert hashlib.sha256(vector).hexdigest() == theft.tour.parcels[0].vector
        assert any(vector in file for file in theft.files())
        forged = np.full(len(vector) // 4, 2.0, "<f4")
        sha = hashlib.sha256(forged.tobytes()).hexdigest()
        theft.thief.bring(theft.tour.manifest(sha), forged.tobytes())
        total = field.sum_of(theft.other)
        field.two.bring(
            theft.other.manifest(hashlib.sha256(total.tobytes()).hexdigest()), total.tobytes()
        )
        assert model_of(field, 1) == after(theft.tour.model, forged, total)
        orders = field.one.depart()
        parcels = field.one.visit("client-4", orders.snapshot, field.one.model(orders)).parcels
        assert theft.tour.parcels[0] not in parcels  # the client has forgotten it


# What ends it


def test_what_he_has_taken_is_not_lost(new_theft: Theft) -> None:
    """He visits all clients and vanishes. The operator revokes him, and others bring it all."""
    theft, field = new_theft, new_theft.field
    operate(field.kits / "operator", "revoke", "courier-1")
    assert theft.thief.finish(theft.tour.manifest()).status == 403
    field.come_home(theft.other)
    model = model_of(field, 1)
    orders = field.two.depart()
    found: list[Parcel] = []
    contents: list[bytes] = []
    for client in ("client-4", "client-3"):
        answer = field.two.visit(client, orders.snapshot, field.two.model(orders))
        found += answer.parcels
        contents += [field.two.take(client, parcel) for parcel in answer.parcels]
    assert {*theft.tour.parcels} < {*found}
    tour = Tour(field.two, orders, b"", tuple(found), tuple(contents))
    field.come_home(tour)
    assert model_of(field, 2) == after(model, field.sum_of(tour))


def test_what_remains_until_clients_hear_of_it(new_theft: Theft) -> None:
    """At clients that have not heard of it: his last snapshot, and what it has bound already.

    He gets no new snapshot. A client that he has not visited would still start from the model of
    his last tour, which is a genuine one, and hand him sealed parcels: each client once.
    """
    theft, field, thief = new_theft, new_theft.field, new_theft.thief
    operate(field.kits / "operator", "revoke", "courier-1")
    assert thief.home("POST", "/courier/depart", b'{"run":"%s"}' % thief.run.encode()).status == 403
    before = field.states(clock=False)
    near, parcel = thief.near("client-4"), theft.tour.parcels[0]
    assert near("POST", "/visit", theft.tour.orders.snapshot).status == 200
    assert near("GET", f"/parcels/{parcel.content}").content == theft.tour.contents[0]
    assert field.states(clock=False) == before
    field.come_home(theft.other)
    later = field.two.depart()
    field.two.visit("client-4", later.snapshot, field.two.model(later))
    for call in (
        partial(near, "POST", "/visit", theft.tour.orders.snapshot),
        partial(near, "GET", f"/parcels/{parcel.content}"),
    ):
        check_refused(field, call, 403, "the certificate of courier-1 is revoked", clock=False)
