"""The mission goes up, whatever gets lost; or the reason why not is one line."""

from __future__ import annotations

import math
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from flight_cases import flight_file, orders
from followed_flight import FLIGHT, HASTY, LIMIT, following, next_client, run
from scripted_autopilot import Losses, ScriptedAutopilot, common, free_udp_port, scripted
from thinned import by_default

from flexpress import InputError
from flexpress.field.autopilot import AutopilotFlight
from flexpress.field.flight import AutopilotSilentError, FlightError, MissionRefusedError
from flexpress.field.mavlink.link import Firmware
from flexpress.field.mavlink.transfer import wire_items

both = pytest.mark.parametrize("px4", [False, True], ids=["ardupilot", "px4"])
STEPS = (
    "to MISSION_REQUEST_LIST",
    "from MISSION_COUNT",
    "to MISSION_COUNT",
    "from MISSION_REQUEST",
    "from MISSION_REQUEST_INT",
    "to MISSION_ITEM_INT",
    "from MISSION_ACK",
    "to MISSION_REQUEST_INT",
    "from MISSION_ITEM_INT",
    "to MISSION_ACK",
    "from MISSION_CURRENT",
    "to MISSION_SET_CURRENT",
    "to COMMAND_LONG",
)
SILENCES = {
    "from HEARTBEAT": "no heartbeat of system 1 within 0.3 s: is it on, and does it speak",
    "from MISSION_CURRENT": "it does not say which mission item it flies",
    "to MISSION_REQUEST_LIST": "it did not send its mission in 2 attempts; perhaps another",
    "to MISSION_ITEM_INT": "it asked for item 0 of the mission, but did not get it: is the line",
}


def has_it(autopilot: ScriptedAutopilot) -> bool:
    """Whether it has the mission, as its firmware keeps it."""
    firmware = Firmware.PX4 if autopilot.px4 else Firmware.ARDUPILOT
    ours = wire_items(FLIGHT, firmware)
    first = 0 if autopilot.px4 else 1
    return [(i.command, i.param1, i.x, i.y) for i in autopilot.items][first:] == [
        (i.command, i.params[0], i.x, i.y) for i in ours
    ][first:]


@both
@pytest.mark.parametrize("lost", by_default(1, [2, 1, 5]))
@pytest.mark.parametrize("step", STEPS)
def test_packets_lost_at_each_step(px4: bool, step: str, lost: int) -> None:
    async def test() -> None:
        losses = Losses(first=Counter({step: lost}))
        with scripted(px4=px4, losses=losses) as autopilot:
            async with following(autopilot) as flight:
                await flight.take_off(orders())
            assert has_it(autopilot)
            assert autopilot.flown == 0

    run(test)


@both
def test_every_packet_comes_twice(px4: bool) -> None:
    async def test() -> None:
        with scripted(px4=px4, losses=Losses(repeated=1.0)) as autopilot:
            async with following(autopilot) as flight:
                await flight.take_off(orders())
            assert has_it(autopilot)

    run(test)


@both
def test_another_mission_is_replaced_on_the_ground(px4: bool) -> None:
    async def test() -> None:
        with scripted(px4=px4) as autopilot:
            for flight_of in (flight_file(longest_hold=30), FLIGHT, FLIGHT):
                async with following(autopilot, flight=flight_of) as flight:
                    await flight.take_off(orders())
            assert has_it(autopilot)
            assert autopilot.uploads == 2  # the third was there already

    run(test)


@both
def test_a_new_flight_begins_at_the_first_item(px4: bool) -> None:
    async def test() -> None:
        with scripted(px4=px4) as autopilot:
            async with following(autopilot) as flight:
                await flight.take_off(orders())
                autopilot.current = 5  # a pilot has landed it there
                await flight.take_off(orders())
                assert autopilot.flown == 0

    run(test)


def test_one_that_stays_where_it_is_does_not_fly() -> None:
    async def test() -> None:
        with scripted(px4=True) as autopilot:
            async with following(autopilot) as flight:
                await flight.take_off(orders())
            autopilot.current, autopilot.is_stubborn = 5, True
            async with following(autopilot, limits=HASTY) as flight:
                with pytest.raises(
                    MissionRefusedError, match="it stays at mission item 5; set the"
                ):
                    await flight.take_off(orders())

    run(test)


@both
@pytest.mark.parametrize("code", by_default(3, [4, 14, 12, 1, 2, 3, *range(5, 12), 13, 15]))
@pytest.mark.parametrize("item", [None, 3], ids=["at once", "at an item"])
def test_refused_by_name(px4: bool, code: int, item: int | None) -> None:
    async def test() -> None:
        with scripted(px4=px4, refuses=code, refused_item=item) as autopilot:
            async with following(autopilot) as flight:
                with pytest.raises(MissionRefusedError) as caught:
                    await flight.take_off(orders())
            where = "" if item is None else " at item 3"
            name = (
                common.enums["MAV_MISSION_RESULT"][code].name.removesuffix("_X").removesuffix("_Y")
            )
            start = f"autopilot {autopilot.address}: it refused the mission{where}: {name}, "
            assert str(caught.value).startswith(start)
            assert "\n" not in str(caught.value)
            assert autopilot.items == []

    run(test)


