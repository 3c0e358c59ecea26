"""A courier's side of a flight with the scripted autopilot: a clock that stands still."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from flight_cases import flight_file
from scripted_autopilot import ScriptedAutopilot

from flexpress.field.autopilot import AutopilotFlight
from flexpress.field.flight_file import FlightFile
from flexpress.field.mavlink.link import Limits
from flexpress.field.messages import Stop

LIMIT = 300.0  # seconds for a whole test, on a machine that is very busy

PATIENT = Limits(first_word=LIMIT, silence=1e9, answer=0.1, tries=1000)
"""Asks again soon, and often: nothing of it depends on how busy the machine is."""

HASTY = replace(PATIENT, answer=1.0, tries=2)
"""Gives up, for tests in which that is expected."""

FLIGHT = flight_file(longest_hold=600)


class Clock:
    """Stands still until a test moves it, so that no hold ends and nothing is silent for long."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@asynccontextmanager
async def following(
    autopilot: ScriptedAutopilot | str,
    *,
    flight: FlightFile = FLIGHT,
    limits: Limits = PATIENT,
    clock: Callable[[], float] | None = None,
    **options: Any,
) -> AsyncIterator[AutopilotFlight]:
    address = autopilot if isinstance(autopilot, str) else autopilot.address
    followed = AutopilotFlight(flight, address, limits=limits, clock=clock or Clock(), **options)
    try:
        yield followed
    finally:
        await followed.close()


async def next_client(flight: AutopilotFlight) -> Stop:
    stop = await flight.next_stop()
    assert stop is not None, "the flight is over"
    return stop


async def until(condition: Callable[[], bool]) -> None:
    while not condition():
        await asyncio.sleep(0.01)


def run(test: Callable[[], Coroutine[Any, Any, None]]) -> None:
    async def limited() -> None:
        await within(test())

    asyncio.run(limited())


async def within(work: Awaitable[None]) -> None:
    async with asyncio.timeout(LIMIT):
        await work
