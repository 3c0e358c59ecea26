"""Questions and answers between real ports: what goes through, what is refused, who is silent."""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from handshakes import unusual
from links import HURRIED, Link, calls, make_kits

from flexpress.errors import InputError
from flexpress.field import identity, tls
from flexpress.field.answering import answer, guard, peer_in, read_message, serve
from flexpress.field.calling import (
    LinkDown,
    Patience,
    RefusedByPeer,
    ask,
    insist,
    open_session,
)
from flexpress.field.messages import Missing, Problem, Receipt, Wait, encode
from flexpress.field.parts import STEP
from flexpress.field.serving import Uploads, send_file
from flexpress.field.store import Files
from flexpress.field.tables import Refused
from flexpress.field.transfer import fetch, push

LIMIT = 120.0  # seconds: to fail rather than to hang
SHORT = 0.5  # seconds of silence
WAIT = Wait(seconds=3.0, reason="not yet")
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@pytest.fixture(scope="module")
def kits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_kits(tmp_path_factory.mktemp("kits"))


@asynccontextmanager
async def answering(
    kits: Path,
    handler: Handler,
    *,
    name: str = "server",
    revoked: tuple[str, ...] = (),
    silence: float = 60.0,
) -> AsyncIterator[str]:
    """The address of a port at which everything is answered by this handler."""
    app = web.Application(middlewares=[guard("courier", revoked.__contains__)])
    app.router.add_route("*", "/{path:.*}", handler)
    context = tls.server_context(kits / name)
    runner, port = await serve(app, context, "127.0.0.1", 0, silence)
    try:
        yield f"https://{name}:{port}/"
    finally:
        await runner.cleanup()


async def wait(request: web.Request) -> web.Response:
    return answer(WAIT)


async def never(request: web.Request) -> web.Response:
    raise AssertionError("it must not come to that")


def say(kits: Path, handler: Handler, *, revoked: tuple[str, ...] = ()) -> Wait:
    """What `ask` returns for that, asked for a Wait."""

    async def run() -> Wait:
        async with answering(kits, handler, revoked=revoked) as url, calls(kits) as session:
            return await ask(session, url, Problem("how are you?"), Wait, most=1000)

    return asyncio.run(run())


def test_a_question_and_its_answer(kits: Path) -> None:
    async def handler(request: web.Request) -> web.Response:
        assert (await read_message(request, Problem)).error == "how are you?"
        return answer(Wait(seconds=1.0, reason=peer_in(request).name))

    assert say(kits, handler) == Wait(seconds=1.0, reason="courier-1")


def test_a_long_question_and_a_long_answer(kits: Path) -> None:
    question = Problem("x" * 3_000_000)

    async def handler(request: web.Request) -> web.Response:
        assert request.content_length == len(encode(question))
        return answer(await read_message(request, Problem))

    async def run() -> None:
        async with answering(kits, handler) as url, calls(kits) as session:
            assert await ask(session, url, question, Problem) == question

    asyncio.run(run())


@pytest.mark.parametrize("size", [1_000, 3_000_000])
def test_a_question_that_is_refused_before_it_is_read(kits: Path, size: int) -> None:
    """If the question is long, the refusal may be lost with the connection."""

    async def handler(request: web.Request) -> web.Response:
        return answer(await read_message(request, Problem, most=100))

    async def run() -> None:
        async with answering(kits, handler) as url, calls(kits) as session:
            question = Problem("x" * size)
            with pytest.raises((RefusedByPeer, LinkDown)) as caught:
                await ask(session, url, question, Problem)
            assert size > 2**20 or "413: " in str(caught.value)

    asyncio.run(run())


def test_an_answer_of_several_kinds(kits: Path) -> None:
    receipt = Receipt("0" * 32, 1, "ab" * 32)

    async def handler(request: web.Request) -> web.Response:
        return answer(receipt if request.path == "/done" else WAIT)

    async def run() -> None:
        async with answering(kits, handler) as url, calls(kits) as session:
            assert await ask(session, url, Problem(""), Receipt, Wait) == WAIT
            assert await ask(session, f"{url}done", Problem(""), Receipt, Wait) == receipt
            with pytest.raises(RefusedByPeer, match=r"502: .*not a Missing"):
                await ask(session, url, Problem(""), Missing)

    asyncio.run(run())