@both
def test_one_that_keeps_something_else(px4: bool) -> None:
    class Forgetful(ScriptedAutopilot):
        def _kept(self, message: Any) -> Any:
            if message.seq == 4:
                message.z += 10
            return super()._kept(message)

    async def test() -> None:
        autopilot = Forgetful(px4=px4)
        try:
            async with following(autopilot, limits=HASTY) as flight:
                with pytest.raises(
                    MissionRefusedError, match="kept another one: item 4 is another"
                ):
                    await flight.take_off(orders())
        finally:
            autopilot.close()

    run(test)


@both
@pytest.mark.parametrize("lost", by_default(1, SILENCES))
def test_one_that_does_not_answer(px4: bool, lost: str) -> None:
    async def test() -> None:
        hasty = replace(HASTY, first_word=0.3) if lost == "from HEARTBEAT" else HASTY
        with scripted(px4=px4) as autopilot:
            autopilot.losses.first[lost] = 10**9
            async with following(autopilot, limits=hasty) as flight:
                for _ in range(2):  # it may be tried again
                    with pytest.raises(FlightError) as caught:
                        await flight.take_off(orders())
                    assert SILENCES[lost] in str(caught.value)
                autopilot.losses.first.clear()
            async with following(autopilot) as flight:
                await flight.take_off(orders())
            assert has_it(autopilot)

    run(test)


def test_one_that_asks_for_nothing() -> None:
    class Deaf(ScriptedAutopilot):
        def _on_mission_count(self, message: Any) -> None:
            """It does not care."""

    async def test() -> None:
        autopilot = Deaf()
        try:
            async with following(autopilot, limits=HASTY) as flight:
                with pytest.raises(
                    AutopilotSilentError, match="it asks for no item of the mission"
                ):
                    await flight.take_off(orders())
        finally:
            autopilot.close()

    run(test)


def test_one_that_asks_for_ever() -> None:
    class Endless(ScriptedAutopilot):
        def _on_mission_item_int(self, message: Any) -> None:
            """It asks for the first one again and again, and never gives up."""
            self._asked = 0

    async def test() -> None:
        autopilot = Endless()
        try:
            async with following(autopilot, limits=HASTY) as flight:
                with pytest.raises(AutopilotSilentError, match="asked for item 0 of the mission"):
                    await flight.take_off(orders())
        finally:
            autopilot.close()

    run(test)


def test_firmware_that_we_do_not_know() -> None:
    class Other(ScriptedAutopilot):
        def _send(self, kind: str, *fields: Any) -> None:
            if kind == "heartbeat":
                fields = (fields[0], 0, *fields[2:])
            super()._send(kind, *fields)

    async def test() -> None:
        autopilot = Other()
        try:
            async with following(autopilot) as flight:
                with pytest.raises(FlightError, match="MAV_AUTOPILOT 0 is neither ArduPilot"):
                    await flight.take_off(orders())
        finally:
            autopilot.close()

    run(test)


@both
def test_strangers_on_the_same_line_are_ignored(px4: bool) -> None:
    """Another system that is at its first client, a gimbal of ours, and answers to others."""

    async def test() -> None:
        port = free_udp_port()
        with (
            scripted(px4=px4, calls=port, answers_others=True) as autopilot,
            scripted(px4=True, calls=port, sender=(2, 1)) as other_system,
            scripted(px4=True, calls=port, sender=(1, 154)) as gimbal,
        ):
            for stranger in (other_system, gimbal):
                stranger.arm()
                stranger.arrive(FLIGHT.holds[0].arrival)
            async with following(f"udpin://127.0.0.1:{port}") as flight:
                await flight.take_off(orders())
                assert has_it(autopilot)
                autopilot.arm()
                autopilot.arrive(FLIGHT.holds[1].arrival)
                stop = await next_client(flight)
                assert stop.client == FLIGHT.holds[1].client
                await flight.release(stop)
                assert autopilot.flown == FLIGHT.holds[1].item + 1
                autopilot.land()
                assert await flight.next_stop() is None
            assert other_system.heard["MISSION_COUNT"] == gimbal.heard["MISSION_COUNT"] == 0

    run(test)


def test_headings_are_left_to_the_autopilot() -> None:
    """PX4 takes 0 for north. ArduPilot ignores it, and refuses NaN in most commands."""
    assert math.isnan(wire_items(FLIGHT, Firmware.PX4)[2].params[3])
    assert wire_items(FLIGHT, Firmware.ARDUPILOT)[3].params[3] == 0


def test_without_pymavlink_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pymavlink.dialects.v20.common", None)
    with pytest.raises(InputError, match=r"pip install 'flexpress\[mavlink\]'"):
        AutopilotFlight(FLIGHT, "udpin://0.0.0.0:14540")


def test_pymavlink_is_loaded_only_for_a_flight() -> None:
    code = (
        "import sys, flexpress.field.autopilot;"
        "print(*(name for name in sys.modules if name.startswith('pymavlink')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=LIMIT, check=True
    )
    assert done.stdout.split() == []
