"""Flights with a scripted autopilot on loopback, which moves only when it is told to."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from flight_cases import CLIENTS, flight_file, orders
from followed_flight import FLIGHT, HASTY, PATIENT, Clock, following, next_client, run, until
from scripted_autopilot import Losses, ScriptedAutopilot, scripted
from thinned import by_default

from flexpress.field.autopilot import AutopilotFlight
from flexpress.field.flight import AutopilotSilentError, MissionChangedError

FIRST, SECOND, THIRD = FLIGHT.holds
both = pytest.mark.parametrize("px4", [False, True], ids=["ardupilot", "px4"])


async def fly_a_tour(autopilot: ScriptedAutopilot, flight: AutopilotFlight) -> list[str]:
    """With a visit at each client; the drone must stay until it is released."""
    await flight.take_off(orders())
    autopilot.arm()
    visited = []
    for hold in FLIGHT.holds:
        autopilot.arrive(hold.arrival)
        stop = await next_client(flight)
        visited.append(stop.client)
        assert autopilot.flown == hold.item
        await flight.release(stop)
        assert autopilot.flown == hold.item + 1
    autopilot.land()
    assert await flight.next_stop() is None
    return visited


@both
def test_a_whole_flight_and_the_next(px4: bool) -> None:
    async def test() -> None:
        notes: list[str] = []
        with scripted(px4=px4) as autopilot:
            async with following(autopilot, tell=notes.append) as flight:
                for _ in range(2):
                    assert await fly_a_tour(autopilot, flight) == list(CLIENTS)
            assert autopilot.uploads == 1
        assert notes == [
            "the mission of 9 items is on the autopilot",
            "the mission of 9 items is on the autopilot already",
        ]

    run(test)


@both
@pytest.mark.parametrize("seed", by_default(1, range(20)))
@pytest.mark.slow
def test_a_flight_on_a_bad_line(px4: bool, seed: int) -> None:
    """A fifth of all packets is lost, and another fifth comes twice, in both directions."""

    async def test() -> None:
        losses = Losses(seed, dropped=0.2, repeated=0.2)
        with scripted(px4=px4, losses=losses) as autopilot:
            async with following(autopilot) as flight:
                assert await fly_a_tour(autopilot, flight) == list(CLIENTS)

    run(test)


@both
def test_the_arrival_is_noticed_even_if_it_is_not_reported(px4: bool) -> None:
    async def test() -> None:
        with scripted(px4=px4) as autopilot:
            autopilot.losses.first["from MISSION_ITEM_REACHED"] = 10**9
            async with following(autopilot) as flight:
                assert await fly_a_tour(autopilot, flight) == list(CLIENTS)

    run(test)


@both
def test_the_hold_ends_by_itself_when_its_time_is_up(px4: bool) -> None:
    async def test() -> None:
        clock = Clock()
        with scripted(px4=px4) as autopilot:
            async with following(autopilot, clock=clock) as flight:
                await flight.take_off(orders())
                autopilot.arm()
                autopilot.arrive(FIRST.arrival)
                stop = await next_client(flight)
                assert flight.time_left == FLIGHT.hold
                clock.now += FLIGHT.hold - 10
                assert flight.time_left == 10
                clock.now += 9.5
                await flight.release(stop)  # too late: it would end twice
                assert autopilot.flown == FIRST.item
                clock.now += 60
                assert flight.time_left == 0
                autopilot.end_hold()
                autopilot.arrive(SECOND.arrival)
                assert (await next_client(flight)).client == SECOND.client
                assert flight.time_left == FLIGHT.hold

    run(test)


@both
def test_a_client_is_announced_once_while_the_drone_stays(px4: bool) -> None:
    """The courier gives up early, and asks for the next client."""

    async def test() -> None:
        with scripted(px4=px4) as autopilot:
            async with following(autopilot) as flight:
                await flight.take_off(orders())
                autopilot.arm()
                autopilot.arrive(FIRST.arrival)
                assert (await next_client(flight)).client == FIRST.client
                coming = asyncio.create_task(next_client(flight))
                autopilot.end_hold()
                autopilot.arrive(SECOND.arrival)
                assert (await coming).client == SECOND.client
                assert flight.time_left > 0

    run(test)


@both
def test_clients_come_in_the_order_in_which_the_drone_reaches_them(px4: bool) -> None:
    async def test() -> None:
        with scripted(px4=px4) as autopilot:
            async with following(autopilot) as flight:
                await flight.take_off(orders())
                autopilot.arm()
                visited = []
                for hold in (THIRD, FIRST, THIRD):
                    autopilot.arrive(hold.arrival)
                    stop = await next_client(flight)
                    visited.append(stop.client)
                    await flight.release(stop)
                assert visited == [THIRD.client, FIRST.client, THIRD.client]

    run(test)


@both
def test_nobody_stays_at_a_client_without_a_visit(px4: bool) -> None:
    """It is not in the orders: its certificate is revoked, say."""

    async def test() -> None:
        with scripted(px4=px4) as autopilot:
            async with following(autopilot) as flight:
                await flight.take_off(orders(FIRST.client, THIRD.client))
                autopilot.arm()
                autopilot.arrive(SECOND.arrival)
                coming = asyncio.create_task(next_client(flight))
                await until(lambda: autopilot.flown == SECOND.item + 1)
                autopilot.arrive(THIRD.arrival)
                assert (await coming).client == THIRD.client

    run(test)


@both
@pytest.mark.parametrize("done", [False, True], ids=["before the visit", "after it"])
def test_started_again_in_mid_flight(px4: bool, done: bool) -> None:
    async def test() -> None:
        with scripted(px4=px4) as autopilot:
            async with following(autopilot) as flight:
                await flight.take_off(orders())
                autopilot.arm()
                autopilot.arrive(FIRST.arrival)
                await next_client(flight)
            notes: list[str] = []
            async with following(autopilot, tell=notes.append) as flight:
                await flight.take_off(orders(), {FIRST.client} if done else set())
                coming = asyncio.create_task(next_client(flight))
                if done:
                    await until(lambda: autopilot.flown == FIRST.item + 1)
                    autopilot.arrive(SECOND.arrival)
                assert (await coming).client == (SECOND if done else FIRST).client
                autopilot.land()
                assert await flight.next_stop() is None
            assert autopilot.uploads == 1
            assert notes == [f"the autopilot is armed already, at mission item {FIRST.item}"]

    run(test)


def test_started_again_after_the_landing() -> None:
    async def test() -> None:
        with scripted() as autopilot:
            async with following(autopilot) as flight:
                await flight.take_off(orders(), {FIRST.client})
                assert await flight.next_stop() is None
            assert autopilot.uploads == 0

    run(test)


@both
def test_an_autopilot_that_is_armed_gets_no_other_mission(px4: bool) -> None:
    async def test() -> None:
        with scripted(px4=px4) as autopilot:
            async with following(autopilot) as flight:
                await flight.take_off(orders())
            autopilot.move(FIRST.item)
            autopilot.arm()
            async with following(autopilot) as flight:
                with pytest.raises(MissionChangedError) as caught:
                    await flight.take_off(orders())
            number = FIRST.item + (0 if px4 else 1)
            assert str(caught.value) == (
                f"autopilot {autopilot.address}: it is armed and has another mission than ours "
                f"(item {number} is another one): land and disarm it, then start again"
            )
            assert autopilot.uploads == 1

    run(test)


@both
def test_a_mission_that_somebody_else_changed_is_not_continued(px4: bool) -> None:
    """The next item may be anywhere now."""

    async def test() -> None:
        with scripted(px4=px4) as autopilot:
            async with following(autopilot) as flight:
                await flight.take_off(orders())
                autopilot.arm()
                autopilot.move(THIRD.item)
                autopilot.arrive(FIRST.arrival)
                stop = await next_client(flight)
                with pytest.raises(MissionChangedError, match="somebody else has changed its"):
                    await flight.release(stop)
                assert autopilot.flown == FIRST.item

    run(test)


@both
def test_a_mission_of_another_length_is_noticed_on_the_way(px4: bool) -> None:
    async def test() -> None:
        with scripted(px4=px4) as autopilot:
            async with following(autopilot) as flight:
                await flight.take_off(orders())
                autopilot.arm()
                autopilot.shorten()
                with pytest.raises(MissionChangedError, match="it now has 8 items"):
                    await flight.next_stop()

    run(test)


@both
def test_if_it_does_not_fly_on_its_hold_ends_by_itself(px4: bool) -> None:
    async def test() -> None:
        notes: list[str] = []
        with scripted(px4=px4) as autopilot:
            async with following(autopilot) as flight:
                await flight.take_off(orders())
            autopilot.arm()
            autopilot.arrive(FIRST.arrival)
            autopilot.is_stubborn = True
            async with following(autopilot, tell=notes.append, limits=HASTY) as flight:
                await flight.take_off(orders())
                stop = await next_client(flight)
                await flight.release(stop)
                assert notes[1:] == ["the autopilot does not fly on; its hold ends in 600 s"]
                assert autopilot.heard["MISSION_SET_CURRENT"] > 0
                assert autopilot.heard["command 224"] > 0
                autopilot.end_hold()
                autopilot.arrive(SECOND.arrival)
                assert (await next_client(flight)).client == SECOND.client

    run(test)


@both
def test_armed_and_disarmed_on_the_ground_is_no_flight(
    px4: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both disarm if nobody takes off for a while."""
    monkeypatch.setattr("flexpress.field.autopilot._LOOK", 0.001)

    async def test() -> None:
        with scripted(px4=px4) as autopilot:
            async with following(autopilot) as flight:
                await flight.take_off(orders())
                coming = asyncio.create_task(next_client(flight))
                for armed in (True, False):
                    autopilot.is_armed = armed
                    await until(lambda wanted=armed: flight._link.is_armed == wanted)  # type: ignore[misc]  # mypy knows no defaults of lambdas
                    beats = autopilot.beats
                    await until(lambda sent=beats: autopilot.beats > sent + 20)  # type: ignore[misc]  # as above
                autopilot.arm()
                autopilot.arrive(FIRST.arrival)
                assert (await coming).client == FIRST.client

    run(test)


