"""Attacks on mission control's server: refused, nothing changes, and it stays up."""

from __future__ import annotations

import asyncio
import http.client
import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from aiohttp import ClientSession, WSMessage, WSMsgType, WSServerHandshakeError
from live_control import Control, control

CHUNKED = {"Transfer-Encoding": "chunked"}


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Control]:
    folder = tmp_path_factory.mktemp("control")
    (folder / "inside").mkdir()
    (folder / "secret.txt").write_text("not for the page")
    (folder / "inside" / "mine.toml").write_text('name = "mine"\n')
    with control(folder / "inside") as started:
        yield started


@pytest.fixture(autouse=True)
def _stays_up(live: Control) -> Iterator[None]:
    """After whatever a test does, its owner still gets the page, and the draft is as before."""
    before = ask(live, "GET", "/scenario.toml", good(live))[1]
    yield
    assert live.process.poll() is None
    assert ask(live, "GET", "/", good(live))[0] == 200
    assert ask(live, "GET", "/scenario.toml", good(live))[1] == before


def good(live: Control) -> dict[str, str]:
    """Headers of the owner's own browser."""
    host = f"127.0.0.1:{live.port}"
    cookie = f"flexpress-control-{live.port}={live.token}"
    return {"Host": host, "Origin": f"http://{host}", "Cookie": cookie}


def ask(
    live: Control, method: str, path: str, headers: dict[str, str], body: bytes | None = None
) -> tuple[int, bytes, dict[str, str]]:
    connection = http.client.HTTPConnection("127.0.0.1", live.port, timeout=600)
    connection.putrequest(method, path, skip_host=True)
    if body is not None and "Transfer-Encoding" not in headers:
        headers = {"Content-Length": str(len(body)), **headers}
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    if body:
        connection.send(body)
    answer = connection.getresponse()
    found = answer.status, answer.read(), dict(answer.getheaders())
    connection.close()
    return found


def test_the_token_becomes_a_cookie_and_leaves_the_address(live: Control) -> None:
    host = {"Host": f"127.0.0.1:{live.port}"}
    status, _, headers = ask(live, "GET", f"/?token={live.token}", host)
    assert (status, headers["Location"]) == (303, "/")
    assert "HttpOnly" in headers["Set-Cookie"]
    assert "SameSite=Strict" in headers["Set-Cookie"]


@pytest.mark.parametrize(
    "path", ["/", "/control.js", "/scenario.toml", "/socket", "/plan/x/map.json"]
)
@pytest.mark.parametrize("token", ["", "wrong", "é"])
def test_a_wrong_token(path: str, token: str, live: Control) -> None:
    headers = {**good(live), "Cookie": f"flexpress-control-{live.port}={token}"}
    headers["Cookie"] = headers["Cookie"].encode().decode("latin-1")
    assert ask(live, "GET", path, headers)[0] == 403
    assert ask(live, "GET", "/?token=wrong", headers)[0] == 403


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", "evil.example:{port}", "127.0.0.1.nip.io:{port}", ""]
)
def test_a_wrong_host(host: str, live: Control) -> None:
    """A name of somebody else that leads to this machine: DNS rebinding."""
    host = host.format(port=live.port)
    headers = {**good(live), "Host": host, "Origin": f"http://{host}"}
    assert ask(live, "GET", "/", headers)[0] in (400, 403)
    assert ask(live, "POST", "/upload?name=a.csv", headers, b"id,x,y\n1,2,3\n")[0] in (400, 403)


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", None])
def test_a_post_from_another_site(origin: str | None, live: Control) -> None:
    headers = good(live)
    del headers["Origin"]
    if origin:
        headers["Origin"] = origin
    assert ask(live, "POST", "/upload?name=a.csv", headers, b"id,x,y\n1,2,3\n")[0] == 403


def test_a_site_that_hides_its_origin(live: Control) -> None:
    headers = {**good(live), "Sec-Fetch-Site": "cross-site"}
    assert ask(live, "GET", "/scenario.toml", headers)[0] == 403


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt",
        "/..%2fsecret.txt",
        "/plan/..%2f..%2fsecret.txt/map.json",
        "/plan/../map.json",
        "/run/../secret.txt",
        "/run/./..%2f..%2fsecret.txt",
        "/run/.%2e/%2e%2e/secret.txt",
        "/plan/%00/map.json",
    ],
)
def test_a_path_out_of_the_folder(path: str, live: Control) -> None:
    status, content, _ = ask(live, "GET", path, good(live))
    assert status in (400, 404)
    assert b"not for the page" not in content


@pytest.mark.parametrize("declared", [True, False])
def test_an_upload_that_is_too_large(declared: bool, live: Control) -> None:
    """It says so beforehand, or comes in pieces."""
    headers = {**good(live), **({"Content-Length": "999999999"} if declared else CHUNKED)}
    chunk = b"%x\r\n%b\r\n" % (1_000_000, b"a" * 1_000_000)
    try:
        status = ask(live, "POST", "/upload?name=a.csv", headers, None if declared else chunk * 21)[
            0
        ]
    except (BrokenPipeError, ConnectionResetError):  # it does not read all of it
        return
    assert status == 413


