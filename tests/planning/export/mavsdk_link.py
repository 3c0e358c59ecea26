"""MAVSDK as an independent reader: a vehicle and a ground station of its own on loopback."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

WHY = "MAVSDK is in the development extra: pip install 'flexpress[dev]'"
mavsdk: Any = pytest.importorskip("mavsdk", reason=WHY)
mission_raw: Any = pytest.importorskip("mavsdk.plugins.mission_raw", reason=WHY)

CONNECTED = 0


def free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def instance(system: int, component: int, url: str) -> Iterator[Any]:
    """One MAVSDK with one connection; its threads and sockets end with the block."""
    configuration = mavsdk.Configuration.create_manual(system, component, True)
    running = mavsdk.Mavsdk(configuration)
    try:
        assert running.add_any_connection(url) == CONNECTED
        yield running
    finally:
        running.destroy()
        configuration.destroy()


@contextmanager
def vehicle(port: int) -> Iterator[Any]:
    with instance(1, 1, f"udpin://127.0.0.1:{port}") as running:
        yield running


@contextmanager
def reader() -> Iterator[Any]:
    """MAVSDK's mission_raw plugin, which reads plan files; it wants a vehicle to talk to."""
    port = free_port()
    with vehicle(port), instance(245, 190, f"udpout://127.0.0.1:{port}") as station:
        autopilot = station.first_autopilot(10.0)
        assert autopilot is not None, "MAVSDK found no vehicle on loopback within 10 s"
        plugin = mission_raw.MissionRaw(autopilot)
        try:
            yield plugin
        finally:
            plugin.destroy()
