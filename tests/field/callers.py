"""Those who call the ports of a field by hand, and say every byte themselves.

So they can also say what no courier would say.
"""

from __future__ import annotations

import hashlib
import http.client
import socket
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flexpress.field.kit import ClientKit, ServerKit, load_kit
from flexpress.field.messages import (
    Departing,
    Manifest,
    Message,
    Missing,
    Orders,
    Parcel,
    Problem,
    Receipt,
    SignedSnapshot,
    Snapshot,
    VisitAnswer,
    WireError,
    decode,
    encode,
)
from flexpress.field.parts import OFFSET
from flexpress.field.tls import caller_context

PATIENCE = 600.0
"""Seconds: a machine may be busy, and what is not compiled yet is compiled first."""


def until(found: Callable[[], Any]) -> Any:
    """What it returns once that is true."""
    deadline = time.monotonic() + PATIENCE
    while not (result := found()):
        assert time.monotonic() < deadline, "waited for too long"
        time.sleep(0.01)
    return result


@dataclass(frozen=True)
class Answer:
    """Of a port. Status 0: there was no answer, and the problem says why."""

    status: int
    content: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def problem(self) -> str:
        if self.status == 0:
            return self.content.decode()
        try:
            return decode(self.content, Problem).error
        except WireError:
            return self.content.decode("utf-8", "replace")


class Caller:
    """Somebody who calls a port, each time over a new connection."""

    def __init__(self, context: ssl.SSLContext | None, name: str, port: int) -> None:
        """The name is that of the member which should answer."""
        self._context, self._name, self.port = context, name, port

    def connect(self) -> socket.socket:
        plain = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # 40 ms per question otherwise
        if self._context is None:
            return plain
        try:
            return self._context.wrap_socket(plain, server_hostname=self._name)
        except BaseException:
            plain.close()
            raise

    def __call__(
        self,
        method: str,
        path: str,
        body: bytes | Message | Iterator[bytes] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """An iterator is sent in chunks, without a length."""
        content = encode(body) if isinstance(body, Message) else body
        connection = http.client.HTTPConnection(self._name)
        try:
            connection.sock = self.connect()
            connection.request(
                method,
                path,
                content,
                dict(headers or {}),
                encode_chunked=isinstance(content, Iterator),
            )
            response = connection.getresponse()
            return Answer(response.status, response.read(), dict(response.headers))
        except (OSError, http.client.HTTPException) as error:
            return Answer(0, f"{type(error).__name__}: {error}".encode())
        finally:
            connection.close()

    def raw(self, content: bytes) -> Answer:
        """These bytes, and the answer to them."""
        try:
            with self.connect() as connection:
                connection.sendall(content)
                response = http.client.HTTPResponse(connection)
                response.begin()
                return Answer(response.status, response.read(), dict(response.headers))
        except (OSError, http.client.HTTPException) as error:
            return Answer(0, f"{type(error).__name__}: {error}".encode())


class HandCourier:
    """A courier without a program: it does a step when the test says so."""

    def __init__(self, kits: Path, name: str, kit: Path | None = None) -> None:
        """With the certificate in `kit`, if that is not the one of its name."""
        self.kits, self.name = kits, name
        self.context = caller_context(kit or kits / name)
        self.run = load_kit(kits / "server", ServerKit).run
        self.home = Caller(self.context, "server", load_kit(kits / "server", ServerKit).port)

    def near(self, client: str) -> Caller:
        return Caller(self.context, client, load_kit(self.kits / client, ClientKit).port)

    def depart(self) -> Orders:
        """As soon as it may."""

        def ask() -> Orders | None:
            answer = self.home("POST", "/courier/depart", Departing(self.run))
            assert answer.status == 200, answer
            return decode(answer.content, Orders) if b'"stops"' in answer.content else None

        orders: Orders = until(ask)
        return orders

    def model_of(self, orders: Orders) -> str:
        """Its digest."""
        return opened(orders).model

    def model(self, orders: Orders) -> bytes:
        answer = self.home("GET", f"/courier/models/{self.model_of(orders)}")
        assert answer.status == 200, answer
        return answer.content

    def visit(self, client: str, snapshot: SignedSnapshot, model: bytes) -> VisitAnswer:
        """Until the client is ready."""

        def ask() -> VisitAnswer | None:
            answer = self.near(client)("POST", "/visit", snapshot)
            assert answer.status == 200, answer
            visited = decode(answer.content, VisitAnswer)
            if visited.status == "send-model":
                sha = hashlib.sha256(model).hexdigest()
                pushed = self.push(self.near(client), f"/models/{sha}", model)
                assert pushed.status == 204, pushed
            return visited if visited.status == "ready" else None

        answer: VisitAnswer = until(ask)
        return answer

    def push(self, caller: Caller, path: str, content: bytes, offset: int = 0) -> Answer:
        return caller("PATCH", path, content[offset:], {OFFSET: str(offset)})

    def take(self, client: str, parcel: Parcel) -> bytes:
        answer = self.near(client)("GET", f"/parcels/{parcel.content}")
        assert answer.status == 200, answer
        return answer.content

    def announce(self, manifest: Manifest) -> Answer:
        return self.home("POST", f"/courier/tours/{manifest.tour}/manifest", manifest)

    def upload(self, tour: int, content: bytes) -> Answer:
        sha = hashlib.sha256(content).hexdigest()
        return self.push(self.home, f"/courier/tours/{tour}/contents/{sha}", content)

    def finish(self, manifest: Manifest) -> Answer:
        return self.home("POST", f"/courier/tours/{manifest.tour}/return", manifest)

    def bring(self, manifest: Manifest, *contents: bytes) -> Receipt:
        """The whole of S2."""
        announced = self.announce(manifest)
        assert announced.status == 200, announced
        missing = {sha for sha, _ in decode(announced.content, Missing).contents}
        for content in contents:
            if hashlib.sha256(content).hexdigest() in missing:
                assert self.upload(manifest.tour, content).status == 204
        answer = self.finish(manifest)
        assert answer.status == 200, answer
        return decode(answer.content, Receipt)


def opened(orders: Orders) -> Snapshot:
    return decode(orders.snapshot.snapshot.encode(), Snapshot)
