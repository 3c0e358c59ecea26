"""A mission as MAVLink mission items, as the `common` message set defines them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from flexpress.planning.export.flight import Flight, Mission, Visit
from flexpress.scenario.projection import Coordinate

NAV_WAYPOINT = 16
NAV_RETURN_TO_LAUNCH = 20
NAV_TAKEOFF = 22
DO_CHANGE_SPEED = 178

GROUND_SPEED = 1
UNCHANGED = -1

Params = tuple[float | None, ...]
"""Parameters 1 to 7 of a command; None leaves the choice to the autopilot."""


@dataclass(frozen=True)
class Item:
    """One step of a mission; its altitude counts from home."""

    command: int
    params: Params
    has_place: bool  # params 5 to 7 are latitude, longitude, altitude


def mission_items(flight: Flight, mission: Mission, hold: float) -> Iterator[Item]:
    """Take-off, speed, waypoints, return; `hold` in seconds at each client."""
    yield at(NAV_TAKEOFF, flight.home, flight.altitude)
    yield Item(DO_CHANGE_SPEED, (GROUND_SPEED, mission.speed, UNCHANGED, 0, 0, 0, 0), False)
    for point in mission.waypoints:
        stay = hold if isinstance(point, Visit) else 0
        yield at(NAV_WAYPOINT, point.place, flight.altitude, stay)
    yield Item(NAV_RETURN_TO_LAUNCH, (0, 0, 0, 0, 0, 0, 0), False)


def at(command: int, place: Coordinate, altitude: float, hold: float = 0) -> Item:
    """Acceptance radius and heading are the autopilot's own."""
    return Item(command, (hold, 0, 0, None, *place, altitude), True)
