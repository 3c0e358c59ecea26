"""What the server refuses, with nothing changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from msgspec.structs import replace
from small_field import (
    SIZE,
    Server,
    copied,
    manifest_of,
    name_of,
    parcel_of,
    server_with_two_tours,
    sha,
)

from flexpress.field.book_rows import (
    MemberRow,
    ProgressRow,
)
from flexpress.field.messages import (
    Manifest,
    UpdateName,
    digest_of,
)
from flexpress.field.tables import Refused

Request = Callable[[Server], object]


def returned(
    manifest: Manifest, courier: str = "courier-1", refused: tuple[UpdateName, ...] = ()
) -> Request:
    def request(server: Server) -> object:
        return server.accept(courier, manifest, dict.fromkeys(refused, "not finite"))

    return request


def announced(manifest: Manifest, courier: str = "courier-1") -> Request:
    def request(server: Server) -> object:
        return server.book.announce(courier, manifest, digest_of(manifest), lambda _: 0)

    return request


ONE = manifest_of(1, name_of(1))
ACCEPTED = manifest_of(2, name_of(9, "client-3"))
LARGE = replace(ONE, parcels=(replace(ONE.parcels[0], size=SIZE + 1),))
EARLY = replace(ONE, parcels=(parcel_of(name_of(1), tour=5),))
MANIFESTS: dict[str, tuple[Manifest, int, str]] = {
    "of another run": (replace(ONE, run="6" * 32), 403, "another run"),
    "of no tour": (manifest_of(7), 410, "no tour 7"),
    "of another courier's tour": (manifest_of(2, name_of(1)), 403, "not one of courier-1"),
    "with a sum": (manifest_of(1, name_of(1), total=sha("sum")), 422, "updates as parcel"),
    "with an update twice": (manifest_of(1, name_of(1), name_of(1)), 422, "twice"),
    "of a client nobody knows": (manifest_of(1, name_of(1, "client-9")), 422, "not a client"),
    "of a courier's own update": (manifest_of(1, name_of(1, "courier-2")), 422, "not a client"),
    "with a content too large": (LARGE, 413, "must have 8 bytes"),
    "with a model of a tour to come": (EARLY, 422, "no tour 5"),
}


def cases() -> Iterator[tuple[str, Request, int, str]]:
    for what, (manifest, status, match) in MANIFESTS.items():
        yield f"return {what}", returned(manifest), status, match
        yield f"announce {what}", announced(manifest), status, match
    other = manifest_of(2, name_of(8, "client-3"))
    yield "other manifest", returned(other, "courier-2"), 409, "another manifest"
    yield "return void", returned(manifest_of(3), "courier-3"), 410, "void"
    yield "announce void", announced(manifest_of(3), "courier-3"), 410, "void"
    yield "return by revoked", returned(manifest_of(4), "courier-4"), 403, "revoked"
    yield "return by client", returned(ONE, "client-1"), 403, "not a courier"
    yield "depart revoked", lambda server: server.book.depart("courier-4"), 403, "revoked"
    yield "depart client", lambda server: server.book.depart("client-1"), 403, "not a courier"
    yield "depart stranger", lambda server: server.book.depart("courier-9"), 403, "not a courier"
    yield "content", lambda server: server.book.expects("courier-1", 1, sha(1)), 404, "manifest"
    yield "closed", lambda server: server.book.expects("courier-2", 2, sha(1)), 410, "closed"
    yield "not own", lambda server: server.book.expects("courier-1", 2, sha(1)), 403, "not one"
    yield "void accepted", lambda server: server.book.void(2), 409, "was accepted"
    yield "void nothing", lambda server: server.book.void(9), 404, "no tour"
    yield "void no round", lambda server: server.book.void_round("courier-5"), 404, "no round"
    yield "release out", lambda server: server.book.release("courier-1", 1, 0), 409, "cannot follow"
    yield "release skips", lambda server: server.book.release("courier-6", 1, 0), 409, "cannot"
    yield "release old", lambda server: server.book.release("courier-2", 0, 1), 404, "no version 1"
    yield "release client", lambda server: server.book.release("client-1", 0, 0), 404, "courier"
    yield "unmerged", lambda server: merged(server, 1, "courier-1/0"), 404, "not brought"
    yield "version", lambda server: merged(server, 2, "courier-2/0"), 409, "does not follow"
    yield "unknown", lambda server: server.book.revoke("client-9"), 404, "not a member"
    back = MemberRow("courier")
    yield "role", lambda server: server.book.enrol("client-1", back), 409, "keeps its role"
    yield "revoked", lambda server: server.book.enrol("courier-4", back), 409, "stays revoked"


def merged(server: Server, version: int, home: str) -> object:
    return server.book.merged(version, sha(version), [home], ProgressRow())


CASES = list(cases())


@pytest.mark.parametrize(
    ("request_", "status", "match"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_refused(request_: Request, status: int, match: str) -> None:
    """Tour 1 is open, tour 2 accepted, tour 3 void; courier-4 is revoked, courier-5 at home.

    courier-6 may depart.
    """
    server = server_with_two_tours()
    server.accept("courier-2", ACCEPTED)
    for courier in ("courier-3", "courier-4", "courier-5"):
        server.enrol(courier, MemberRow("courier"))
    for courier in ("courier-3", "courier-4"):
        server.release(courier, 0)
        server.depart(courier)
    server.enrol("courier-6", MemberRow("courier"))
    server.release("courier-6", 0)
    server.void(3)
    server.revoke("courier-4")
    before = copied(server.tables)
    with pytest.raises(Refused, match=match) as caught:
        request_(server)
    assert caught.value.status == status
    assert server.tables == before


SUMS: dict[str, tuple[Request, str]] = {
    "without its sum": (returned(manifest_of(1, name_of(1))), "updates as sum"),
    "with a sum of nothing": (returned(manifest_of(1, total=sha("sum"))), "updates as sum"),
    "with what was seen": (
        returned(manifest_of(1, name_of(9), name_of(1), total=sha("sum"))),
        "an update twice; void the tour",
    ),
    "with a revoked client": (
        returned(manifest_of(1, name_of(1, "client-2"), total=sha("sum"))),
        "revoked client; void the tour",
    ),
    "with an update that is worth nothing": (
        returned(manifest_of(1, name_of(1), total=sha("sum")), refused=(name_of(1),)),
        "/1 in the sum is not what its client has signed; void the tour",
    ),
    "of another digest": (
        lambda server: server.book.accept(
            "courier-1", manifest_of(1, name_of(1), total=sha("sum")), sha(0), sha("other"), {}
        ),
        "not the one in the manifest",
    ),
}


@pytest.mark.parametrize("what", SUMS)
def test_a_sum_cannot_be_taken_apart(what: str) -> None:
    server = server_with_two_tours("sum")
    server.accept("courier-2", manifest_of(2, name_of(9), total=sha("sum")))
    server.revoke("client-2")
    before = copied(server.tables)
    request, match = SUMS[what]
    with pytest.raises(Refused, match=match) as caught:
        request(server)
    assert caught.value.status == 422
    assert server.tables == before
