"""Addresses that users give, and hosts that cannot be found."""

from __future__ import annotations

import asyncio
import ssl

import pytest

from flexpress.errors import InputError
from flexpress.field.calling import LinkDown, ask, open_session
from flexpress.field.messages import Departing, Wait
from flexpress.field.provisioning import _listening, _Mission, parse_address

GOOD = {
    "10.0.0.1:7600": ("10.0.0.1", 7600),
    "{name}.local:1": ("{name}.local", 1),
    "[fd00::1]:65535": ("fd00::1", 65535),
}
BAD = ("", "host", "host:", ":7600", "host:0", "host:65536", "host:٣", "a..b:1", "fd00::1:7600")


@pytest.mark.parametrize("text", GOOD)
def test_an_address_is_a_host_and_a_port(text: str) -> None:
    assert parse_address("server", text) == GOOD[text]


@pytest.mark.parametrize("text", [*BAD, "[10.0.0.1]:1", f"{'a' * 64}.local:1", f"{'a.' * 130}b:1"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"server = .*: must be HOST:PORT, such as"):
        parse_address("server", text)


def test_who_is_found_by_ipv6_listens_there() -> None:
    hosts = ("::1", "fd00::1", "10.0.0.1", "127.0.0.1")
    assert [_listening(host) for host in hosts] == ["::1", "::", "0.0.0.0", "127.0.0.1"]


def test_ports_do_not_run_out_of_numbers() -> None:
    address = ("127.0.0.1", 65_530)
    mission = _Mission("wall", "sum", 1.0, 1.0, None, "auto", address, address)
    assert mission.address("client-5", 5) == ("127.0.0.1", 65_535)
    with pytest.raises(InputError, match="client-6 would listen at 65536: the last port is 65535"):
        mission.address("client-6", 6)


def test_a_host_that_cannot_exist_is_a_link_that_is_down() -> None:
    """So a courier misses this client, and goes on."""

    async def call() -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        async with open_session(context, {"client-1": "a..b"}) as session:
            await ask(session, "https://client-1:1/visit", Departing("0" * 32), Wait)

    with pytest.raises(LinkDown, match=r"a\.\.b"):
        asyncio.run(call())
