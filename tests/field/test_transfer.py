"""Files over links that break at any byte: they arrive whole, and little is sent twice."""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from links import HURRIED, Link, calls, make_kits, port_of, seeded

from flexpress.errors import InputError
from flexpress.field.calling import LinkDown, Patience, RefusedByPeer
from flexpress.field.parts import STEP
from flexpress.field.store import Files
from flexpress.field.transfer import fetch, push

Session = aiohttp.ClientSession


@pytest.fixture(scope="module")
def kits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_kits(tmp_path_factory.mktemp("kits"))


def content(size: int, seed: int = 1) -> bytes:
    return random.Random(seed).randbytes(size)


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class Ends:
    """Files of the courier, and those of the program that it calls."""

    def __init__(self, folder: Path) -> None:
        self.near, self.far = Files(folder / "near"), Files(folder / "far")

    def fetch_in(
        self, kits: Path, sha: str, size: int, patience: Patience = HURRIED
    ) -> list[tuple[int, int]]:
        """Over a link without faults; what progress was told."""
        told: list[tuple[int, int]] = []

        async def run(session: Session, url: str) -> None:
            await fetch(
                session,
                f"{url}/{sha}",
                sha,
                size,
                self.near,
                patience=patience,
                progress=lambda *numbers: told.append(numbers),
            )

        self.call(kits, size, run)
        return told

    def push_in(
        self, kits: Path, sha: str, size: int, offset: int | None = None
    ) -> list[tuple[int, int]]:
        """The program takes files of this size."""
        told: list[tuple[int, int]] = []

        async def run(session: Session, url: str) -> None:
            path = self.near.path(sha)
            await push(
                session,
                f"{url}/{sha}",
                path,
                offset=offset,
                patience=HURRIED,
                progress=lambda *numbers: told.append(numbers),
            )

        self.call(kits, size, run)
        return told

    def call(self, kits: Path, size: int, run: Callable[[Session, str], Awaitable[None]]) -> None:
        async def session() -> None:
            async with calls(kits) as session, port_of(kits, self.far, size) as port:
                await run(session, f"https://server:{port}/files")

        asyncio.run(session())


@pytest.fixture
def ends(tmp_path: Path) -> Ends:
    return Ends(tmp_path)


@pytest.mark.parametrize("size", [1, 2**16, 2**18, 2**18 + 1, 1_000_000])
def test_files_are_fetched_and_pushed(kits: Path, ends: Ends, size: int) -> None:
    there, back = content(size), content(size, seed=2)
    assert ends.fetch_in(kits, ends.far.write(there), size)[-1] == (size, size)
    assert ends.near.read(digest(there)) == there
    assert ends.push_in(kits, ends.near.write(back), size)[-1] == (size, size)
    assert ends.far.read(digest(back)) == back


@pytest.mark.parametrize("arrived", [1, 65_536, 299_999, 300_000])
def test_only_the_rest_is_sent(kits: Path, ends: Ends, arrived: int) -> None:
    """Also if all of it was there, but the program was ended before it was checked."""
    there, back = content(300_000), content(300_000, seed=2)
    ends.near.partial(ends.far.write(there))[0].write_bytes(there[:arrived])
    assert all(number > arrived for number, _ in ends.fetch_in(kits, digest(there), 300_000))
    assert ends.near.read(digest(there)) == there
    ends.far.partial(ends.near.write(back))[0].write_bytes(back[:arrived])
    assert ends.push_in(kits, digest(back), 300_000)[0] == (arrived, 300_000)
    assert ends.far.read(digest(back)) == back


@pytest.mark.parametrize("told", [0, 1, 65_536, 300_000, 300_001, 2**53])
def test_what_the_peer_had_said_may_be_wrong(kits: Path, ends: Ends, told: int) -> None:
    back = content(300_000)
    ends.far.partial(ends.near.write(back))[0].write_bytes(back[:65_536])
    assert ends.push_in(kits, digest(back), 300_000, told)[-1] == (300_000, 300_000)
    assert ends.far.read(digest(back)) == back


