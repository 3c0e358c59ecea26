"""A mission to the autopilot and back, item by item (https://mavlink.io/en/services/mission.html).

Only the autopilot's own memory counts: after an upload the mission is read back and compared, since
the last acknowledgement can be lost, and since ArduPilot rounds, and may keep half of a mission.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass

from flexpress.field.flight import AutopilotSilentError, FlightError, MissionRefusedError
from flexpress.field.flight_file import FlightFile, FlightItem
from flexpress.field.mavlink.link import Firmware, Link, Message

_ABOVE_SEA = 0  # MAV_FRAME_GLOBAL
_ABOVE_HOME = 3  # MAV_FRAME_GLOBAL_RELATIVE_ALT
_NO_PLACE = 2  # MAV_FRAME_MISSION
_SAME_FRAME = {5: _ABOVE_SEA, 6: _ABOVE_HOME}  # names of the same for whole numbers
_NAV_WAYPOINT = 16

_ACCEPTED = 0
_REASONS = {
    1: "MAV_MISSION_ERROR, perhaps another program is exchanging a mission with it: try again",
    2: "MAV_MISSION_UNSUPPORTED_FRAME, it cannot fly above home",
    3: "MAV_MISSION_UNSUPPORTED, it does not know this command",
    4: "MAV_MISSION_NO_SPACE, its memory is too small: plan fewer clients for this transporter",
    5: "MAV_MISSION_INVALID, a parameter is out of its range",
    13: "MAV_MISSION_INVALID_SEQUENCE, it lost count: try again",
    14: "MAV_MISSION_DENIED, another program is exchanging a mission with it: try again",
    15: "MAV_MISSION_OPERATION_CANCELLED, the transfer took too long: try again",
}
_REASONS |= {
    5 + i: f"MAV_MISSION_INVALID_PARAM{i}, parameter {i} is out of its range" for i in range(1, 8)
}
_PASSING = {1, 13, 14, 15}
"""May follow a packet that came twice, or another transfer; neither ends an upload by itself."""

_METRES, _DEGREES, _PARAMETER = 0.02, 2, 0.01
"""How much an autopilot may round: altitude, 1e-7 degrees, seconds or m/s."""


@dataclass(frozen=True)
class WireItem:
    """The fields of a MISSION_ITEM_INT that matter: degrees as whole 1e-7."""

    frame: int
    command: int
    params: tuple[float, float, float, float]
    x: int
    y: int
    z: float

    @classmethod
    def of(cls, message: Message) -> WireItem:
        params = (message.param1, message.param2, message.param3, message.param4)
        frame = _SAME_FRAME.get(message.frame, message.frame)
        return cls(frame, message.command, params, message.x, message.y, message.z)

    def fields(self) -> dict[str, float]:
        """Of a MISSION_ITEM_INT."""
        params = {f"param{i}": value for i, value in enumerate(self.params, start=1)}
        place = {"frame": self.frame, "x": self.x, "y": self.y, "z": self.z}
        fixed = {"command": self.command, "current": 0, "autocontinue": 1, "mission_type": 0}
        return {**params, **place, **fixed}

    def is_like(self, other: WireItem) -> bool:
        """The same flight. Of the parameters, the two that we set: hold, or type and value."""
        return (
            self.command == other.command
            and all(
                math.isclose(a, b, rel_tol=1e-6, abs_tol=_PARAMETER)
                for a, b in zip(self.params[:2], other.params[:2], strict=True)
            )
            and (self.frame == _NO_PLACE or self._is_at(other))
        )

    def _is_at(self, other: WireItem) -> bool:
        return (
            self.frame == other.frame
            and abs(self.x - other.x) <= _DEGREES
            and abs(self.y - other.y) <= _DEGREES
            and abs(self.z - other.z) <= _METRES
        )


def wire_items(flight: FlightFile, firmware: Firmware) -> tuple[WireItem, ...]:
    """The mission as this firmware numbers it: ArduPilot's item 0 is home."""
    choice = 0.0 if firmware is Firmware.ARDUPILOT else math.nan
    items = tuple(_wire_item(item, choice) for item in flight.items)
    if firmware is Firmware.PX4:
        return items
    latitude, longitude = (round(degrees * 1e7) for degrees in flight.home)
    height = flight.home_altitude or 0.0
    return (WireItem(_ABOVE_SEA, _NAV_WAYPOINT, (0, 0, 0, 0), latitude, longitude, height), *items)


def first_of(firmware: Firmware) -> int:
    """The number of the first item that is flown."""
    return 1 if firmware is Firmware.ARDUPILOT else 0


def _wire_item(item: FlightItem, choice: float) -> WireItem:
    """`choice`: what leaves a parameter, the heading, to the autopilot; ArduPilot ignores it."""
    first, second, third, fourth = (choice if one is None else float(one) for one in item.params)
    latitude, longitude, altitude = item.place or (0.0, 0.0, 0.0)
    frame = _NO_PLACE if item.place is None else _ABOVE_HOME
    x, y = round(latitude * 1e7), round(longitude * 1e7)
    return WireItem(frame, item.command, (first, second, third, fourth), x, y, altitude)


def difference(
    ours: Sequence[WireItem], theirs: Sequence[WireItem], firmware: Firmware
) -> str | None:
    """In words, where the two missions differ; None if they do not. Home does not count."""
    if len(ours) != len(theirs):
        return f"it has {len(theirs)} items, ours has {len(ours)}"
    for number in range(first_of(firmware), len(ours)):
        if not ours[number].is_like(theirs[number]):
            return f"item {number} is another one"
    return None


