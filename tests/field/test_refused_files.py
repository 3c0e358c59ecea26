"""Contents that the server does not take, and models that it does not hand out."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from besieged import check_refused
from callers import Answer
from scenes import Scene, out_with_updates

from flexpress.field.parts import OFFSET

NOT_HERE = "0" * 64

Attack = Callable[[Scene], Answer]
Case = tuple[Attack, int, str]


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with out_with_updates(tmp_path_factory.mktemp("field")) as scene:
        yield scene


def check(scene: Scene, attack: Attack, status: int, reason: str) -> None:
    check_refused(scene.field, lambda: attack(scene), status, reason)


# Contents


def address(scene: Scene, tour: object = 3, sha: str | None = None) -> str:
    return f"/courier/tours/{tour}/contents/{sha or scene.one.parcels[0].content}"


def patched(content: bytes, offset: str = "0", **place: object) -> Attack:
    def attack(scene: Scene) -> Answer:
        where = address(scene, **place)  # type: ignore[arg-type]  # a tour or a digest
        return scene.home("PATCH", where, content, {OFFSET: offset})

    return attack


def without_length(scene: Scene) -> Answer:
    headers = {OFFSET: "0", "Transfer-Encoding": "chunked"}
    return scene.home("PATCH", address(scene), iter([b"x"]), headers)


def of_the_other(method: str) -> Attack:
    def attack(scene: Scene) -> Answer:
        return scene.home(method, address(scene, 4, scene.two.parcels[0].content), b"x")

    return attack


SIZE = 31_448

CONTENTS: dict[str, Case] = {
    "not announced": (patched(b"x", sha=NOT_HERE), 404, "has not announced this content"),
    "of another courier": (of_the_other("PATCH"), 403, "tour 4 is not one of courier-1"),
    "of no tour": (patched(b"x", tour=99), 410, "there is no tour 99"),
    "of tour -1": (patched(b"x", tour=-1), 404, "there is no such tour"),
    "of tour 03 in Arabic": (patched(b"x", tour="%D9%A3"), 404, "there is no such tour"),
    "of a tour with 5,000 digits": (patched(b"x", tour="9" * 5000), 404, "no such tour"),
    "of a tour that is closed": (patched(b"x", tour=1), 410, "tour 1 is closed"),
    "without a length": (without_length, 411, "Content-Length is missing"),
    "beyond its size": (patched(bytes(SIZE + 1)), 413, "31,449 bytes: were announced as 31,448"),
    "from the middle": (patched(b"x", "1"), 409, "Upload-Offset must be 0"),
    "from before the beginning": (patched(b"x", "-1"), 409, "Upload-Offset must be 0"),
    "from nowhere": (patched(b"x", "zero"), 409, "Upload-Offset must be 0"),
    "with another digest": (patched(bytes(SIZE)), 422, "send it again from the beginning"),
    "a path": (patched(b"x", sha="..%2F..%2Fkey.pem"), 404, "has not announced"),
}


@pytest.mark.parametrize("name", CONTENTS)
def test_contents(scene: Scene, name: str) -> None:
    check(scene, *CONTENTS[name])


def test_the_offset_of_what_is_not_ours(scene: Scene) -> None:
    """HEAD has no body: only the status tells."""
    before = scene.field.states()
    assert of_the_other("HEAD")(scene).status == 403
    assert scene.home("HEAD", address(scene, sha=NOT_HERE)).status == 404
    assert scene.field.states() == before


# Models

PATHS = {
    "no model": NOT_HERE,
    "a part": "{sha}.part",
    "capitals": "{SHA}",
    "one digit less": "{sha:.63}",
    "a line after it": "{sha}%0A",
    "a zero after it": "{sha}%00",
    "the key": "..%2F..%2Fkey.pem",
    "the key, twice encoded": "..%252F..%252Fkey.pem",
    "the key, from the root": "%2Fkey.pem",
    "backslashes": "..%5C..%5Ckey.pem",
    "a folder up": "../../../key.pem",
    "the database": "field.db",
    "nothing": "",
    "half a character": "%FF",
}


@pytest.mark.parametrize("name", PATHS)
def test_paths(scene: Scene, name: str) -> None:
    sha = scene.field.one.model_of(scene.one.orders)
    path = PATHS[name].format(sha=sha, SHA=sha.upper())
    status = 404 if name in ("a folder up", "nothing") else 410  # no such place, or no such tour
    check(scene, lambda s: s.home("GET", f"/courier/models/{path}"), status, "")


RANGES = {
    "the last five": "bytes=-5",
    "backwards": "bytes=5-3",
    "beyond the end": "bytes=31400-",
    "far beyond the end": f"bytes={10**30}-",
    "two parts": "bytes=0-1,5-6",
    "many parts": "bytes=" + ",".join(f"{n}-" for n in range(900)),
    "other units": "lines=0-5",
    "no numbers": "bytes=a-b",
    "below zero": "bytes=--5",
    "nothing": "bytes=-",
}


@pytest.mark.parametrize("name", RANGES)
def test_ranges(scene: Scene, name: str) -> None:
    sha = scene.field.one.model_of(scene.one.orders)
    headers = {"Range": RANGES[name]}
    check(
        scene,
        lambda s: s.home("GET", f"/courier/models/{sha}", None, headers),
        416,
        "no such range",
    )


def test_a_range_is_what_it_says(scene: Scene) -> None:
    """The tests above ask for nothing that could be had."""
    sha = scene.field.one.model_of(scene.one.orders)
    path = f"/courier/models/{sha}"
    for text, part in {"bytes=7-": slice(7, None), "bytes=7-99999": slice(7, None)}.items():
        answer = scene.home("GET", path, None, {"Range": text})
        assert (answer.status, answer.content) == (206, scene.one.model[part])
