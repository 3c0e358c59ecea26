"""Somebody else at the server's address: a courier waits until he has left, and says so."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from live_field import Nursery, nursery
from lone_courier import OVER, Script, fly
from test_live_wall_clock import is_merged, mission, steps_that_count, stop

from flexpress.field import courier as program
from flexpress.field.calling import Patience, RefusedByPeer, SomebodyElse
from flexpress.field.identity import CERTIFICATE, KEY, issue, make_authority
from flexpress.field.kit import CourierKit, load_kit


def test_a_courier_waits_and_tells_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    patient = Patience(first_wait=0.0, outlasts_others=program._AT_HOME.outlasts_others)
    monkeypatch.setattr(program, "_AT_HOME", patient)
    portal = SomebodyElse(403, "its certificate is refused")
    script = fly(Script([portal, portal, OVER]), tmp_path, monkeypatch)
    assert script.events("server-not-reached", "mission-over") == [
        "server-not-reached",
        "mission-over",
    ]


def test_a_courier_that_is_refused_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = RefusedByPeer(403, "the certificate of courier-1 is revoked")
    with pytest.raises(RefusedByPeer, match="revoked"):
        fly(Script([refused, OVER]), tmp_path, monkeypatch)


@contextmanager
def portal(folder: Path, kit: CourierKit, version: ssl.TLSVersion) -> Iterator[None]:
    """Speaks up to this version of TLS, with a certificate that nobody knows."""
    issue(make_authority(folder / "authority"), "server", "server", folder)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.maximum_version = version
    context.load_cert_chain(folder / CERTIFICATE, folder / KEY)
    with socket.create_server((kit.server_host, kit.server_port)) as listening:

        def serve() -> None:
            while True:
                try:
                    caller, _ = listening.accept()
                except OSError:  # shut down
                    return
                with suppress(OSError):  # he refuses the certificate
                    context.wrap_socket(caller, server_side=True).close()

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            thread.join()


@pytest.fixture(scope="module")
def children() -> Iterator[Nursery]:
    with nursery() as opened:
        yield opened


@pytest.mark.parametrize(
    "version",
    [ssl.TLSVersion.TLSv1_3, pytest.param(ssl.TLSVersion.TLSv1_2, marks=pytest.mark.slow)],
)
def test_real_programs(children: Nursery, tmp_path: Path, version: ssl.TLSVersion) -> None:
    with mission(children, tmp_path) as field:
        kit = load_kit(field.folder / "courier-1", CourierKit)
        with portal(tmp_path / "portal", kit, version):
            field.start("courier-1")
            told = field.until("courier-1", "server-not-reached")
        is_modern = version == ssl.TLSVersion.TLSv1_3
        assert ("its certificate is refused" in told["reason"]) is is_modern
        field.start_all(but=["courier-1"])
        is_merged(field, "client-1")
        stop(field)
        assert steps_that_count(field)[0] > 0
