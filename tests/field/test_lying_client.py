"""A client that lies to its courier is missed; the courier flies on, and brings home the rest."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from besieged import besieged, running
from callers import until
from forging import update_of
from msgspec.structs import replace

from flexpress.field.courier import run_courier
from flexpress.field.kit import STATE, ClientKit, load_kit
from flexpress.field.messages import Parcel, VisitAnswer, encode
from flexpress.field.tls import server_context

MORE = 10_000_000
"""Bytes: some three hundred models."""


class Liar:
    """Client-4 in other hands: its certificate, and answers of their choice."""

    def __init__(self, kits: Path, answer: bytes, content: bytes | None) -> None:
        self.answer, self.content = answer, content
        self.sent = 0
        self._kits = kits

    @contextmanager
    def listening(self) -> Iterator[None]:
        port = load_kit(self._kits / "client-4", ClientKit).port
        server = ThreadingHTTPServer(("127.0.0.1", port), self._handler())
        server.daemon_threads = True
        context = server_context(self._kits / "client-4")
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            server.server_close()
            thread.join(600)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        liar = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:  # its name in http.server
                self.rfile.read(int(self.headers["Content-Length"]))
                self._send(200, liar.answer, len(liar.answer), {})

            def do_GET(self) -> None:  # its name in http.server
                """What it has, or as much as the caller takes, if that is not too much."""
                size = 2**40 if liar.content is None else len(liar.content)
                first = liar.content or b""
                self._send(206, first, size, {"Content-Range": f"bytes 0-{size - 1}/{size}"})
                try:
                    while liar.content is None and liar.sent < MORE:
                        self.wfile.write(bytes(2**16))
                        liar.sent += 2**16
                except OSError:
                    pass
                self.close_connection = True

            def _send(self, status: int, body: bytes, size: int, more: dict[str, str]) -> None:
                self.send_response(status)
                for name, value in {"Content-Length": str(size), **more}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments: Any) -> None:
                """Nothing is printed."""

        return Handler


Lie = Callable[[Path], tuple[bytes, bytes | None]]


def handed_over(change: Callable[[Parcel], Parcel], *, has_it: bool = True) -> Lie:
    def lie(kits: Path) -> tuple[bytes, bytes | None]:
        parcel, content = update_of(kits, "client-4")
        answer = encode(VisitAnswer("ready", parcels=(change(parcel),)))
        return answer, content if has_it else None

    return lie


def in_the_name_of(client: str) -> Callable[[Parcel], Parcel]:
    return lambda parcel: replace(parcel, name=replace(parcel.name, client=client))


LIES: dict[str, tuple[Lie, str]] = {
    "an update that is too long": (
        handed_over(lambda parcel: replace(parcel, size=2**40), has_it=False),
        "1,099,511,627,776; must have 31,448 bytes",
    ),
    "an update of another client": (
        handed_over(in_the_name_of("client-1")),
        "client-4 has handed over an update of client-1",
    ),
    "an update that it does not have": (
        handed_over(lambda parcel: parcel, has_it=False),
        "must send bytes 0-31447/31448, and does not",
    ),
    "an update of other bytes": (
        handed_over(lambda parcel: replace(parcel, content="0" * 64)),
        "send it again from the beginning",
    ),
    "a web page": (lambda kits: (b"<html>", None), "not a VisitAnswer"),
    "something long": (lambda kits: (b" " * (2**24 + 1), None), "more than 16,777,216 bytes"),
}


@pytest.mark.parametrize("name", LIES)
def test_the_courier_flies_on(tmp_path: Path, name: str) -> None:
    make, reason = LIES[name]
    with besieged(tmp_path, absent=("client-1", "client-2", "client-4")) as field:
        liar = Liar(field.kits, *make(field.kits))
        home = {"event": "returned", "tour": 1}
        with liar.listening(), running(run_courier, field.kits / "courier-1", **home) as courier:
            until(lambda: courier.has_started() and courier.said("returned", tour=1))
        (missed,) = courier.said("missed")
        assert (missed["client"], reason in missed["reason"]) == ("client-4", True), missed[
            "reason"
        ]
        assert courier.said("visited", client="client-3")
        assert liar.sent < MORE
        files = sum(path.stat().st_size for path in (field.kits / "courier-1" / STATE).iterdir())
        assert files < 2**20