def test_a_push_needs_one_connection(
    kits: Path, ends: Ends, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer to HEAD that does not say how long it is would end the connection."""
    made = []
    connect = aiohttp.TCPConnector._create_connection

    async def counted(self: aiohttp.TCPConnector, *arguments: Any) -> Any:
        made.append(self)
        return await connect(self, *arguments)

    monkeypatch.setattr(aiohttp.TCPConnector, "_create_connection", counted)
    ends.push_in(kits, ends.near.write(content(600_000)), 600_000)
    assert len(made) == 1


def test_what_is_there_is_not_asked_for(kits: Path, ends: Ends) -> None:
    data = content(1000)
    ends.near.write(data)  # the far end does not have it
    assert ends.fetch_in(kits, digest(data), 1000) == []
    ends.far.write(data)
    assert ends.push_in(kits, digest(data), 1000) == [(1000, 1000)]


@pytest.mark.parametrize("length", [5, 1000, 2000])
def test_a_part_that_was_damaged_is_sent_again(kits: Path, ends: Ends, length: int) -> None:
    """After a loss of power, say. A part that is too long is as bad."""
    there, back = content(1000), content(1000, seed=2)
    ends.near.partial(ends.far.write(there))[0].write_bytes(bytes(length))
    ends.fetch_in(kits, digest(there), 1000)
    assert ends.near.read(digest(there)) == there
    ends.far.partial(ends.near.write(back))[0].write_bytes(bytes(length))
    ends.push_in(kits, digest(back), 1000)
    assert ends.far.read(digest(back)) == back


def test_what_is_not_what_it_is_called(kits: Path, ends: Ends) -> None:
    wrong = digest(b"something else")
    ends.far.path(wrong).write_bytes(content(1000))
    with pytest.raises(RefusedByPeer, match=r"502: .* is not"):
        ends.fetch_in(kits, wrong, 1000)
    ends.far.path(wrong).unlink()
    ends.near.path(wrong).write_bytes(content(1000))
    with pytest.raises(RefusedByPeer, match=r"422: .* is not"):
        ends.push_in(kits, wrong, 1000)
    assert ends.near.partial(wrong)[1] == ends.far.partial(wrong)[1] == 0


@pytest.mark.parametrize("announced", [999, 1001])
def test_another_size_than_announced(kits: Path, ends: Ends, announced: int) -> None:
    data = content(1000)
    with pytest.raises(RefusedByPeer, match=f"must send bytes 0-{announced - 1}/{announced}"):
        ends.fetch_in(kits, ends.far.write(data), announced)
    assert not ends.near.has(digest(data))


def test_more_than_announced_is_refused_before_it_is_written(kits: Path, ends: Ends) -> None:
    sha = ends.near.write(content(1000))
    with pytest.raises(RefusedByPeer, match="413: 1,000 bytes: were announced as 999"):
        ends.push_in(kits, sha, 999)
    assert ends.far.partial(sha)[1] == 0
    ends.far.partial(sha)[0].write_bytes(content(1000)[:600])
    with pytest.raises(RefusedByPeer, match="413"):
        ends.push_in(kits, sha, 999)
    assert ends.far.partial(sha)[1] == 600


def test_what_does_not_exist(kits: Path, ends: Ends) -> None:
    with pytest.raises(LinkDown, match=r"507: .* no such file"):
        ends.fetch_in(kits, digest(b""), 1000, Patience(total=0.5, first_wait=0.1))


def test_a_disk_that_is_full_is_not_the_link(
    kits: Path, ends: Ends, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise InputError("disk: cannot be written: No space left on device")

    monkeypatch.setattr("flexpress.field.transfer.append", full)
    with pytest.raises(InputError, match="No space left"):
        ends.fetch_in(kits, ends.far.write(content(10)), 10)


def answers_of(
    kits: Path, ends: Ends, size: int, *requests: tuple[str, dict[str, str], bytes]
) -> list[tuple[int, str | None, bytes]]:
    """Status, offset and body of the answers to requests for one file: method, headers, body."""
    sha = digest(content(size))
    found = []

    async def run(session: Session, url: str) -> None:
        for method, headers, body in requests:
            async with session.request(
                method, f"{url}/{sha}", headers=headers, data=body or None
            ) as response:
                offset = response.headers.get("Upload-Offset")
                found.append((response.status, offset, await response.read()))

    ends.call(kits, size, run)
    return found


def test_a_wrong_offset_is_answered_with_the_right_one(kits: Path, ends: Ends) -> None:
    data = content(1000)
    found = answers_of(
        kits,
        ends,
        1000,
        ("PATCH", {"Upload-Offset": "0"}, data[:300]),
        ("HEAD", {}, b""),
        ("PATCH", {"Upload-Offset": "0"}, data[:300]),
        ("PATCH", {"Upload-Offset": "301"}, data[301:]),
        ("PATCH", {"Upload-Offset": "three hundred"}, data[300:]),
        ("PATCH", {"Upload-Offset": "-300"}, data[300:]),
        ("PATCH", {"Upload-Offset": "9" * 5000}, data[300:]),
        ("PATCH", {}, data[300:]),
        ("PATCH", {"Upload-Offset": "300"}, data[300:]),
        ("HEAD", {}, b""),
    )
    assert [status for status, _, _ in found] == [204, 200, 409, 409, 409, 409, 409, 409, 204, 200]
    assert [offset for _, offset, _ in found] == ["300"] * 8 + ["1000"] * 2
    assert ends.far.read(digest(data)) == data


def test_a_body_without_a_length_is_refused(kits: Path, ends: Ends) -> None:
    """It could have any."""

    async def run(session: Session, url: str) -> None:
        async def pieces() -> AsyncIterator[bytes]:
            yield b"x"

        async with session.patch(
            f"{url}/{digest(b'')}", data=pieces(), headers={"Upload-Offset": "0"}
        ) as response:
            assert response.status == 411

    ends.call(kits, 1000, run)
    assert ends.far.partial(digest(b""))[1] == 0


@pytest.mark.parametrize(
    ("asked", "status", "part"),
    [
        (None, 200, slice(0, 1000)),
        ("bytes=0-", 206, slice(0, 1000)),
        ("bytes=10-19", 206, slice(10, 20)),
        ("bytes=999-5000", 206, slice(999, 1000)),
        ("bytes=1000-", 416, None),
        ("bytes=-5", 416, None),
        ("bytes=20-10", 416, None),
        ("lines=1-2", 416, None),
        ("bytes=0-1,5-6", 416, None),
    ],
)
def test_ranges(kits: Path, ends: Ends, asked: str | None, status: int, part: slice | None) -> None:
    data = content(1000)
    ends.far.write(data)
    headers = {} if asked is None else {"Range": asked}
    ((found, _, body),) = answers_of(kits, ends, 1000, ("GET", headers, b""))
    assert found == status
    if part is not None:
        assert body == data[part]


@pytest.mark.parametrize("name", ["..%2f..%2fsecret", "ABC", "0" * 63, "0" * 64 + ".part"])
def test_names_that_are_no_digests(kits: Path, ends: Ends, name: str) -> None:
    async def run(session: Session, url: str) -> None:
        for method in ("GET", "PATCH"):
            async with session.request(method, f"{url}/{name}") as response:
                assert response.status in (404, 422)

    ends.call(kits, 1000, run)


def over(
    link: Callable[[int], Link],
    kits: Path,
    ends: Ends,
    data: bytes,
    *,
    patience: Patience = HURRIED,
) -> tuple[Link, Link]:
    """Fetched over one link, then pushed to a third folder over another."""
    sha = ends.far.write(data)
    third = Files(ends.far.path(sha).parent / "third")
    links = []

    async def run() -> None:
        async with port_of(kits, ends.far, len(data)) as port, calls(kits) as session:
            links.append(link(port))
            async with links[-1].up() as between:
                url = f"https://server:{between}/files/{sha}"
                await fetch(session, url, sha, len(data), ends.near, patience=patience)
        async with port_of(kits, third, len(data)) as port, calls(kits) as session:
            links.append(link(port))
            async with links[-1].up() as between:
                url = f"https://server:{between}/files/{sha}"
                await push(session, url, ends.near.path(sha), patience=patience)

    asyncio.run(run())
    assert ends.near.read(sha) == third.read(sha) == data
    first, second = links
    return first, second


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("reset", [True, False])
def test_a_link_that_is_cut_at_random_bytes(kits: Path, ends: Ends, seed: int, reset: bool) -> None:
    """Each connection carries 3 to 100 kB, the handshake included."""
    data = content(1_000_000, seed)
    links = over(
        lambda port: Link(port, seeded(seed, 3_000, 100_000), reset=reset), kits, ends, data
    )
    for link in links:
        assert link.connections > 10


@pytest.mark.parametrize("step", [97, pytest.param(1, marks=pytest.mark.slow)])
def test_a_link_that_is_cut_at_every_byte(kits: Path, ends: Ends, step: int) -> None:
    """From within the handshake to within the body: each connection carries `step` bytes more."""

    def link(port: int) -> Link:
        budgets = itertools.count(1, step)
        return Link(port, lambda: float(next(budgets)), reset=False)

    over(link, kits, ends, content(2_000), patience=replace(HURRIED, total=3600.0))


def test_little_is_sent_twice(kits: Path, ends: Ends) -> None:
    """Over a link that is cut every 200 kB: beside the file itself, what a handshake takes (less
    than 10 kB), and what was on its way when the link was cut.
    """
    data = content(2_000_000)
    for link in over(lambda port: Link(port, lambda: 200_000.0), kits, ends, data):
        assert link.carried < len(data) + link.connections * (10_000 + 2 * STEP)


@pytest.mark.slow
def test_a_link_that_stays_down(kits: Path, ends: Ends) -> None:
    """Patience ends, and what has arrived stays."""
    data = content(100_000)
    sha = ends.far.write(data)
    budgets = iter([50_000.0])
    short = Patience(total=2.0, silence=60.0, first_wait=0.01)

    async def run() -> None:
        async with port_of(kits, ends.far, len(data)) as port, calls(kits) as session:
            link = Link(port, lambda: next(budgets, 0.0), reset=False)  # a reset takes more with it
            async with link.up() as between:
                url = f"https://server:{between}/files/{sha}"
                with pytest.raises(LinkDown, match=r"given up after 2 s: https://server"):
                    await fetch(session, url, sha, len(data), ends.near, patience=short)
            with pytest.raises(LinkDown, match=r"given up after 2 s: .*Cannot connect"):
                await fetch(session, url, sha, len(data), ends.near, patience=short)

    asyncio.run(run())
    assert 0 < ends.near.partial(sha)[1] < 50_000
    ends.fetch_in(kits, sha, len(data))
    assert ends.near.read(sha) == data


def test_a_newer_connection_takes_over(kits: Path, ends: Ends) -> None:
    """The old one hangs in the air: its caller has gone on over a new one."""
    data = content(1000)
    sha = digest(data)
    headers = {"Upload-Offset": "0", "Content-Length": "1000"}
    more = asyncio.Event()

    async def hangs() -> AsyncIterator[bytes]:
        yield data[:400]
        await asyncio.wait_for(more.wait(), timeout=120)
        yield bytes(600)

    async def old(session: Session, url: str) -> int:
        async with session.patch(f"{url}/{sha}", data=hangs(), headers=headers) as response:
            return response.status

    async def run(session: Session, url: str) -> None:
        task = asyncio.create_task(old(session, url))
        while ends.far.partial(sha)[1] < 400:
            await asyncio.sleep(0.01)
        async with session.patch(
            f"{url}/{sha}", data=data[400:900], headers={"Upload-Offset": "400"}
        ) as response:
            assert response.status == 204
        more.set()
        assert await task == 409
        ends.near.write(data)
        await push(session, f"{url}/{sha}", ends.near.path(sha), patience=HURRIED)

    ends.call(kits, 1000, run)
    assert ends.far.read(sha) == data
