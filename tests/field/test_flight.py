"""The flight by timetable, with a clock that only sleep moves."""

from __future__ import annotations

import asyncio
import math

import pytest
from flight_cases import CLIENTS, orders

from flexpress import InputError
from flexpress.field.flight import Flight, TimetableFlight


class Clock:
    """Counts seconds; what slept is in `slept`."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


async def fly(flight: Flight, *, done: tuple[str, ...] = ()) -> list[str | None]:
    await flight.take_off(orders(), done)
    visited: list[str | None] = []
    while (stop := await flight.next_stop()) is not None:
        assert flight.time_left == math.inf
        visited.append(stop.client)
        await flight.release(stop)
    await flight.close()
    return visited


@pytest.mark.parametrize(
    ("speedup", "slept"), [(1.0, [10, 10, 10, 70]), (10.0, [1, 1, 1, 7]), (math.inf, [])]
)
def test_every_client_at_its_time(speedup: float, slept: list[float]) -> None:
    clock = Clock()
    flight = TimetableFlight(speedup, clock=clock, sleep=clock.sleep)
    assert asyncio.run(fly(flight)) == list(CLIENTS)
    assert clock.slept == slept


def test_a_long_visit_delays_only_itself() -> None:
    clock = Clock()
    flight = TimetableFlight(clock=clock, sleep=clock.sleep)

    async def visit_long() -> list[float]:
        await flight.take_off(orders())
        arrivals = []
        while await flight.next_stop() is not None:
            arrivals.append(clock.now - 1000)
            clock.now += 25 if len(arrivals) == 1 else 0
        return [*arrivals, clock.now - 1000]

    assert asyncio.run(visit_long()) == [10, 35, 35, 100]


def test_started_again_it_goes_on_after_the_last_client() -> None:
    clock = Clock()
    flight = TimetableFlight(clock=clock, sleep=clock.sleep)
    assert asyncio.run(fly(flight, done=CLIENTS[:2])) == [CLIENTS[2]]
    assert clock.slept == [10, 70]


def test_it_flies_tour_after_tour() -> None:
    clock = Clock()
    flight = TimetableFlight(math.inf, clock=clock, sleep=clock.sleep)
    assert [asyncio.run(fly(flight)) for _ in range(2)] == [list(CLIENTS)] * 2


@pytest.mark.parametrize("speedup", [0.0, -1.0, math.nan])
def test_a_speedup_is_positive(speedup: float) -> None:
    with pytest.raises(InputError, match=r"speedup = .*: must be a number greater than 0"):
        TimetableFlight(speedup)