async def download(link: Link) -> tuple[WireItem, ...]:
    """The mission on the autopilot. AutopilotSilentError if it does not answer."""
    for _ in range(link.limits.tries):
        with link.inbox("MISSION_COUNT", "MISSION_ITEM_INT", "MISSION_ACK") as inbox:
            items = await _read_items(link, inbox)
        if items is not None:
            link.send("MISSION_ACK", type=_ACCEPTED, mission_type=0)
            return items
        await asyncio.sleep(2 * link.limits.answer)  # another transfer may be under way
    raise AutopilotSilentError(
        f"autopilot {link.address}: it did not send its mission in {link.limits.tries} attempts; "
        "perhaps another program is exchanging a mission with it"
    )


async def _read_items(link: Link, inbox: asyncio.Queue[Message]) -> tuple[WireItem, ...] | None:
    """None if it broke off."""
    count = await _ask(link, inbox, "MISSION_COUNT", "MISSION_REQUEST_LIST", mission_type=0)
    items: list[WireItem] = []
    while count is not None and len(items) < count.count:
        item = await _ask(
            link, inbox, "MISSION_ITEM_INT", "MISSION_REQUEST_INT", seq=len(items), mission_type=0
        )
        if item is None:
            return None
        items.append(WireItem.of(item))
    return None if count is None else tuple(items)


async def _ask(
    link: Link, inbox: asyncio.Queue[Message], answer: str, request: str, **fields: int
) -> Message:
    """The answer with the same number, if there is one; None if none comes, or an error."""
    for _ in range(link.limits.tries):
        link.send(request, **fields)
        try:
            async with asyncio.timeout(link.limits.answer):
                while True:
                    message = await inbox.get()
                    if message.get_type() == "MISSION_ACK" and message.type != _ACCEPTED:
                        return None
                    if message.get_type() == answer and fields.get("seq") in (
                        None,
                        getattr(message, "seq", None),
                    ):
                        return message
        except TimeoutError:
            continue
    return None


async def upload(link: Link, items: Sequence[WireItem], firmware: Firmware) -> None:
    """Return when the autopilot has exactly this mission; else MissionRefusedError."""
    differs: str | None = None
    for _ in range(link.limits.tries):
        await _Offer(link, items).make()
        differs = difference(items, await download(link), firmware)
        if differs is None:
            return
    raise MissionRefusedError(
        f"autopilot {link.address}: it took the mission, but kept another one: {differs}"
    )


@dataclass
class _Offer:
    """One upload: answers the autopilot's requests, until it acknowledges or asks no more.

    Only the count is sent again: an item that was not asked for is an error to an autopilot, and
    so is a count after the first item.
    """

    link: Link
    items: Sequence[WireItem]
    asked: int | None = None  # the number of the item that it asked for last
    error: int = 0  # that it reported since
    silent: int = 0  # how often nothing came in time
    heard: int = 0

    async def make(self) -> None:
        """MissionRefusedError, or AutopilotSilentError if nothing was asked for."""
        self._send_count()
        with self.link.inbox("MISSION_REQUEST_INT", "MISSION_REQUEST", "MISSION_ACK") as inbox:
            while self._goes_on():
                message = await _next(inbox, self.link.limits.answer)
                if message is None:
                    self._wait_longer()
                elif message.get_type() != "MISSION_ACK":
                    self._send_item(message.seq)
                elif self._is_accepted(message.type):
                    return
        if not self._is_complete():
            raise self._broken_off()

    def _broken_off(self) -> FlightError:
        if self.error:
            return self._refused(self.error)
        if self.asked is None:
            return AutopilotSilentError(
                f"autopilot {self.link.address}: it asks for no item of the mission, offered "
                f"{self.link.limits.tries} times"
            )
        return AutopilotSilentError(
            f"autopilot {self.link.address}: it asked for item {self.asked} of the mission, but "
            "did not get it: is the line very bad?"
        )

    def _is_complete(self) -> bool:
        return self.asked == len(self.items) - 1

    def _goes_on(self) -> bool:
        """An autopilot asks again by itself, in less time than we wait for an answer."""
        tries = self.link.limits.tries
        patience = 2 if self.error or self._is_complete() else tries
        return self.silent < patience and self.heard < tries * (len(self.items) + 10)

    def _wait_longer(self) -> None:
        self.silent += 1
        if self.asked is None:
            self._send_count()

    def _is_accepted(self, code: int) -> bool:
        """An acknowledgement before the first request belongs to something else."""
        self.heard += 1
        if code in _PASSING:
            self.error = code
        elif code != _ACCEPTED:
            raise self._refused(code)
        return code == _ACCEPTED and self.asked is not None

    def _send_count(self) -> None:
        self.link.send("MISSION_COUNT", count=len(self.items), mission_type=0)

    def _send_item(self, number: int) -> None:
        """To an old MISSION_REQUEST the answer is a MISSION_ITEM_INT as well."""
        self.asked, self.error, self.silent, self.heard = number, 0, 0, self.heard + 1
        if number < len(self.items):
            self.link.send("MISSION_ITEM_INT", seq=number, **self.items[number].fields())

    def _refused(self, code: int) -> MissionRefusedError:
        where = "" if self.asked is None else f" at item {self.asked}"
        reason = _REASONS.get(code, f"MAV_MISSION_RESULT {code}")
        return MissionRefusedError(
            f"autopilot {self.link.address}: it refused the mission{where}: {reason}"
        )


async def _next(inbox: asyncio.Queue[Message], seconds: float) -> Message:
    """None if nothing comes in time."""
    try:
        async with asyncio.timeout(seconds):
            return await inbox.get()
    except TimeoutError:
        return None
