"""A plan file goes up to MAVSDK's mission server by the plain MAVLink protocol, item by item."""

from __future__ import annotations

import json
import math
import queue
import socket
import time
from typing import Any

import mavsdk_link
import pytest
from flights import origin_of, preset_plan, walled, walled_plan

from flexpress.planning.export import export_plan

WHY = "pymavlink is in the development extra: pip install 'flexpress[dev]'"
mavlink: Any = pytest.importorskip("pymavlink.dialects.v20.common", reason=WHY)
server_plugin: Any = pytest.importorskip("mavsdk.plugins.mission_raw_server", reason=WHY)

LIMIT = 600.0  # seconds for the whole conversation, on a machine that is very busy
VEHICLE = (1, 1)
FIELDS = ("param1", "param2", "param3", "param4", "x", "y", "z")


class Station:
    """A ground station that speaks MAVLink 2 through one UDP socket."""

    def __init__(self, port: int) -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.connect(("127.0.0.1", port))
        self.socket.settimeout(0.1)
        self.link = mavlink.MAVLink(self, srcSystem=245, srcComponent=190)
        self.link.robust_parsing = True

    def __enter__(self) -> Station:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def write(self, data: bytes) -> None:
        self.socket.send(data)

    def beat(self) -> None:
        self.link.heartbeat_send(mavlink.MAV_TYPE_GCS, mavlink.MAV_AUTOPILOT_INVALID, 0, 0, 0)

    def received(self) -> list[Any]:
        try:
            return list(self.link.parse_buffer(self.socket.recv(4096)) or [])
        except (TimeoutError, ConnectionRefusedError):
            return []

    def upload(self, items: list[dict[str, Any]]) -> int:
        """Offer the items, send what is asked for; the type of the final MISSION_ACK."""
        end, last = time.monotonic() + LIMIT, -math.inf
        asked = False
        while time.monotonic() < end:
            if time.monotonic() > last + 0.5:
                last = time.monotonic()
                self.beat()
                if not asked:
                    self.link.mission_count_send(*VEHICLE, len(items), 0)
            for message in self.received():
                if message.get_type() in ("MISSION_REQUEST_INT", "MISSION_REQUEST"):
                    asked = True
                    self.send(message.seq, items[message.seq])
                elif message.get_type() == "MISSION_ACK" and asked:
                    return int(message.type)
        raise AssertionError(f"no MISSION_ACK within {LIMIT} s")

    def send(self, number: int, item: dict[str, Any]) -> None:
        self.link.mission_item_int_send(
            *VEHICLE,
            number,
            item["frame"],
            item["command"],
            int(number == 0),
            int(item["autoContinue"]),
            *(item[field] for field in FIELDS),
            0,
        )


def message_items(text: str) -> list[dict[str, Any]]:
    """A plan file's items with MISSION_ITEM_INT's fields: degrees as whole 1e-7, null as NaN."""
    items: list[dict[str, Any]] = json.loads(text)["mission"]["items"]
    for item in items:
        params = [math.nan if value is None else value for value in item["params"]]
        scale = 1e7 if item["frame"] == mavlink.MAV_FRAME_GLOBAL_RELATIVE_ALT else 1
        params[4:6] = [round(value * scale) for value in params[4:6]]
        item.update(zip(FIELDS, params, strict=True))
    return items


def uploaded(items: list[dict[str, Any]]) -> list[Any]:
    """What MAVSDK's mission server says it got."""
    port = mavsdk_link.free_port()
    arrived: queue.Queue[Any] = queue.Queue()
    with mavsdk_link.vehicle(port) as running, Station(port) as station:
        server = server_plugin.MissionRawServer(running.server_component())
        try:
            server.subscribe_incoming_mission(
                lambda result, mission, _: arrived.put((result.name, mission.mission_items))
            )
            assert station.upload(items) == mavlink.MAV_MISSION_ACCEPTED
            result, mission = arrived.get(timeout=LIMIT)
        finally:
            server.destroy()
    assert result == "SUCCESS"
    return list(mission)


@pytest.mark.parametrize("case", ["paper", "alps", "walled"])
def test_every_item_arrives_as_it_was_written(case: str) -> None:
    scenario = walled()
    plan = walled_plan(scenario)
    if case != "walled":
        scenario, plan = preset_plan(case, "minmax")
    files = export_plan(scenario, plan, "qgc", origin=origin_of(scenario))
    text = files["transporter-1.plan"]
    sent = message_items(text)
    got = uploaded(sent)
    assert len(got) == len(sent) > len(plan.transporters[0].clients)
    for number, (item, expected) in enumerate(zip(got, sent, strict=True)):
        assert (item.seq, item.frame, item.command, item.autocontinue, item.mission_type) == (
            number,
            expected["frame"],
            expected["command"],
            1,
            mavlink.MAV_MISSION_TYPE_MISSION,
        )
        assert (item.x, item.y) == (expected["x"], expected["y"])
        for field in ("param1", "param2", "param3", "param4", "z"):
            assert getattr(item, field) == pytest.approx(expected[field], nan_ok=True), field