@both
def test_an_autopilot_that_falls_silent_in_the_air(px4: bool) -> None:
    """It is an error that ends when it speaks again."""

    async def test() -> None:
        clock = Clock()
        limits = replace(PATIENT, silence=10.0)
        with scripted(px4=px4) as autopilot:
            async with following(autopilot, clock=clock, limits=limits) as flight:
                await flight.take_off(orders())
                autopilot.arm()
                autopilot.is_silent = True
                coming = asyncio.create_task(flight.next_stop())
                while not coming.done():
                    clock.now += 11
                    await asyncio.sleep(0.05)
                with pytest.raises(AutopilotSilentError) as caught:
                    await coming
                assert str(caught.value) == (
                    f"autopilot {autopilot.address}: no heartbeat of system 1 for 10 s: is the "
                    "line broken?"
                )
                autopilot.is_silent = False
                heard = flight._link._heard
                await until(lambda: flight._link._heard > heard)
                autopilot.arrive(SECOND.arrival)
                assert (await next_client(flight)).client == SECOND.client

    run(test)


def test_a_hold_as_long_as_the_plan_says() -> None:
    async def test() -> None:
        with scripted() as autopilot:
            async with following(autopilot, flight=flight_file()) as flight:
                await flight.take_off(orders())
                autopilot.arm()
                autopilot.arrive(FIRST.arrival)
                await next_client(flight)
                assert flight.time_left == 6

    run(test)
