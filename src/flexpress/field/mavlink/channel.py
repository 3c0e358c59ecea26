"""Where an autopilot is, and bytes to it and from it: UDP, TCP or a serial line."""

from __future__ import annotations

import asyncio
import os
import re
import termios
import tty
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, Protocol

from flexpress.arguments import shown
from flexpress.errors import InputError

FORMS = (
    "udpin://0.0.0.0:14540 (we listen), udpout://HOST:PORT (we call), tcp://HOST:PORT or "
    "serial:/dev/ttyS0:57600"
)

_NETWORK = re.compile(
    r"(udp|udpin|udpout|tcp|tcpout)://(\[[0-9a-fA-F:.]+\]|[^:/\[\]]*):(\d{1,5})/?"
)
_LINE = re.compile(r"serial:(?://)?(/.+):(\d{1,9})")

Received = Callable[[bytes], None]


@dataclass(frozen=True)
class Address:
    """A host and its port, or a serial line and its baud rate."""

    kind: Literal["udpin", "udpout", "tcp", "serial"]
    host: str
    port: int

    def __str__(self) -> str:
        separator = ":" if self.kind == "serial" else "://"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.kind}{separator}{host}:{self.port}"


def parse_address(text: str) -> Address:
    """InputError unless it is one of the forms above.

    `udp://:14540` means the same as `udpin://0.0.0.0:14540`. With a host, pymavlink listens and
    MAVSDK calls: it is refused.
    """
    if found := _LINE.fullmatch(text):
        return Address("serial", found[1], int(found[2]))
    found = _NETWORK.fullmatch(text)
    if found is None or not 1 <= int(found[3]) <= 65535:
        raise InputError(f"autopilot {shown(text)}: must be {FORMS}")
    kind, host, port = found[1], found[2].strip("[]"), int(found[3])
    if kind == "udp" and host not in ("", "0.0.0.0"):
        raise InputError(
            f"autopilot {shown(text)}: who calls? Write udpin://{found[2]}:{port} if we listen at "
            f"this address, udpout://{found[2]}:{port} if the autopilot does"
        )
    if kind in ("udp", "udpin"):
        return Address("udpin", host or "0.0.0.0", port)
    if not host:
        raise InputError(f"autopilot {shown(text)}: the host is missing; {FORMS}")
    return Address("udpout" if kind == "udpout" else "tcp", host, port)


class Channel(Protocol):
    """Carries bytes both ways until it breaks. Writing to a broken one does nothing."""

    is_open: bool

    def write(self, content: bytes) -> None: ...

    def answer(self) -> None:
        """From now on write to whoever sent the last bytes, if that is not settled."""

    def close(self) -> None: ...


async def open_channel(address: Address, received: Received) -> Channel:
    """OSError if that is not possible now, InputError if it never will be."""
    loop = asyncio.get_running_loop()
    if address.kind == "serial":
        return _Serial(address, received)
    if address.kind == "tcp":
        return (await loop.create_connection(lambda: _Tcp(received), address.host, address.port))[1]
    place, listens = (address.host, address.port), address.kind == "udpin"
    _, channel = await loop.create_datagram_endpoint(
        lambda: _Udp(received, listens),
        local_addr=place if listens else None,
        remote_addr=None if listens else place,
    )
    return channel


class _Udp(asyncio.DatagramProtocol):
    """If it listens, it writes to nobody until it is told to answer."""

    def __init__(self, received: Received, listens: bool) -> None:
        self._received, self._listens = received, listens
        self._sender: tuple[object, ...] | None = None
        self._peer: tuple[object, ...] | None = None
        self.is_open = True

    def connection_made(self, transport: asyncio.DatagramTransport) -> None:  # type: ignore[override]  # typeshed has the general one
        self._transport = transport

    def datagram_received(self, content: bytes, sender: tuple[object, ...]) -> None:
        self._sender = sender
        self._received(content)

    def error_received(self, error: Exception) -> None:
        """Nobody is there yet: it stays silent, which is noticed elsewhere."""

    def connection_lost(self, error: Exception | None) -> None:
        self.is_open = False

    def write(self, content: bytes) -> None:
        if self.is_open and (self._peer is not None or not self._listens):
            self._transport.sendto(content, self._peer)

    def answer(self) -> None:
        if self._listens:
            self._peer = self._sender

    def close(self) -> None:
        self._transport.close()


class _Tcp(asyncio.Protocol):
    def __init__(self, received: Received) -> None:
        self._received = received
        self.is_open = True

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # typeshed has the general one
        self._transport = transport

    def data_received(self, content: bytes) -> None:
        self._received(content)

    def connection_lost(self, error: Exception | None) -> None:
        self.is_open = False

    def write(self, content: bytes) -> None:
        if self.is_open:
            self._transport.write(content)

    def answer(self) -> None:
        """There is one at the other end."""

    def close(self) -> None:
        self._transport.abort()


class _Serial:
    """Eight bits, no parity, no flow control."""

    def __init__(self, address: Address, received: Received) -> None:
        speed = getattr(termios, f"B{address.port}", None)
        if speed is None:
            raise InputError(f"autopilot {address}: this machine has no baud rate {address.port}")
        self._received, self._loop = received, asyncio.get_running_loop()
        self._line = os.open(address.host, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        self.is_open = True
        try:
            _make_raw(self._line, speed)
        except termios.error as error:
            os.close(self._line)
            raise InputError(f"autopilot {address}: not a serial line ({error.args[1]})") from None
        self._loop.add_reader(self._line, self._read)

    def _read(self) -> None:
        try:
            content = os.read(self._line, 4096)
        except BlockingIOError:
            return
        except OSError:
            content = b""
        if content:
            self._received(content)
        else:
            self.close()  # unplugged

    def write(self, content: bytes) -> None:
        """What does not fit is lost, as on a bad line: MAVLink asks again."""
        if self.is_open:
            with suppress(OSError):
                os.write(self._line, content)

    def answer(self) -> None:
        """There is one at the other end."""

    def close(self) -> None:
        if self.is_open:
            self.is_open = False
            self._loop.remove_reader(self._line)
            os.close(self._line)


def _make_raw(line: int, speed: int) -> None:
    tty.setraw(line, termios.TCSANOW)
    mode = termios.tcgetattr(line)
    mode[2] = (mode[2] | termios.CLOCAL | termios.CREAD) & ~termios.CRTSCTS
    mode[4] = mode[5] = speed
    termios.tcsetattr(line, termios.TCSANOW, mode)