@pytest.mark.parametrize("status", [403, 404, 409, 410, 413, 422])
def test_a_refusal_arrives_with_its_reason(kits: Path, status: int) -> None:
    async def handler(request: web.Request) -> web.Response:
        raise Refused(status, "not this tour")

    with pytest.raises(RefusedByPeer, match=f"{status}: not this tour") as caught:
        say(kits, handler)
    assert (caught.value.status, caught.value.reason) == (status, "not this tour")


@pytest.mark.parametrize("status", [500, 503, 408, 429])
def test_trouble_is_worth_another_try(kits: Path, status: int) -> None:
    async def handler(request: web.Request) -> web.Response:
        return web.Response(status=status)

    with pytest.raises(LinkDown, match=str(status)):
        say(kits, handler)


def test_a_full_disk_is_worth_another_try(kits: Path) -> None:
    async def handler(request: web.Request) -> web.Response:
        raise InputError("field.db: cannot be written: No space left on device")

    with pytest.raises(LinkDown, match=r"507: .*No space left"):
        say(kits, handler)


@pytest.mark.parametrize(
    "body", [b"", b"{}", b"[1]", b"\xff", b'{"seconds":1,"reason":"","more":1}', b"x" * 1001]
)
def test_answers_that_are_none(kits: Path, body: bytes) -> None:
    async def handler(request: web.Request) -> web.Response:
        return web.Response(body=body)

    with pytest.raises(RefusedByPeer, match="502"):
        say(kits, handler)


def test_an_answer_without_end(kits: Path) -> None:
    """It is refused as soon as it is too long."""

    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b" " * 1000)

    with pytest.raises(RefusedByPeer, match="more than 1,000 bytes"):
        say(kits, handler)


def test_a_redirection_is_not_followed(kits: Path) -> None:
    async def handler(request: web.Request) -> web.Response:
        raise web.HTTPFound("https://elsewhere.example/")

    with pytest.raises(RefusedByPeer, match="302"):
        say(kits, handler)


@pytest.mark.parametrize(
    ("body", "status"), [(b"{}", 422), (b'{"error":"x","more":1}', 422), (b" " * 101, 413)]
)
def test_questions_that_are_none(kits: Path, body: bytes, status: int) -> None:
    async def handler(request: web.Request) -> web.Response:
        return answer(await read_message(request, Problem, most=100))

    async def chunks() -> AsyncIterator[bytes]:
        yield body

    async def run() -> None:
        async with answering(kits, handler) as url, calls(kits) as session:
            for data in (body, chunks()):  # with and without a Content-Length
                async with session.post(url, data=data) as response:
                    assert response.status == status

    asyncio.run(run())


def test_a_question_that_says_that_it_is_compressed(kits: Path) -> None:
    """It is not unpacked: a small one can be of any size."""

    async def handler(request: web.Request) -> web.Response:
        return answer(await read_message(request, Problem, most=100))

    async def run() -> None:
        async with answering(kits, handler) as url, calls(kits) as session:
            headers = {"Content-Encoding": "gzip"}
            async with session.post(url, data=b'{"error":"x"}', headers=headers) as response:
                assert await response.read() == b'{"error":"x"}'

    asyncio.run(run())


def test_who_is_revoked_does_not_get_in(kits: Path) -> None:
    with pytest.raises(RefusedByPeer, match="403: the certificate of courier-1 is revoked"):
        say(kits, never, revoked=("client-7", "courier-1"))


def test_the_member_that_answers_is_the_one_that_was_named(kits: Path) -> None:
    """The client is where the server should be."""

    async def run() -> None:
        async with answering(kits, never, name="client-7") as url, calls(kits) as session:
            with pytest.raises(RefusedByPeer, match=r"403: .*its certificate is refused"):
                await ask(session, url.replace("client-7", "server"), Problem(""), Wait)
            with pytest.raises(LinkDown, match="Cannot connect"):  # nobody knows where it is
                await ask(session, url.replace("client-7", "client-8"), Problem(""), Wait)

    asyncio.run(run())


def strangers(kits: Path, folder: Path) -> dict[str, Path]:
    authority = identity.load_authority(kits / "authority")
    other = identity.make_authority(folder / "other")
    identity.issue(other, "courier-1", "courier", folder / "by-another")
    (folder / "by-another" / identity.AUTHORITY).unlink()
    known = (kits / "server" / identity.AUTHORITY).read_bytes()
    (folder / "by-another" / identity.AUTHORITY).write_bytes(known)
    return {
        "another authority": folder / "by-another",
        "self-signed": unusual(authority, folder / "self-signed", self_signed=True),
        "a client": kits / "client-7",
        "the server": kits / "server",
        "no role": unusual(authority, folder / "no-role", role="pilot"),
    }


