"""The mission goes to MAVSDK's mission server and back: code that others wrote for vehicles."""

from __future__ import annotations

import queue
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from followed_flight import FLIGHT, LIMIT, run
from scripted_autopilot import free_udp_port

from flexpress.field.mavlink.channel import parse_address
from flexpress.field.mavlink.link import Firmware, Limits, Link
from flexpress.field.mavlink.transfer import difference, download, upload, wire_items

WHY = "MAVSDK is in the development extra: pip install 'flexpress[dev]'"
mavsdk: Any = pytest.importorskip("mavsdk", reason=WHY)
server_plugin: Any = pytest.importorskip("mavsdk.plugins.mission_raw_server", reason=WHY)

CONNECTED = 0


@contextmanager
def vehicle(port: int) -> Iterator[queue.Queue[str]]:
    """System 1, component 1; says how each upload ended."""
    configuration = mavsdk.Configuration.create_manual(1, 1, True)
    running = mavsdk.Mavsdk(configuration)
    assert running.add_any_connection(f"udpin://127.0.0.1:{port}") == CONNECTED
    server = server_plugin.MissionRawServer(running.server_component())
    ended: queue.Queue[str] = queue.Queue()
    server.subscribe_incoming_mission(lambda result, mission, _: ended.put(result.name))
    try:
        yield ended
    finally:
        server.destroy()
        running.destroy()
        configuration.destroy()


def test_the_mission_goes_up_is_read_back_and_continued() -> None:
    async def test() -> None:
        port, current = free_udp_port(), []
        limits = Limits(first_word=LIMIT, answer=1.5, tries=50)
        with vehicle(port) as ended:
            link = Link(parse_address(f"udpout://127.0.0.1:{port}"), 1, limits, time.monotonic)
            link.watch(lambda m: current.append(getattr(m, "seq", None)) if is_current(m) else None)
            await link.open()
            try:
                items = wire_items(FLIGHT, Firmware.PX4)
                await upload(link, items, Firmware.PX4)
                assert ended.get(timeout=LIMIT) == "SUCCESS"
                assert difference(items, await download(link), Firmware.PX4) is None
                for number in (4, 0):
                    link.send("MISSION_SET_CURRENT", seq=number)
                    await link.until(lambda wanted=number: current[-1:] == [wanted], LIMIT)  # type: ignore[misc]  # mypy knows no defaults of lambdas
                    assert current[-1] == number
            finally:
                await link.close()

    run(test)


def is_current(message: Any) -> bool:
    return bool(message.get_type() == "MISSION_CURRENT")
