"""What the server's port refuses: the answer, and the whole state before and after."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from besieged import check_refused
from callers import Answer, Caller
from msgspec.structs import replace
from scenes import Scene, out_with_updates
from strangers import stranger

from flexpress.field.kit import Entry
from flexpress.field.messages import Departing, Manifest, encode
from flexpress.field.operator import Enrol, Question, Revoke, Void

OTHER_RUN = "0" * 32
NOT_HERE = "0" * 64


Attack = Callable[[Scene], Answer]
Case = tuple[Attack, int, str]


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with out_with_updates(tmp_path_factory.mktemp("field")) as scene:
        yield scene


def check(scene: Scene, attack: Attack, status: int, reason: str) -> None:
    check_refused(scene.field, lambda: attack(scene), status, reason)


# Who calls

NO_TLS = 0, ""  # the connection ends in the handshake; see also test_identity.py

STRANGERS = {
    "nobody": NO_TLS,
    "of another authority": NO_TLS,
    "self-signed": NO_TLS,
    "expired": NO_TLS,
    "of an old protocol": NO_TLS,
    "a client that calls itself courier": NO_TLS,
    "client-1": NO_TLS,
    "server": NO_TLS,
    "without a role": (403, "does not name a member and its role"),
    "with two names": (403, "does not name a member and its role"),
    "never enrolled": (403, "courier-9 is not a courier of this run"),
    "operator": (403, "operator is a operator; this port is for a courier"),
}


@pytest.mark.parametrize("kind", STRANGERS)
def test_strangers(scene: Scene, tmp_path: Path, kind: str) -> None:
    """With what a courier would say."""
    caller = Caller(stranger(scene.field.kits, tmp_path, kind), "server", scene.home.port)
    run, number = scene.manifest.run, scene.manifest.tour
    status, reason = STRANGERS[kind]
    check(scene, lambda _: caller("POST", "/courier/depart", Departing(run)), status, reason)
    for path in ("manifest", "return"):
        answer = caller("POST", f"/courier/tours/{number}/{path}", scene.manifest)
        assert answer.status == status


def test_without_tls(scene: Scene) -> None:
    before = scene.field.states()
    answer = Caller(None, "server", scene.home.port).raw(b"POST /courier/depart HTTP/1.1\r\n\r\n")
    assert answer.status == 0
    assert scene.field.states() == before


def operator_says(action: str, question: Question) -> Case:
    return (
        lambda scene: scene.home("POST", f"/operator/{action}", question),
        403,
        "courier-1 is a courier; this port is for a operator",
    )


ENTRY = Entry("courier-1", "courier", "0" * 64, 1)

ROLES: dict[str, Case] = {
    f"courier: {action}": operator_says(action, question)
    for action, question in {
        "status": Question(OTHER_RUN),
        "void": Void(OTHER_RUN, "courier-2"),
        "revoke": Revoke(OTHER_RUN, "courier-2"),
        "enrol": Enrol(OTHER_RUN, ENTRY),
        "stop": Question(OTHER_RUN),
    }.items()
}


@pytest.mark.parametrize("name", ROLES)
def test_roles(scene: Scene, name: str) -> None:
    check(scene, *ROLES[name])


@pytest.mark.parametrize("action", ["status", "void", "revoke", "enrol", "stop"])
def test_an_operator_of_another_mission(scene: Scene, action: str, tmp_path: Path) -> None:
    questions = {"void": Void(OTHER_RUN, "3"), "revoke": Revoke(OTHER_RUN, "courier-1")}
    question = {**questions, "enrol": Enrol(OTHER_RUN, ENTRY)}.get(action, Question(OTHER_RUN))
    context = stranger(scene.field.kits, tmp_path, "operator")
    caller = Caller(context, "server", scene.home.port)
    check(
        scene,
        lambda _: caller("POST", f"/operator/{action}", question),
        403,
        "another mission",
    )


# Whose tour


def sent(manifest: Callable[[Scene], Manifest], path: str = "{tour}") -> Callable[[str], Attack]:
    """A manifest to the addresses that take one."""

    def attack_at(end: str) -> Attack:
        def attack(scene: Scene) -> Answer:
            made = manifest(scene)
            place = path.format(tour=made.tour)
            return scene.home("POST", f"/courier/tours/{place}/{end}", made)

        return attack

    return attack_at


def first_parcel(**changes: object) -> Callable[[Scene], Manifest]:
    def manifest(scene: Scene) -> Manifest:
        first, *others = scene.manifest.parcels
        return replace(scene.manifest, parcels=(replace(first, **changes), *others))

    return manifest


def renamed(client: str) -> Callable[[Scene], Manifest]:
    def manifest(scene: Scene) -> Manifest:
        name = scene.manifest.parcels[0].name
        return first_parcel(name=replace(name, client=client))(scene)

    return manifest


MANIFESTS: dict[str, tuple[Callable[[str], Attack], int, str]] = {
    "another courier's tour": (sent(lambda s: s.two.manifest()), 403, "not one of courier-1"),
    "another run": (
        sent(lambda s: replace(s.manifest, run=OTHER_RUN)),
        403,
        "the manifest is of another run",
    ),
    "no such tour": (sent(lambda s: replace(s.manifest, tour=99)), 410, "there is no tour 99"),
    "another number in the address": (
        sent(lambda s: s.manifest, "4"),
        422,
        "the manifest is of tour 3",
    ),
    "a word in the address": (sent(lambda s: s.manifest, "x"), 422, "the manifest is of tour 3"),
    "a tour that is closed": (
        sent(lambda s: replace(s.manifest, tour=1)),
        409,
        "tour 1 was accepted with another manifest",
    ),
    "an update twice": (
        sent(lambda s: replace(s.manifest, parcels=s.manifest.parcels[:1] * 2)),
        422,
        "the manifest has an update twice",
    ),
    "an update of nobody": (sent(renamed("client-9")), 422, "client-9 is not a client"),
    "an update of a courier": (sent(renamed("courier-1")), 422, "courier-1 is not a client"),
    "an update of tomorrow": (sent(first_parcel(tour=99)), 422, "there is no tour 99"),
    "an update that is too long": (sent(first_parcel(size=31449)), 413, "must have 31,448 bytes"),
    "an update that is too short": (sent(first_parcel(size=31447)), 413, "must have 31,448 bytes"),
    "a sum": (
        sent(lambda s: replace(s.manifest, total=NOT_HERE)),
        422,
        "this run carries updates as parcel",
    ),
}


@pytest.mark.parametrize("end", ["manifest", "return"])
@pytest.mark.parametrize("name", MANIFESTS)
def test_manifests(scene: Scene, name: str, end: str) -> None:
    attack_at, status, reason = MANIFESTS[name]
    check(scene, attack_at(end), status, reason)


def test_home_before_the_contents_are(scene: Scene) -> None:
    check(scene, lambda s: s.one.courier.finish(s.manifest), 422, "has not arrived")


def test_the_same_return_again(scene: Scene) -> None:
    """A replay of what was accepted: the same receipt, and nothing else."""
    before = scene.field.states()
    for tour, courier in ((1, scene.field.one), (2, scene.field.two)):
        empty = replace(scene.manifest, tour=tour, parcels=())
        assert [courier.finish(empty).status for _ in range(2)] == [200, 200]
    assert scene.field.states() == before


# What is said


def said(path: str, body: bytes) -> Attack:
    return lambda scene: scene.home("POST", path, body)


def spoilt(change: Callable[[bytes], bytes], path: str = "return") -> Attack:
    def attack(scene: Scene) -> Answer:
        body = change(encode(scene.manifest))
        return scene.home("POST", f"/courier/tours/3/{path}", body)

    return attack


def in_chunks(path: str, num_bytes: int) -> Attack:
    """Without a length."""

    def attack(scene: Scene) -> Answer:
        chunks = itertools.repeat(b" " * 2**16, num_bytes // 2**16)
        return scene.home("POST", path, iter(chunks), {"Transfer-Encoding": "chunked"})

    return attack


def with_length(path: str, length: int) -> Attack:
    """That many bytes are promised; none of them comes."""
    head = f"POST {path} HTTP/1.1\r\nHost: server\r\nContent-Length: {length}\r\n"
    return lambda scene: scene.home.raw(f"{head}Connection: close\r\n\r\n".encode())


DEPART = "/courier/depart"

WORDS: dict[str, Case] = {
    "nothing": (said(DEPART, b""), 422, "not a Departing"),
    "no object": (said(DEPART, b"[]"), 422, "not a Departing"),
    "no text": (said(DEPART, b"\xff\xfe\x00"), 422, "not a Departing"),
    "two objects": (said(DEPART, b"{}{}"), 422, "not a Departing"),
    "a depth of 100,000": (said(DEPART, b'{"x":' + b"[" * 100_000), 422, "not a Departing"),
    "an unknown field": (
        said(DEPART, b'{"run":"' + b"0" * 32 + b'","x":1}'),
        422,
        "unknown field `x`",
    ),
    "another run": (said(DEPART, encode(Departing(OTHER_RUN))), 403, "is another mission"),
    "a run of another length": (said(DEPART, b'{"run":"00"}'), 422, "not a Departing"),
    "a run and a line": (said(DEPART, b'{"run":"' + b"0" * 32 + b'\\n"}'), 422, "not a Departing"),
    "too much": (with_length(DEPART, 2**24 + 1), 413, "must be at most 16,777,216"),
    "too much, in chunks": (in_chunks(DEPART, 2**24 + 2**17), 413, "at most 16,777,216"),
    "a manifest that is cut off": (spoilt(lambda body: body[:-1]), 422, "not a Manifest"),
    "a manifest with an unknown field": (
        spoilt(lambda body: body.replace(b'"steps"', b'"x":0,"steps"', 1)),
        422,
        "unknown field `x`",
    ),
    "a manifest with NaN": (
        spoilt(lambda body: body.replace(b'"steps":1', b'"steps":NaN', 1)),
        422,
        "not a Manifest",
    ),
    "a manifest with steps below 0": (
        spoilt(lambda body: body.replace(b'"steps":1', b'"steps":-1', 1)),
        422,
        "not a Manifest",
    ),
    "a manifest with text for a number": (
        spoilt(lambda body: body.replace(b'"steps":1', b'"steps":"1"', 1)),
        422,
        "not a Manifest",
    ),
    "a huge manifest": (with_length("/courier/tours/3/return", 2**27), 413, "must be at most"),
}


@pytest.mark.parametrize("name", WORDS)
def test_words(scene: Scene, name: str) -> None:
    check(scene, *WORDS[name])


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "OPTIONS", "TRACE"])
def test_methods(scene: Scene, method: str) -> None:
    check(scene, lambda s: s.home(method, "/courier/depart"), 405, "Method Not Allowed")
