"""A mission as MAVLink mission items, as the `common` message set defines them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from flexpress.planning.export.flight_plan import FlightPlan, Mission, Stop
from flexpress.scenario.projection import Coordinate

NAV_WAYPOINT = 16
_NAV_RETURN_TO_LAUNCH = 20
_NAV_TAKEOFF = 22
_DO_CHANGE_SPEED = 178

_GROUND_SPEED = 1
_UNCHANGED = -1

Params = tuple[float | None, ...]
"""Parameters 1 to 7 of a command; None leaves the choice to the autopilot."""


@dataclass(frozen=True)
class Item:
    """One step of a mission; its altitude counts from home."""

    command: int
    params: Params
    has_place: bool  # params 5 to 7 are latitude, longitude, altitude


def mission_items(flight: FlightPlan, mission: Mission, hold: float) -> Iterator[Item]:
    """Take-off, speed, waypoints, return; `hold` in seconds at each client."""
    yield _at(_NAV_TAKEOFF, flight.home, flight.altitude)
    yield Item(_DO_CHANGE_SPEED, (_GROUND_SPEED, mission.speed, _UNCHANGED, 0, 0, 0, 0), False)
    for point in mission.waypoints:
        stay = hold if isinstance(point, Stop) else 0
        yield _at(NAV_WAYPOINT, point.place, flight.altitude, stay)
    yield Item(_NAV_RETURN_TO_LAUNCH, (0, 0, 0, 0, 0, 0, 0), False)


def _at(command: int, place: Coordinate, altitude: float, hold: float = 0) -> Item:
    """Acceptance radius and heading are the autopilot's own."""
    return Item(command, (hold, 0, 0, None, *place, altitude), True)
