"""Uploads that are cut off, come from many sides, or never end: nobody else is disturbed."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest
from besieged import check_refused
from callers import Caller, until
from scenes import Scene, out_with_updates

from flexpress.field.kit import STATE
from flexpress.field.messages import Missing, decode
from flexpress.field.parts import COMPLETE, OFFSET


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with out_with_updates(tmp_path_factory.mktemp("field")) as scene:
        yield scene


def address(scene: Scene, number: int) -> str:
    return f"/courier/tours/3/contents/{scene.one.parcels[number].content}"


def begun(scene: Scene, caller: Caller, number: int, length: int, offset: int = 0) -> socket.socket:
    """A connection over which so many bytes of a content have been sent, and no more will be."""
    content = scene.one.contents[number]
    head = (
        f"PATCH {address(scene, number)} HTTP/1.1\r\nHost: server\r\n{OFFSET}: {offset}\r\n"
        f"Content-Length: {len(content) - offset}\r\n\r\n"
    )
    connection = caller.connect()
    connection.sendall(head.encode() + content[offset : offset + length])
    return connection


def part_of(scene: Scene, number: int) -> Path:
    sha = scene.one.parcels[number].content
    return scene.field.kits / "server" / STATE / f"{sha}.part"


def has_length(path: Path, length: int) -> bool:
    return path.exists() and path.stat().st_size == length


def test_cut_off(scene: Scene) -> None:
    """What has arrived is a part, which nobody believes; the rest can follow."""
    before = scene.field.states(parts=False)
    with begun(scene, scene.home, 0, 1000):
        until(lambda: has_length(part_of(scene, 0), 1000))
    assert scene.field.states(parts=False) == before
    check_refused(
        scene.field, lambda: scene.field.one.finish(scene.manifest), 422, "has not arrived"
    )
    answer = scene.field.one.announce(scene.manifest)
    assert (scene.one.parcels[0].content, 1000) in decode(answer.content, Missing).contents
    pushed = scene.field.one.push(scene.home, address(scene, 0), scene.one.contents[0], 1000)
    assert (pushed.status, pushed.headers[COMPLETE]) == (204, "?1")


def test_killed_before_all_bytes_became_a_file(tmp_path: Path) -> None:
    """The server has them, but does not know yet whether they are right: it still asks for them."""
    with out_with_updates(tmp_path) as scene:
        content, size = scene.one.contents[0], len(scene.one.contents[0])
        part_of(scene, 0).write_bytes(content)
        answer = scene.field.one.announce(scene.manifest)
        assert (scene.one.parcels[0].content, size) in decode(answer.content, Missing).contents
        pushed = scene.field.one.push(scene.home, address(scene, 0), content, size)
        assert (pushed.status, pushed.headers[COMPLETE]) == (204, "?1")
        scene.field.one.bring(scene.manifest, *scene.one.contents)


def test_from_many_sides_at_once(scene: Scene) -> None:
    """One of them writes at a time, and each byte is written once."""
    content, gate = scene.one.contents[1], threading.Barrier(8)
    statuses = []

    def push() -> None:
        gate.wait(600)
        answer = scene.field.one.push(scene.home, address(scene, 1), content)
        statuses.append(answer.status)

    threads = [threading.Thread(target=push) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(600)
    assert 204 in statuses
    assert {*statuses} <= {204, 409}
    state = scene.home("HEAD", address(scene, 1)).headers
    assert (state[OFFSET], state[COMPLETE]) == (str(len(content)), "?1")
    path = part_of(scene, 1).with_suffix("")
    assert path.read_bytes() == content
    assert not part_of(scene, 1).exists()


@pytest.mark.slow
def test_connections_that_never_end(tmp_path: Path) -> None:
    """A hundred callers say nothing, half a question, or half a file: others are served."""
    with out_with_updates(tmp_path) as scene, ExitStack() as stack:
        first_words = [b"", b"POST /cour", b"GET / HTTP/1.1\r\nHost: server\r\n"]
        for number in range(90):
            waiting = stack.enter_context(scene.home.connect())
            waiting.sendall(first_words[number % 3])
        for _ in range(10):
            stack.enter_context(socket.create_connection(("127.0.0.1", scene.home.port)))
        stack.enter_context(begun(scene, scene.home, 0, 1000))
        until(lambda: has_length(part_of(scene, 0), 1000))
        for tour in (scene.one, scene.two):
            for content in tour.contents:
                sha = tour.parcels[tour.contents.index(content)].content
                path = f"/courier/tours/{tour.number}/contents/{sha}"
                offset = int(tour.courier.home("HEAD", path).headers[OFFSET])
                assert tour.courier.push(tour.courier.home, path, content, offset).status == 204
            scene.field.come_home(tour)
        until(lambda: scene.field.server.said("merged", version=1))


@pytest.mark.slow
def test_connections_end_when_nothing_is_said(scene: Scene) -> None:
    """After a minute of silence."""
    words = [b"", b"POST /cour", b"GET / HTTP/1.1\r\nHost: server\r\n"]
    with ExitStack() as stack:
        waiting = [stack.enter_context(scene.home.connect()) for _ in words]
        waiting.append(
            stack.enter_context(socket.create_connection(("127.0.0.1", scene.home.port)))
        )
        for connection, first in zip(waiting, [*words, b""], strict=True):
            connection.settimeout(600)
            connection.sendall(first)
        for connection in waiting:
            until(partial(_has_ended, connection))


def _has_ended(connection: socket.socket) -> bool:
    try:
        return connection.recv(2**16) == b""
    except OSError:
        return True