def test_strangers_at_the_port(kits: Path, tmp_path: Path) -> None:
    """Whether they hear why depends on what is faster, the alarm or the end of the connection."""

    async def run(context: ssl.SSLContext) -> None:
        async with (
            answering(kits, never) as url,
            open_session(context, {"server": "127.0.0.1"}) as session,
        ):
            with pytest.raises((LinkDown, RefusedByPeer)):
                await ask(session, url, Problem(""), Wait)

    for kit in strangers(kits, tmp_path).values():
        asyncio.run(run(tls.caller_context(kit)))
    without = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    without.load_verify_locations(kits / "server" / identity.AUTHORITY)
    asyncio.run(run(without))
    old = tls.caller_context(kits / "courier-1")
    old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_2
    asyncio.run(run(old))


def test_plain_http_is_not_answered(kits: Path) -> None:
    async def run() -> None:
        async with answering(kits, never) as url, aiohttp.ClientSession() as session:
            port = url.split(":")[-1]
            with pytest.raises(aiohttp.ClientError):
                await session.get(f"http://127.0.0.1:{port}")

    asyncio.run(run())


def test_a_port_that_is_taken(kits: Path) -> None:
    async def run() -> None:
        async with answering(kits, never) as url:
            port = int(url.split(":")[-1].rstrip("/"))
            with pytest.raises(InputError, match=f"127.0.0.1:{port}: cannot listen"):
                await serve(
                    web.Application(), tls.server_context(kits / "server"), "127.0.0.1", port
                )

    asyncio.run(run())


def test_tries_are_made_until_one_succeeds() -> None:
    tries = []

    async def attempt() -> str:
        tries.append(1)
        if len(tries) < 5:
            raise LinkDown("down")
        return "up"

    assert asyncio.run(insist(attempt, HURRIED)) == "up"


def test_a_refusal_is_not_tried_again() -> None:
    tries = []

    async def attempt() -> None:
        tries.append(1)
        raise RefusedByPeer(410, "the tour is closed")

    with pytest.raises(RefusedByPeer):
        asyncio.run(insist(attempt, HURRIED))
    assert len(tries) == 1


def test_patience_also_ends_within_a_try() -> None:
    async def attempt() -> None:
        await asyncio.sleep(LIMIT)

    with pytest.raises(LinkDown, match=r"given up after 0.1 s: no answer"):
        asyncio.run(insist(attempt, Patience(total=0.1)))


# Silence. Each limit is short, and the event is waited for.


def test_a_peer_that_does_not_answer(kits: Path) -> None:
    async def run() -> None:
        end = asyncio.Event()

        async def handler(request: web.Request) -> web.Response:
            await asyncio.wait_for(end.wait(), timeout=LIMIT)
            return answer(WAIT)

        async with answering(kits, handler) as url, calls(kits) as session:
            with pytest.raises(LinkDown, match="silence"):
                await ask(session, url, Problem(""), Wait, silence=SHORT)
            end.set()

    asyncio.run(run())


@pytest.mark.parametrize("trickle", [0, 1])
def test_a_peer_that_falls_silent_in_a_file(kits: Path, tmp_path: Path, trickle: int) -> None:
    """Or sends a byte now and then, to keep us there. What has arrived stays."""
    files, sha, size = Files(tmp_path), "ab" * 32, 10 * STEP
    once = Patience(total=2 * SHORT, silence=SHORT, first_wait=LIMIT)
    gone = threading.Event()

    async def handler(request: web.Request) -> web.StreamResponse:
        start = request.http_range.start
        response = web.StreamResponse(status=206)
        response.content_length = size - start
        response.headers["Content-Range"] = f"bytes {start}-{size - 1}/{size}"
        await response.prepare(request)
        await response.write(bytes(STEP))
        while not gone.is_set():
            await asyncio.sleep(SHORT / 20)
            await response.write(bytes(trickle))
        return response

    async def run() -> None:
        async with answering(kits, handler) as url, calls(kits) as session:
            while not files.partial(sha)[1]:  # the first one, unless this machine is very busy
                with pytest.raises(LinkDown, match="silence"):
                    await fetch(session, url, sha, size, files, patience=once)
            gone.set()

    asyncio.run(run())
    assert files.partial(sha)[1] < 2 * STEP


