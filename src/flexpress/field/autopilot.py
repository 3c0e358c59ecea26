"""A real flight: the mission goes to the autopilot, which then says where it is.

We never arm, never start the mission and never change the flight mode: that is the pilot's. All we
do in the air is to end a hold. It has NOT been flown, only tested against a scripted autopilot.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection
from functools import partial

from flexpress.arguments import check_whole
from flexpress.callbacks import Tell, ignore_note
from flexpress.field.flight import AutopilotSilentError, MissionChangedError, MissionRefusedError
from flexpress.field.flight_file import FlightFile, Hold
from flexpress.field.mavlink.channel import parse_address
from flexpress.field.mavlink.link import Firmware, Limits, Link, Message
from flexpress.field.mavlink.progress import Progress
from flexpress.field.mavlink.transfer import (
    WireItem,
    difference,
    download,
    first_of,
    upload,
    wire_items,
)
from flexpress.field.messages import Name, Orders, Stop

_DO_SET_MISSION_CURRENT = 224
_SET_MESSAGE_INTERVAL = 511
_REQUEST_MESSAGE = 512
_MISSION_CURRENT = 42
_EACH_SECOND = 1e6  # microseconds

_NO_TOTAL = (0, 65535)  # MISSION_CURRENT.total: not told, no mission
_LAST_MOMENT = 1.0
"""Seconds before a hold ends in which it is left alone: else both it and we might end it."""
_STALE = 5.0
"""Seconds without MISSION_CURRENT after which it is asked for again."""
_LOOK = 0.5
"""Seconds between two looks at the clock if no message comes."""


class AutopilotFlight:
    """Follows the autopilot at this address (`channel.FORMS`), whose system id is `system`."""

    def __init__(
        self,
        flight: FlightFile,
        address: str,
        *,
        system: int = 1,
        limits: Limits | None = None,
        clock: Callable[[], float] = time.monotonic,
        tell: Tell = ignore_note,
    ) -> None:
        check_whole("system", system, 1, 255)
        self._flight, self._clock, self._tell = flight, clock, tell
        self._new_link = partial(Link, parse_address(address), system, limits or Limits(), clock)
        self._link = self._new_link()
        self._firmware: Firmware | None = None  # None: not connected
        self._first = 0  # the number of our first item
        self._mission: tuple[WireItem, ...] = ()
        self._progress = Progress(flight.holds)
        self._total = 0
        self._current_heard = 0.0
        self._stops: dict[Name, Stop] = {}
        self._has_flown = False
        self._hold: Hold | None = None  # that was announced, until the drone leaves it
        self._end = 0.0  # of this hold
        self._check: asyncio.Task[str | None] | None = None

    async def take_off(self, orders: Orders, done: Collection[Name] = ()) -> None:
        """Return when the mission is on the autopilot. The pilot may then arm and start it.

        If it is armed already, this program was started again in mid-flight: the mission must be
        ours, and is continued. If it is not, and clients are done, the flight is over.
        """
        await self._connect()
        self._stops = {stop.client: stop for stop in orders.stops if stop.client not in done}
        self._has_flown = bool(done)
        self._hold = None
        if self._link.is_armed:
            await self._continue()
        elif not done:
            await self._load()

    async def next_stop(self) -> Stop | None:
        self._drop_check()
        while True:
            await self._link.check_alive()
            self._look()
            if self._is_home():
                return None
            hold = self._new_hold()
            if hold is not None:
                self._begin(hold)
                if hold.client in self._stops:
                    return self._stops[hold.client]
                await self._let_go(hold)
            await self._link.until(lambda: self._new_hold() is not None or self._is_home(), _LOOK)

    @property
    def time_left(self) -> float:
        if self._hold is None or self._progress.holding != self._hold:
            return 0.0
        return max(0.0, self._end - self._clock())

    async def release(self, stop: Stop) -> None:
        if self._hold is not None and self._hold.client == stop.client:
            await self._let_go(self._hold)

    async def close(self) -> None:
        self._drop_check()
        await self._link.close()

    async def _connect(self) -> None:
        if self._firmware is not None:
            await self._link.check_alive()
            return
        self._link = self._new_link()
        await self._link.open()
        try:
            firmware = self._link.firmware
            self._first = first_of(firmware)
            self._link.watch(self._heard)
            await self._hear_current()
        except BaseException:
            await self._link.close()
            raise
        self._mission, self._firmware = wire_items(self._flight, firmware), firmware

    async def _hear_current(self) -> None:
        """ArduPilot sends MISSION_CURRENT if it is asked to, PX4 always."""
        for _ in range(self._link.limits.tries):
            self._ask_for_current()
            self._link.command(_REQUEST_MESSAGE, _MISSION_CURRENT)
            known = lambda: self._progress.current is not None  # noqa: E731  # read where it is used
            if await self._link.until(known, self._link.limits.answer):
                return
        raise AutopilotSilentError(
            f"autopilot {self._link.address}: it does not say which mission item it flies "
            "(MISSION_CURRENT): this needs ArduPilot 4.0 or newer, or PX4"
        )

    def _ask_for_current(self) -> None:
        self._link.command(_SET_MESSAGE_INTERVAL, _MISSION_CURRENT, _EACH_SECOND)
        self._current_heard = self._clock()

    def _heard(self, message: Message) -> None:
        if message.get_type() == "MISSION_CURRENT":
            self._progress.now_flies(message.seq - self._first)
            self._total, self._current_heard = message.total, self._clock()
        elif message.get_type() == "MISSION_ITEM_REACHED":
            self._progress.has_reached(message.seq - self._first)

    async def _load(self) -> None:
        """Our mission on the autopilot, at its first item."""
        assert self._firmware is not None
        count = len(self._flight.items)
        if await self._difference() is None:
            self._tell(f"the mission of {count} items is on the autopilot already")
        else:
            await upload(self._link, self._mission, self._firmware)
            self._tell(f"the mission of {count} items is on the autopilot")
        await self._rewind()

    async def _rewind(self) -> None:
        """Disarming does this too, they say; 0 means the beginning to both."""
        self._progress.forget()
        for attempt in range(self._link.limits.tries):
            self._set_current(0, attempt)
            if await self._link.until(self._is_at_start, self._link.limits.answer):
                return
        raise MissionRefusedError(
            f"autopilot {self._link.address}: it stays at mission item {self._progress.current}; "
            "set the first one in the ground station, and start again"
        )

    def _is_at_start(self) -> bool:
        return self._progress.current is not None and self._progress.current <= 0

    async def _continue(self) -> None:
        """Nothing is uploaded to an autopilot that is armed."""
        differs = await self._difference()
        if differs is not None:
            raise MissionChangedError(
                f"autopilot {self._link.address}: it is armed and has another mission than ours "
                f"({differs}): land and disarm it, then start again"
            )
        self._tell(f"the autopilot is armed already, at mission item {self._progress.current}")

    async def _difference(self) -> str | None:
        assert self._firmware is not None
        return difference(self._mission, await download(self._link), self._firmware)

    def _look(self) -> None:
        """What the last messages, or their absence, mean."""
        if self._total not in (*_NO_TOTAL, len(self._flight.items), len(self._mission)):
            raise self._changed(f"it now has {self._total} items")
        if self._clock() - self._current_heard > _STALE:
            self._ask_for_current()
        if self._link.is_armed and (self._progress.current or 0) > 0:
            self._has_flown = True  # an autopilot that is armed for long on the ground disarms
        if self._progress.holding != self._hold:
            self._hold = None

    def _is_home(self) -> bool:
        return self._has_flown and not self._link.is_armed

    def _new_hold(self) -> Hold | None:
        hold = self._progress.holding if self._link.is_armed else None
        return None if hold == self._hold else hold

    def _begin(self, hold: Hold) -> None:
        """The mission is compared while the transfer is under way, which takes longer."""
        self._drop_check()
        self._hold, self._end = hold, self._clock() + self._flight.hold
        self._check = asyncio.create_task(self._difference())
        self._check.add_done_callback(lambda check: check.cancelled() or check.exception())

    def _drop_check(self) -> None:
        if self._check is not None:
            self._check.cancel()
            self._check = None

    async def _let_go(self, hold: Hold) -> None:
        """End the hold, if it has not ended; without an answer it ends by itself."""
        if not await self._mission_is_ours():
            return
        for attempt in range(self._link.limits.tries):
            if self.time_left <= _LAST_MOMENT:
                return
            self._set_current(self._first + hold.item + 1, attempt)
            if await self._link.until(
                lambda: self._progress.holding != hold, self._link.limits.answer
            ):
                return
        self._tell(f"the autopilot does not fly on; its hold ends in {self.time_left:.0f} s")

    async def _mission_is_ours(self) -> bool:
        """False if that cannot be said in time. Numbers of another mission mean other places."""
        if self._check is None or self.time_left <= _LAST_MOMENT:
            return False
        await asyncio.wait({self._check}, timeout=self.time_left)
        if not self._check.done() or isinstance(self._check.exception(), AutopilotSilentError):
            return False
        differs = self._check.result()
        if differs is not None:
            raise self._changed(differs)
        return True

    def _changed(self, how: str) -> MissionChangedError:
        return MissionChangedError(
            f"autopilot {self._link.address}: somebody else has changed its mission: {how}"
        )

    def _set_current(self, number: int, attempt: int) -> None:
        """Old PX4 knows only the message, new ArduPilot perhaps only the command: by turns."""
        if (attempt % 2 == 0) == (self._firmware is Firmware.PX4):
            self._link.send("MISSION_SET_CURRENT", seq=number)
        else:
            self._link.command(_DO_SET_MISSION_CURRENT, number)
