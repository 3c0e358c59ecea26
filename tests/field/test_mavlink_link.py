"""Addresses, and heartbeats over each kind of line: UDP both ways, TCP, a serial line."""

from __future__ import annotations

import os
import random
import socket
import threading
import time
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest
from followed_flight import PATIENT, Clock, run
from scripted_autopilot import common, free_udp_port, scripted

from flexpress import InputError
from flexpress.field.mavlink.channel import Address, parse_address
from flexpress.field.mavlink.link import Link

GOOD = {
    "udpin://0.0.0.0:14540": Address("udpin", "0.0.0.0", 14540),
    "udp://:14540": Address("udpin", "0.0.0.0", 14540),
    "udp://0.0.0.0:14550": Address("udpin", "0.0.0.0", 14550),
    "udpin://127.0.0.1:14540": Address("udpin", "127.0.0.1", 14540),
    "udpin://[::1]:14540": Address("udpin", "::1", 14540),
    "udpout://192.168.4.1:14550": Address("udpout", "192.168.4.1", 14550),
    "tcp://sitl.local:5760": Address("tcp", "sitl.local", 5760),
    "tcpout://10.0.0.2:5760": Address("tcp", "10.0.0.2", 5760),
    "serial:/dev/ttyS0:57600": Address("serial", "/dev/ttyS0", 57600),
    "serial:///dev/serial/by-id/usb-FTDI:921600": Address(
        "serial", "/dev/serial/by-id/usb-FTDI", 921600
    ),
}


@pytest.mark.parametrize("text", GOOD)
def test_addresses(text: str) -> None:
    address = parse_address(text)
    assert address == GOOD[text]
    assert parse_address(str(address)) == address


@pytest.mark.parametrize(
    "text",
    [
        "",
        "udp",
        "14540",
        "udpin:0.0.0.0:14540",
        "udpin://0.0.0.0",
        "udpin://0.0.0.0:0",
        "udpin://0.0.0.0:70000",
        "http://127.0.0.1:80",
        "serial:ttyS0:57600",
        "serial:/dev/ttyS0",
    ],
)
def test_other_texts_are_refused_with_the_forms(text: str) -> None:
    with pytest.raises(InputError, match=r"must be udpin://0\.0\.0\.0:14540 \(we listen\), udpout"):
        parse_address(text)


@pytest.mark.parametrize("text", ["udpout://:14550", "tcp://:5760"])
def test_who_calls_needs_a_host(text: str) -> None:
    with pytest.raises(InputError, match="the host is missing"):
        parse_address(text)


def test_an_address_that_libraries_understand_in_two_ways_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        parse_address("udp://10.0.0.2:14550")
    assert str(caught.value) == (
        'autopilot "udp://10.0.0.2:14550": who calls? Write udpin://10.0.0.2:14550 if we listen at '
        "this address, udpout://10.0.0.2:14550 if the autopilot does"
    )


def heartbeat() -> bytes:
    form = common.MAVLink_heartbeat_message(2, 12, 0, 0, 4, 3)
    return bytes(form.pack(common.MAVLink(None, srcSystem=1, srcComponent=1)))


async def is_heard(address: str, *, then: Callable[[Link], None] | None = None) -> None:
    """Opens, hears a heartbeat, and closes."""
    link = Link(parse_address(address), 1, PATIENT, Clock())
    await link.open()
    try:
        assert not link.is_armed
        if then is not None:
            then(link)
    finally:
        await link.close()


def test_the_autopilot_calls_us() -> None:
    port = free_udp_port()
    with scripted(calls=port):
        run(lambda: is_heard(f"udp://:{port}"))


def test_we_call_the_autopilot() -> None:
    with scripted() as autopilot:
        run(lambda: is_heard(autopilot.address))
        assert autopilot.heard["HEARTBEAT"] >= 1


@contextmanager
def server(*contents: bytes) -> Iterator[str]:
    """Accepts one connection for each content, says it, and hangs up after all but the last."""
    listening = socket.create_server(("127.0.0.1", 0))
    over = threading.Event()

    def serve() -> None:
        for number, content in enumerate(contents, start=1):
            connection, _ = listening.accept()
            with connection, suppress(OSError):
                connection.sendall(content)
                while number == len(contents) and not over.is_set() and connection.recv(4096):
                    connection.sendall(heartbeat())

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"tcp://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        over.set()
        thread.join()
        listening.close()


def test_over_tcp() -> None:
    with server(heartbeat()) as address:
        run(lambda: is_heard(address))


def test_a_connection_that_breaks_is_made_again() -> None:
    with server(b"", heartbeat()[:5], heartbeat()) as address:
        run(lambda: is_heard(address))


@pytest.mark.slow
def test_noise_is_skipped() -> None:
    noise = random.Random(7).randbytes(20_000)
    with server(noise + heartbeat() + noise[:100] + heartbeat()) as address:
        run(lambda: is_heard(address))


def test_over_a_serial_line() -> None:
    ours, theirs = os.openpty()
    tty.setraw(theirs)
    try:
        os.write(ours, b"\x00garbage" + heartbeat())

        def then(link: Link) -> None:
            assert link.address.kind == "serial"

        run(lambda: is_heard(f"serial:{os.ttyname(theirs)}:57600", then=then))
        assert os.read(ours, 4096)[0] == common.PROTOCOL_MARKER_V2  # our heartbeat, as bytes
    finally:
        os.close(ours)
        os.close(theirs)


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("serial:/dev/null:57600", "not a serial line"),
        ("serial:/dev/no-such-line:57600", "No such file or directory"),
        ("serial:/dev/null:12345", "has no baud rate 12345"),
        ("udpin://192.0.2.1:14540", "autopilot udpin://192.0.2.1:14540: "),
        ("tcp://127.0.0.1:{free}", "autopilot tcp://127.0.0.1:"),
    ],
)
def test_what_cannot_be_opened(address: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        run(lambda: is_heard(address.format(free=free_udp_port())))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_busy_program_is_no_silence() -> None:
    """Heartbeats that wait to be read still count, whatever the clock says."""

    async def test() -> None:
        clock = Clock()
        with scripted() as autopilot:
            link = Link(parse_address(autopilot.address), 1, PATIENT, clock)
            await link.open()
            clock.now += 2 * PATIENT.silence
            beats = autopilot.beats
            while autopilot.beats == beats:
                time.sleep(0.01)  # nothing else runs here in the meantime
            await link.check_alive()
            await link.close()

    run(test)
