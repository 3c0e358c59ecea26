"""What a client's port refuses: the answer, and the whole state before and after."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from besieged import Field, Tour, besieged, check_refused
from callers import Answer, Caller, opened
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from msgspec.structs import replace
from strangers import stranger

from flexpress.field.identity import load_key
from flexpress.field.messages import SignedSnapshot, Snapshot, VisitAnswer, decode, encode
from flexpress.field.parts import OFFSET
from flexpress.field.sealing import sign_snapshot

NOT_HERE = "0" * 64


@dataclass(frozen=True)
class Scene:
    """Courier-1 has been at client-4 with tours 1 and 3; the next tour, 5, brings a new model."""

    field: Field
    oldest: Tour
    old: Tour
    other: Tour
    snapshot: SignedSnapshot

    @property
    def client(self) -> Caller:
        """As courier-1. The client waits for the model of tour 5."""
        return self.field.one.near("client-4")


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with besieged(tmp_path_factory.mktemp("field")) as field:
        tours = []
        for courier in (field.one, field.two) * 2:
            tours.append(field.fly(courier))
            field.come_home(tours[-1])
        orders = field.one.depart()
        oldest, _, old, other = tours
        scene = Scene(field, oldest, old, other, orders.snapshot)
        assert b"send-model" in scene.client("POST", "/visit", orders.snapshot).content
        yield scene


Attack = Callable[[Scene], Answer]
Case = tuple[Attack, int, str]


def check(scene: Scene, attack: Attack, status: int, reason: str) -> None:
    check_refused(scene.field, lambda: attack(scene), status, reason)


# Who calls

STRANGERS = {
    "nobody": (0, ""),
    "of another authority": (0, ""),
    "self-signed": (0, ""),
    "expired": (0, ""),
    "of an old protocol": (0, ""),
    "a client that calls itself courier": (0, ""),
    "client-1": (0, ""),
    "server": (0, ""),
    "without a role": (403, "does not name a member and its role"),
    "with two names": (403, "does not name a member and its role"),
    "never enrolled": (403, "the snapshot is for courier-1, not for courier-9"),
    "operator": (403, "operator is a operator; this port is for a courier"),
    "courier-2": (403, "the snapshot is for courier-1, not for courier-2"),
}


@pytest.mark.parametrize("kind", STRANGERS)
def test_strangers(scene: Scene, tmp_path: Path, kind: str) -> None:
    """With a snapshot that the server has signed."""
    caller = Caller(stranger(scene.field.kits, tmp_path, kind), "client-4", scene.client.port)
    check(scene, lambda s: caller("POST", "/visit", s.snapshot), *STRANGERS[kind])


# Snapshots


def shown(snapshot: Callable[[Scene], SignedSnapshot]) -> Attack:
    return lambda scene: scene.client("POST", "/visit", snapshot(scene))


def read(scene: Scene) -> Snapshot:
    return decode(scene.snapshot.snapshot.encode(), Snapshot)


def forged(**changes: object) -> Attack:
    """The text is changed, and the signature is that of the server for another one."""

    def snapshot(scene: Scene) -> SignedSnapshot:
        text = encode(replace(read(scene), **changes)).decode()
        return SignedSnapshot(text, scene.snapshot.signature)

    return shown(snapshot)


def signed_by(key_of: Callable[[Scene], Ed25519PrivateKey], **changes: object) -> Attack:
    return shown(lambda scene: sign_snapshot(key_of(scene), replace(read(scene), **changes)))


def key_of(name: str) -> Callable[[Scene], Ed25519PrivateKey]:
    return lambda scene: load_key(scene.field.kits / name)


def raw(change: Callable[[bytes], bytes]) -> Attack:
    return lambda scene: scene.client("POST", "/visit", change(encode(scene.snapshot)))


NO_SIGNATURE = "the signature is not of this content, or not by this key"

SNAPSHOTS: dict[str, Case] = {
    "another model": (forged(model=NOT_HERE), 403, NO_SIGNATURE),
    "another tour": (forged(tour=6, next_tour=7, open_tours=(6,)), 403, NO_SIGNATURE),
    "another courier": (forged(courier="courier-2"), 403, NO_SIGNATURE),
    "signed by a courier": (signed_by(key_of("courier-1")), 403, NO_SIGNATURE),
    "signed by the client itself": (signed_by(key_of("client-4")), 403, NO_SIGNATURE),
    "signed by anybody": (signed_by(lambda _: Ed25519PrivateKey.generate()), 403, NO_SIGNATURE),
    "of another run": (
        signed_by(key_of("server"), run="0" * 32),
        403,
        NO_SIGNATURE,
    ),
    "no signature": (raw(lambda body: body.replace(b'"signature"', b'"x"')), 422, "not a Signed"),
    "an unknown field": (raw(lambda body: body[:-1] + b',"x":1}'), 422, "unknown field `x`"),
    "one space more": (raw(lambda body: body.replace(b'"{', b'" {', 1)), 403, NO_SIGNATURE),
    "cut off": (raw(lambda body: body[:-2]), 422, "not a SignedSnapshot"),
    "nothing": (raw(lambda body: b""), 422, "not a SignedSnapshot"),
    "half a character": (raw(lambda body: body.replace(b"run", b"\xc3", 1)), 422, "not a Signed"),
    "half a pair": (raw(lambda body: body.replace(b'"{', b'"\\ud800{', 1)), 422, "not a Signed"),
    "an old one": (shown(lambda scene: scene.oldest.orders.snapshot), 410, "tour 1 is closed"),
    "one of another courier": (
        shown(lambda scene: scene.other.orders.snapshot),
        403,
        "the snapshot is for courier-2, not for courier-1",
    ),
    "too long": (
        lambda scene: scene.client.raw(
            b"POST /visit HTTP/1.1\r\nHost: client-4\r\nContent-Length: 16777217\r\n\r\n"
        ),
        413,
        "must be at most 16,777,216",
    ),
}


@pytest.mark.parametrize("name", SNAPSHOTS)
def test_snapshots(scene: Scene, name: str) -> None:
    check(scene, *SNAPSHOTS[name])


def test_the_last_one_again(scene: Scene) -> None:
    """The client does not know yet that its tour is closed: it repeats what it said."""
    before = scene.field.states()
    answer = scene.client("POST", "/visit", scene.old.orders.snapshot)
    assert decode(answer.content, VisitAnswer).parcels == scene.old.parcels[:1]
    assert scene.field.states() == before


# Models


def pushed(content: bytes, offset: str = "0", sha: str | None = None) -> Attack:
    def attack(scene: Scene) -> Answer:
        path = f"/models/{sha or read(scene).model}"
        return scene.client("PATCH", path, content, {OFFSET: offset})

    return attack


def old_model(scene: Scene) -> Answer:
    return scene.client("PATCH", f"/models/{opened(scene.old.orders).model}", scene.old.model)


def in_chunks(scene: Scene) -> Answer:
    headers = {OFFSET: "0", "Transfer-Encoding": "chunked"}
    return scene.client("PATCH", f"/models/{read(scene).model}", iter([b"x"]), headers)


SIZE = 31_400

MODELS: dict[str, Case] = {
    "one that nobody has named": (pushed(b"x", sha=NOT_HERE), 404, "no snapshot has named"),
    "the one before": (old_model, 404, "no snapshot has named this model"),
    "a path": (pushed(b"x", sha="..%2F..%2Fkey.pem"), 404, "no snapshot has named"),
    "a path to a kit": (pushed(b"x", sha="../../kit.json"), 404, "Not Found"),
    "too long": (pushed(bytes(SIZE + 1)), 413, "31,401 bytes: were announced as 31,400"),
    "of other bytes": (pushed(bytes(SIZE)), 422, "send it again from the beginning"),
    "from the middle": (pushed(b"x", "1"), 409, "Upload-Offset must be 0"),
    "from before the beginning": (pushed(b"x", "-1"), 409, "Upload-Offset must be 0"),
    "without a length": (in_chunks, 411, "Content-Length is missing"),
}


@pytest.mark.parametrize("name", MODELS)
def test_models(scene: Scene, name: str) -> None:
    check(scene, *MODELS[name])


# Parcels

PATHS = {
    "no parcel": NOT_HERE,
    "the model on board": "{model}",
    "a part": "{parcel}.part",
    "capitals": "{PARCEL}",
    "the key": "..%2F..%2Fkey.pem",
    "the samples": "..%2Fdata.npz",
    "from the root": "%2Fetc%2Fpasswd",
    "the database": "field.db",
    "a line after it": "{parcel}%0A",
}


@pytest.mark.parametrize("name", PATHS)
def test_paths(scene: Scene, name: str) -> None:
    sha = scene.old.parcels[0].content
    model = opened(scene.old.orders).model
    path = PATHS[name].format(parcel=sha, PARCEL=sha.upper(), model=model)
    check(scene, lambda s: s.client("GET", f"/parcels/{path}"), 404, "")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "HEAD", "PATCH", "OPTIONS"])
def test_parcels_can_only_be_read(scene: Scene, method: str) -> None:
    sha = scene.old.parcels[0].content
    check(scene, lambda s: s.client(method, f"/parcels/{sha}"), 405, "")


@pytest.mark.parametrize("text", ["bytes=-5", "bytes=5-3", "bytes=99999-", "bytes=0-1,3-4", "x"])
def test_ranges(scene: Scene, text: str) -> None:
    sha = scene.old.parcels[0].content
    headers = {"Range": text}
    check(scene, lambda s: s.client("GET", f"/parcels/{sha}", None, headers), 416, "no such range")


def test_what_is_asked_for_again_is_the_same(scene: Scene) -> None:
    """The tests above ask for nothing that could be had."""
    parcel, content = scene.old.parcels[0], scene.old.contents[0]
    assert scene.field.one.take("client-4", parcel) == content