def test_a_peer_that_does_not_take_a_file(kits: Path, tmp_path: Path) -> None:
    """It tells the offset, and then nothing more."""
    path = tmp_path / "file"
    path.write_bytes(bytes(10_000_000))

    async def run() -> None:
        end = asyncio.Event()

        async def handler(request: web.Request) -> web.Response:
            if request.method == "PATCH":
                await asyncio.wait_for(end.wait(), timeout=LIMIT)
            return web.Response(headers={"Upload-Offset": "0"})

        async with answering(kits, handler) as url, calls(kits) as session:
            patience = Patience(total=4 * SHORT, silence=SHORT, first_wait=LIMIT)
            with pytest.raises(LinkDown, match="silence"):
                await push(session, url, path, patience=patience)
            end.set()

    asyncio.run(run())


@asynccontextmanager
async def raw(
    kits: Path, url: str
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A courier that does what it likes on its connection."""
    reader, writer = await asyncio.open_connection(
        "127.0.0.1",
        int(url.split(":")[-1].rstrip("/")),
        ssl=tls.caller_context(kits / "courier-1"),
        server_hostname="server",
        limit=1024,
    )
    try:
        yield reader, writer
    finally:
        writer.transport.abort()


@pytest.mark.parametrize("sent", [b"", b"POST / HTT", b"POST / HTTP/1.1\r\nHost: server\r\n"])
def test_a_caller_that_asks_nothing(kits: Path, sent: bytes) -> None:
    """Or does not finish its question: the port does not keep the connection."""

    async def run() -> None:
        async with answering(kits, never, silence=SHORT) as url, raw(kits, url) as (reader, writer):
            writer.write(sent)
            assert await asyncio.wait_for(reader.read(), timeout=LIMIT) == b""

    asyncio.run(run())


@pytest.mark.parametrize("trickle", [b"", b"x"])
@pytest.mark.slow
def test_a_caller_that_falls_silent_in_a_file(kits: Path, tmp_path: Path, trickle: bytes) -> None:
    files, sha = Files(tmp_path), "ab" * 32
    uploads = Uploads(files)

    async def handler(request: web.Request) -> web.Response:
        return await uploads.receive(request, sha, 10 * STEP, SHORT)

    async def drip(writer: asyncio.StreamWriter) -> None:
        while trickle:
            writer.write(trickle)
            await asyncio.sleep(SHORT / 20)

    async def run() -> None:
        async with answering(kits, handler) as url, raw(kits, url) as (reader, writer):
            head = f"PATCH / HTTP/1.1\r\nHost: x\r\nUpload-Offset: 0\r\nContent-Length: {10 * STEP}"
            writer.write(head.encode() + b"\r\n\r\n" + bytes(STEP))
            dripping = asyncio.create_task(drip(writer))
            line = await asyncio.wait_for(reader.readline(), timeout=LIMIT)
            dripping.cancel()
            assert line.startswith(b"HTTP/1.1 408")

    asyncio.run(run())
    assert files.partial(sha)[1] < 2 * STEP


def test_a_caller_that_does_not_take_a_file(kits: Path, tmp_path: Path) -> None:
    """It asks, and reads nothing: the handler ends, and the file is closed."""
    path = tmp_path / "file"
    path.write_bytes(bytes(30_000_000))

    async def run() -> None:
        ended = asyncio.Event()

        async def handler(request: web.Request) -> web.StreamResponse:
            try:
                return await send_file(request, path, SHORT)
            finally:
                ended.set()

        async with answering(kits, handler) as url, raw(kits, url) as (_, writer):
            writer.write(b"GET / HTTP/1.1\r\nHost: server\r\n\r\n")
            await asyncio.wait_for(ended.wait(), timeout=LIMIT)

    asyncio.run(run())


def test_a_slow_link_is_not_silence(kits: Path, tmp_path: Path) -> None:
    """The whole takes several times the limit of silence; so it would fail if that were a total."""
    size = 4 * STEP
    far, near = Files(tmp_path / "far"), Files(tmp_path / "near")
    sha = far.write(bytes(size))
    silence = 1.0

    async def handler(request: web.Request) -> web.StreamResponse:
        return await send_file(request, far.path(sha), 60.0)

    async def run() -> None:
        async with answering(kits, handler) as url, calls(kits) as session:
            link = Link(int(url.split(":")[-1].rstrip("/")), rate=2 * STEP)
            async with link.up() as port:
                started = asyncio.get_running_loop().time()
                patience = Patience(total=LIMIT, silence=silence)
                await fetch(session, f"https://server:{port}/", sha, size, near, patience=patience)
                assert asyncio.get_running_loop().time() - started > silence

    asyncio.run(run())
    assert near.read(sha) == bytes(size)
