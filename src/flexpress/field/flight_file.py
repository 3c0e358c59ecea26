"""`flight.json` of a courier's kit: the mission that its autopilot flies, made when provisioning.

At each client there are two waypoints at the same place: one to arrive at, without a hold, and one
that holds. Both ArduPilot and PX4 report a waypoint as reached when its hold is over, and not when
it begins; so it is the first of the two that says "I am here".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from flexpress.arguments import check_number, check_whole
from flexpress.errors import InputError
from flexpress.field.messages import Message, Name, Positive, WireError, decode
from flexpress.files.disk import read_bytes
from flexpress.planning.export.flight_plan import FlightPlan, Mission, make_flight_plan
from flexpress.planning.export.mavlink import NAV_WAYPOINT, Item, mission_items
from flexpress.planning.plan import ClientId, Plan
from flexpress.planning.problem import BUDGET_TOLERANCE
from flexpress.scenario import Scenario
from flexpress.scenario.projection import Coordinate
from flexpress.scenario.units import ENERGY

LONGEST_HOLD = 3600
"""Seconds at a client. ArduPilot could store 65,535, but nobody hovers for hours."""

_Latitude = Annotated[float, Meta(ge=-90, le=90)]
_Longitude = Annotated[float, Meta(ge=-180, le=180)]
_Index = Annotated[int, Meta(ge=0, le=65535)]


class FlightItem(Message, frozen=True):
    """One step of the mission, as MAVLink's `common` set defines it."""

    command: Annotated[int, Meta(ge=0, le=65535)]  # MAV_CMD
    params: tuple[float | None, float | None, float | None, float | None]  # None: its own choice
    place: tuple[_Latitude, _Longitude, float] | None  # altitude in metres above home


class Hold(Message, frozen=True):
    """A client on the way, and the numbers of its two items, counted from 0."""

    client: Name
    arrival: _Index
    item: _Index


class FlightFile(Message, frozen=True):
    """The mission of one transporter. Home is not one of its items."""

    scenario: str
    transporter: Positive
    home: tuple[_Latitude, _Longitude]
    home_altitude: float | None  # metres above sea level
    altitude: float  # metres above home
    hold: Annotated[int, Meta(ge=1, le=LONGEST_HOLD)]  # seconds at each client, at most
    items: tuple[FlightItem, ...]
    holds: tuple[Hold, ...]

    def __post_init__(self) -> None:
        for hold in self.holds:
            pair = self.items[hold.arrival : hold.item + 1]
            places = {item.place for item in pair}
            if [item.params[0] for item in pair] != [0, self.hold] or len(places) != 1:
                raise ValueError(f"{hold.client}: items {hold.arrival} and {hold.item} do not fit")


def make_flight_file(
    scenario: Scenario,
    plan: Plan,
    transporter: int,
    *,
    origin: Coordinate | None = None,
    longest_hold: float | None = None,
    name_of: Callable[[ClientId], Name] = lambda client: f"client-{client}",
) -> FlightFile:
    """The mission of this transporter, counted from 1.

    A scenario in metres needs `origin`, the latitude and longitude of x = 0, y = 0. The drone waits
    for a transfer at most `longest_hold` seconds: those of the plan, if omitted. ArduPilot holds
    whole seconds, so they are rounded up. `name_of` is a client's name in its certificate.
    """
    check_whole("transporter", transporter, 1, len(plan.transporters))
    flight = make_flight_plan(scenario, plan, origin=origin)
    mission = next((one for one in flight.missions if one.transporter == transporter), None)
    if mission is None:
        raise InputError(
            f"transporter {transporter} visits no client in this plan: it has no flight"
        )
    hold = _hold_seconds(flight, mission, longest_hold)
    items = tuple(_with_arrivals(mission_items(flight, mission, hold)))
    held = (number for number, item in enumerate(items) if _is_hold(item))
    return FlightFile(
        scenario=scenario.name,
        transporter=transporter,
        home=flight.home,
        home_altitude=flight.home_altitude,
        altitude=flight.altitude,
        hold=hold,
        items=tuple(_flight_item(item) for item in items),
        holds=tuple(
            Hold(name_of(stop.client), number - 1, number)
            for stop, number in zip(mission.stops, held, strict=True)
        ),
    )


def load_flight_file(path: Path) -> FlightFile:
    """That of a courier's kit."""
    if not path.is_file():
        raise InputError(
            f"{path}: no such file, so the autopilot cannot be followed; provision with --origin, "
            "or with a scenario in latitudes and longitudes"
        )
    try:
        return decode(read_bytes(path), FlightFile)
    except WireError as error:
        raise InputError(f"{path}: {error}; take the file of the kit") from None


def _hold_seconds(flight: FlightPlan, mission: Mission, longest_hold: float | None) -> int:
    """Whole seconds, at least one, that the budget allows."""
    wanted = flight.hold if longest_hold is None else longest_hold
    check_number("longest_hold", wanted, least=flight.hold, most=LONGEST_HOLD)
    hold = max(1, math.ceil(round(wanted, 6)))
    tour, energy = mission.tour, flight.energy(mission, hold)
    if tour.budget is not None and energy > tour.budget * (1 + BUDGET_TOLERANCE):
        raise InputError(
            f"transporter {mission.transporter}: a hold of {hold} s at each client takes "
            f"{ENERGY.rounded_up(energy, tour.budget)}, and the budget is "
            f"{ENERGY.text(tour.budget, tour.budget)}; hold for less, or raise it and plan again"
        )
    return hold


def _is_hold(item: Item) -> bool:
    return item.command == NAV_WAYPOINT and bool(item.params[0])


def _with_arrivals(items: Iterator[Item]) -> Iterator[Item]:
    """Before each waypoint with a hold, the same without one."""
    return chain.from_iterable(
        (Item(item.command, (0, *item.params[1:]), item.has_place), item)
        if _is_hold(item)
        else (item,)
        for item in items
    )


def _flight_item(item: Item) -> FlightItem:
    first, second, third, fourth, *place = item.params
    latitude, longitude, altitude = (float(value or 0) for value in place)
    return FlightItem(
        command=item.command,
        params=(first, second, third, fourth),
        place=(latitude, longitude, altitude) if item.has_place else None,
    )
