"""MAVLink messages to and from one autopilot; whatever else speaks on the same line is ignored.

We are the companion computer of its system: component 191, one heartbeat each second. That is not a
ground station's heartbeat, so no failsafe of the autopilot depends on us.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import Enum
from typing import Any

from flexpress.errors import InputError
from flexpress.field.flight import AutopilotSilentError, FlightError
from flexpress.field.mavlink.channel import Address, Channel, open_channel

_OURSELVES = 191  # MAV_COMP_ID_ONBOARD_COMPUTER
_AUTOPILOT = 1  # MAV_COMP_ID_AUTOPILOT1
_ONBOARD_CONTROLLER = 18  # MAV_TYPE
_NO_AUTOPILOT = 8  # MAV_AUTOPILOT_INVALID
_ACTIVE = 4  # MAV_STATE
_ARMED = 128  # MAV_MODE_FLAG_SAFETY_ARMED
_MISSION = 0  # MAV_MISSION_TYPE: not a fence, not rally points

_MOMENT = 0.5  # seconds

Message = Any
"""Of pymavlink, which has no types."""


class Firmware(Enum):
    """MAV_AUTOPILOT of those we know."""

    ARDUPILOT = 3
    PX4 = 12


@dataclass(frozen=True)
class Limits:
    """How long to wait, in seconds, and how often to ask; as the mission protocol recommends."""

    first_word: float = 30.0  # until the first heartbeat
    silence: float = 10.0  # without a heartbeat: ten are missing
    answer: float = 1.5  # before asking again
    tries: int = 5


class Link:
    """One autopilot, by its system id. All calls belong to the event loop that opened it."""

    def __init__(
        self, address: Address, system: int, limits: Limits, clock: Callable[[], float]
    ) -> None:
        self.address, self.limits = address, limits
        self._system, self._clock = system, clock
        self._dialect = _load_dialect()
        self._parser = self._new_parser()
        self._channel: Channel | None = None
        self._watchers: list[Callable[[Message], None]] = []
        self._news = asyncio.Event()
        self._beating: asyncio.Task[None] | None = None
        self._heartbeat: Message = None
        self._heard = clock()

    async def open(self) -> None:
        """Return when it was heard; else AutopilotSilentError, or InputError if nothing opens."""
        try:
            self._channel = await open_channel(self.address, self._received)
        except OSError as error:
            raise InputError(f"autopilot {self.address}: {error.strerror or error}") from None
        self._beating = asyncio.create_task(self._beat())
        if not await self.until(lambda: self._heartbeat is not None, self.limits.first_word):
            await self.close()
            raise AutopilotSilentError(
                f"autopilot {self.address}: no heartbeat of system {self._system} within "
                f"{self.limits.first_word:g} s: is it on, and does it speak MAVLink here?"
            )

    async def close(self) -> None:
        if self._beating is not None:
            self._beating.cancel()
            with suppress(asyncio.CancelledError):
                await self._beating
        if self._channel is not None:
            self._channel.close()

    @property
    def firmware(self) -> Firmware:
        """FlightError if it is neither of those we know: they number mission items differently."""
        kind = self._heartbeat.autopilot
        try:
            return Firmware(kind)
        except ValueError:
            raise FlightError(
                f"autopilot {self.address}: MAV_AUTOPILOT {kind} is neither ArduPilot (3) nor "
                "PX4 (12), whose missions we know"
            ) from None

    @property
    def is_armed(self) -> bool:
        return bool(self._heartbeat.base_mode & _ARMED)

    async def check_alive(self) -> None:
        """AutopilotSilentError if its last heartbeat was too long ago.

        If this program was busy for so long, heartbeats wait to be read: they get a moment.
        """
        if not await self.until(self._is_alive, _MOMENT):
            raise AutopilotSilentError(
                f"autopilot {self.address}: no heartbeat of system {self._system} for "
                f"{self.limits.silence:g} s: is the line broken?"
            )

    def _is_alive(self) -> bool:
        return self._clock() - self._heard <= self.limits.silence

    def watch(self, watcher: Callable[[Message], None]) -> None:
        """Called with every message of the autopilot from now on."""
        self._watchers.append(watcher)

    def send(self, kind: str, **fields: object) -> None:
        """A message by its MAVLink name, to the autopilot; it may get lost."""
        form = getattr(self._dialect, f"MAVLink_{kind.lower()}_message")
        if "target_system" in form.fieldnames:
            fields |= {"target_system": self._system, "target_component": _AUTOPILOT}
        self._parser.send(form(**fields))

    def command(self, number: int, *params: float) -> None:
        """A MAV_CMD, once; what is not given is zero."""
        values = [*params, *[0.0] * (7 - len(params))]
        named = {f"param{i}": value for i, value in enumerate(values, start=1)}
        self.send("COMMAND_LONG", command=number, confirmation=0, **named)

    @contextmanager
    def inbox(self, *kinds: str) -> Iterator[asyncio.Queue[Message]]:
        """The messages of these kinds that come in the meantime."""
        queue: asyncio.Queue[Message] = asyncio.Queue()

        def collect(message: Message) -> None:
            if message.get_type() in kinds:
                queue.put_nowait(message)

        self._watchers.append(collect)
        try:
            yield queue
        finally:
            self._watchers.remove(collect)

    async def until(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Whether it comes true in time; looked at whenever a message has come."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not condition():
                    self._news.clear()
                    await self._news.wait()
        return condition()

    async def _beat(self) -> None:
        while True:
            if self._channel is None or not self._channel.is_open:
                await self._reopen()
            self.send(
                "HEARTBEAT",
                type=_ONBOARD_CONTROLLER,
                autopilot=_NO_AUTOPILOT,
                base_mode=0,
                custom_mode=0,
                system_status=_ACTIVE,
                mavlink_version=3,
            )
            await asyncio.sleep(1.0)

    async def _reopen(self) -> None:
        """It failed once, so it may fail again; the silence is noticed elsewhere."""
        self._parser = self._new_parser()
        with suppress(OSError, InputError):
            self._channel = await open_channel(self.address, self._received)

    def _new_parser(self) -> Any:
        parser = self._dialect.MAVLink(self, srcSystem=self._system, srcComponent=_OURSELVES)
        parser.robust_parsing = True  # noise between messages is skipped
        return parser

    def write(self, content: bytes) -> None:
        """Called by pymavlink with what `send` has packed."""
        if self._channel is not None:
            self._channel.write(bytes(content))

    def _received(self, content: bytes) -> None:
        for message in self._parser.parse_buffer(content) or ():
            if self._is_for_us(message):
                self._take(message)

    def _is_for_us(self, message: Message) -> bool:
        """Not noise, not another system or component, not an answer to another ground station."""
        if message.get_type() == "BAD_DATA":
            return False
        sender = (message.get_srcSystem(), message.get_srcComponent())
        return (
            sender == (self._system, _AUTOPILOT)
            and getattr(message, "target_system", 0) in (0, self._system)
            and getattr(message, "target_component", 0) in (0, _OURSELVES)
            and getattr(message, "mission_type", _MISSION) == _MISSION
        )

    def _take(self, message: Message) -> None:
        if message.get_type() == "HEARTBEAT":
            self._heartbeat, self._heard = message, self._clock()
        if self._channel is not None:
            self._channel.answer()
        for watcher in tuple(self._watchers):
            watcher(message)
        self._news.set()


def _load_dialect() -> Any:
    """MAVLink 2, without a trace in the environment, where pymavlink's own connections look."""
    try:
        return importlib.import_module("pymavlink.dialects.v20.common")
    except ImportError:
        raise InputError(
            "an autopilot needs the package pymavlink: pip install 'flexpress[mavlink]'"
        ) from None