BAD_FILES = {
    "a.exe": b"MZ",
    "a.csv": b"\xff\xfe",
    "b.csv": b"id,x,y\n1,2,fish\n",
    "a.geojson": b"[" * 100_000,
    "a.kml": b'<!DOCTYPE k [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><kml>&b;</kml>',
    "b.kml": b"<kml>",
    "a.kmz": b"PK\x03\x04nonsense",
    "a.toml": b"name = [",
    "b.toml": b'[network]\nclients = "../secret.txt"\n',
    "../../a.csv": b"",
    "": b"",
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_file_that_is_none(name: str, live: Control) -> None:
    status, content, _ = ask(live, "POST", f"/upload?name={name}", good(live), BAD_FILES[name])
    assert status == 422
    assert json.loads(content)["fault"]


MALFORMED: list[str | bytes] = [
    "",
    "no JSON",
    "[]",
    "{}",
    '{"do": "nothing"}',
    '{"do": "move"}',
    '{"do": "move", "node": -1, "at": [0, 0]}',
    '{"do": "move", "node": 7, "at": [0, 0]}',
    '{"do": "add", "at": [1e300, 0]}',
    '{"do": "add", "at": [0, 0], "more": 1}',
    '{"do": "zone", "corners": [[0, 0]]}',
    '{"do": "delete", "nodes": []}',
    '{"do": "set", "values": {"__class__": {"x": 1}}}',
    '{"do": "set", "values": {"fleet": {"a.b]\\n[x": 1}}}',
    '{"do": "set", "values": {"fleet": {"speeds": [null]}}}',
    '{"do": "set", "values": {"fleet": {"speeds": ' + "[" * 900 + "]" * 900 + "}}}",
    '{"do": "set", "values": {"network": {"clients": "../secret.txt"}}}',
    '{"do": "set", "values": {"network": {"no_fly": "/etc/passwd"}}}',
    '{"do": "open", "file": "../secret.txt"}',
    '{"do": "open", "file": "/etc/passwd"}',
    '{"do": "open", "file": "..\\u0000.toml"}',
    '{"do": "save", "file": "../out.toml"}',
    '{"do": "save", "file": "a/b.toml"}',
    '{"do": "save", "file": "mine.toml"}',
    '{"do": "preset", "name": "../paper"}',
    '{"do": "prove", "plan": "../../x"}',
    '{"do": "simulate", "plan": ".."}',
    '{"do": "goon", "run": "../.."}',
    '{"do": "report", "run": "/tmp"}',
    '{"do": "remedy", "number": 0}',
    '{"do": "confirm", "code": ""}',
    '{"do": "decide", "action": "void", "what": "1"}',
    '{"do": "decide", "action": "stop", "what": "1"}',
    "[" * 10_000,
    b"\xff\x00",
]


def test_malformed_messages(live: Control) -> None:
    """Each is answered with why, and the next one is heard all the same."""

    async def talk() -> list[str]:
        said = []
        async with (
            ClientSession() as session,
            session.ws_connect(
                f"http://127.0.0.1:{live.port}/socket", headers=good(live)
            ) as socket,
        ):
            for message in MALFORMED:
                if isinstance(message, str):
                    await socket.send_str(message)
                else:
                    await socket.send_bytes(message)
                said.append(await refusal(socket.receive))
        return said

    assert len([text for text in asyncio.run(talk()) if text]) == len(MALFORMED)
    assert sorted(path.name for path in live.folder.iterdir()) == ["flexpress-control", "mine.toml"]


async def refusal(receive: object) -> str:
    while True:
        message: WSMessage = await receive()  # type: ignore[operator]  # a method of the socket
        assert message.type is WSMsgType.TEXT, message
        said = json.loads(message.data)
        if said["topic"] == "refused":
            return str(said["value"])


def test_a_message_that_is_too_large_ends_the_socket(live: Control) -> None:
    async def talk() -> WSMsgType:
        async with (
            ClientSession() as session,
            session.ws_connect(
                f"http://127.0.0.1:{live.port}/socket", headers=good(live)
            ) as socket,
        ):
            with suppress(ConnectionError):  # it does not read all of it
                await socket.send_str("x" * 6_000_000)
            while (message := await socket.receive()).type is WSMsgType.TEXT:
                pass
            return message.type

    assert asyncio.run(talk()) in (WSMsgType.CLOSE, WSMsgType.CLOSED, WSMsgType.ERROR)


@pytest.mark.parametrize("origin", ["http://evil.example", None])
def test_a_socket_from_another_site(origin: str | None, live: Control) -> None:
    headers = good(live)
    del headers["Origin"]
    if origin:
        headers["Origin"] = origin

    async def talk() -> None:
        async with ClientSession() as session:
            await session.ws_connect(f"http://127.0.0.1:{live.port}/socket", headers=headers)

    with pytest.raises(WSServerHandshakeError, match="403"):
        asyncio.run(talk())


def test_every_answer_is_sealed(live: Control) -> None:
    for path in ("/", "/nothing", "/scenario.toml", "/control.js"):
        _, _, headers = ask(live, "GET", path, good(live))
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert "Access-Control-Allow-Origin" not in headers


def test_only_this_machine_hears_it(live: Control) -> None:
    """The listener is bound to loopback: its address in the kernel's table is 127.0.0.1."""
    lines = Path("/proc/net/tcp").read_text().splitlines() if Path("/proc/net/tcp").exists() else []
    ours = [line.split()[1] for line in lines if line.split()[1].endswith(f":{live.port:04X}")]
    assert all(place.startswith("0100007F") for place in ours)
