"""How a courier learns that it is near a client: by the plan's timetable, or from its autopilot."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Collection
from typing import Protocol

from flexpress.arguments import refusal
from flexpress.errors import FlexpressError
from flexpress.field.messages import Name, Orders, Stop


class FlightError(FlexpressError):
    """The flight cannot be followed, in one line. The courier may still try clients by itself."""

    exit_code = 7


class AutopilotSilentError(FlightError):
    """Nothing was heard for too long. If it speaks again, `next_stop` can be called again."""


class MissionRefusedError(FlightError):
    """The autopilot did not take the mission; nothing flies."""


class MissionChangedError(FlightError):
    """The autopilot has another mission than ours: somebody else has loaded it."""


class Flight(Protocol):
    """One drone, tour after tour: take off, stop at clients, come home."""

    async def take_off(self, orders: Orders, done: Collection[Name] = ()) -> None:
        """Prepare a tour. `done`: clients that need no visit, if this program was started again."""

    async def next_stop(self) -> Stop | None:
        """Return when the drone is near a client, or None when it is home again.

        In the order in which it gets there. A client can come twice, if the drone does.
        """

    @property
    def time_left(self) -> float:
        """Seconds until the drone leaves this stop by itself; infinite if it waits."""

    async def release(self, stop: Stop) -> None:
        """The transfer is done: fly on. Without it, the drone leaves when its time is up."""

    async def close(self) -> None:
        """Stop following. The drone flies on."""


class TimetableFlight:
    """A flight as the plan has it, for rehearsals: near each client at its time, never delayed.

    `speedup` seconds of the plan pass in one second; if it is infinite, nothing waits. A stop lasts
    as long as the courier likes, and the next one comes at once if its time has passed.
    """

    def __init__(
        self,
        speedup: float = 1.0,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        if not speedup > 0:
            raise refusal("speedup", speedup, "a number greater than 0; inf does not wait at all")
        self._speedup, self._clock, self._sleep = speedup, clock, sleep
        self._departure, self._duration = clock(), 0.0
        self._stops: list[Stop] = []

    async def take_off(self, orders: Orders, done: Collection[Name] = ()) -> None:
        """Depart now; if clients are done, so long ago that the last of them has just been left."""
        flown = max((stop.seconds for stop in orders.stops if stop.client in done), default=0.0)
        self._departure = self._clock() - flown / self._speedup
        self._stops = [stop for stop in orders.stops if stop.client not in done]
        self._duration = orders.duration

    async def next_stop(self) -> Stop | None:
        stop = self._stops.pop(0) if self._stops else None
        await self._until(self._duration if stop is None else stop.seconds)
        return stop

    @property
    def time_left(self) -> float:
        return math.inf

    async def release(self, stop: Stop) -> None:
        """Nothing waits for it."""

    async def close(self) -> None:
        """Nothing is open."""

    async def _until(self, seconds: float) -> None:
        """So long after the departure, by the plan."""
        wait = self._departure + seconds / self._speedup - self._clock()
        if wait > 0:
            await self._sleep(wait)
