"""The plan as missions in latitudes and longitudes: the value that all formats write."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from flexpress.arguments import check_number, refusal
from flexpress.errors import InputError
from flexpress.planning.colours import tour_colours
from flexpress.planning.plan import ClientId, Plan, Tour, leg_lengths
from flexpress.scenario import Point, Scenario
from flexpress.scenario.projection import Coordinate, to_coordinates, to_plane

_FARTHEST = 100e3
"""Metres from the origin of a plane. At this distance the plane is 0.004 % too wide."""

DECIMALS = 9
"""Decimals of a degree: 0.1 mm on the ground. MAVLink itself has 7, which is 1 cm."""

_Locate = Callable[[Sequence[Point]], tuple[Coordinate, ...]]
"""Converts the points of a scenario to latitudes and longitudes."""


@dataclass(frozen=True)
class Corner:
    """A waypoint around a no-fly zone, passed without a hold."""

    place: Coordinate


@dataclass(frozen=True)
class Stop:
    """Hold above a client until the models are exchanged."""

    place: Coordinate
    client: ClientId
    name: str
    order: int  # 1 for the first client of the tour
    arrival: float  # seconds after take-off
    leg: float  # metres flown since the last client, or home
    energy: float  # joules spent when it leaves


@dataclass(frozen=True)
class Mission:
    """One transporter: take off, set the speed, pass these waypoints, return home and land."""

    transporter: int  # counted from 1
    speed: float  # m/s over ground
    waypoints: tuple[Corner | Stop, ...]
    way_home: float  # metres flown since the last client
    tour: Tour
    colour: str  # as on the map, "#rrggbb"

    @property
    def stops(self) -> tuple[Stop, ...]:
        return tuple(point for point in self.waypoints if isinstance(point, Stop))


@dataclass(frozen=True)
class FlightPlan:
    """The missions of all transporters that fly, and what they have in common."""

    name: str
    home: Coordinate
    home_altitude: float | None  # metres above sea level; None if unknown
    altitude: float  # metres above home
    hold: float  # seconds at each client, T_trans of the paper
    missions: tuple[Mission, ...]
    no_fly: tuple[tuple[Coordinate, ...], ...]  # counterclockwise, the first corner not repeated
    no_fly_names: tuple[str, ...]  # blank if a zone has none

    def path(self, mission: Mission) -> tuple[Coordinate, ...]:
        """From home to home."""
        return (self.home, *(point.place for point in mission.waypoints), self.home)

    def energy(self, mission: Mission, hold: float) -> float:
        """Joules of its tour if it holds this many seconds at each client, not `self.hold`."""
        tour, more = mission.tour, (hold - self.hold) / self.hold if self.hold else 0.0
        return tour.energy + more * (tour.hover_energy + tour.transmission_energy)


def make_flight_plan(
    scenario: Scenario,
    plan: Plan,
    *,
    origin: Coordinate | None = None,
) -> FlightPlan:
    """The plan as missions on the Earth."""
    locate, altitude = _locator(scenario, origin), _flight_altitude(scenario)
    heights = zip(scenario.client_names, scenario.client_altitudes, strict=True)
    check_clearance(altitude, scenario.server_altitude, heights)
    own = scenario.positions if scenario.coordinates is None else scenario.coordinates
    places = locate(own.tolist())
    home, colours = places[0], tour_colours(scenario, plan)
    return FlightPlan(
        name=scenario.name,
        home=home,
        home_altitude=scenario.server_altitude,
        altitude=altitude,
        hold=scenario.transfer_time,
        missions=tuple(
            _make_mission(scenario, k, plan.transporters[k], nodes, places, locate, colours[k])
            for k, nodes in enumerate(plan.nodes(scenario))
            if nodes
        ),
        no_fly=tuple(_counterclockwise(locate(zone), home) for zone in scenario.no_fly),
        no_fly_names=scenario.zone_names,
    )


def _flight_altitude(scenario: Scenario) -> float:
    if scenario.flight_altitude is None:
        raise InputError(
            f"{scenario.name}: the flight altitude is missing: give link.altitude, metres above "
            "the ground"
        )
    return scenario.flight_altitude


def _make_mission(
    scenario: Scenario,
    k: int,
    tour: Tour,
    nodes: Sequence[int],
    places: Sequence[Coordinate],
    locate: _Locate,
    colour: str,
) -> Mission:
    legs = leg_lengths(scenario, nodes)
    stops = _stops_of(scenario, tour, nodes, places, legs)
    return Mission(
        transporter=k + 1,
        speed=scenario.speeds[k],
        waypoints=tuple(_with_corners(tour.corners, stops, locate)),
        way_home=legs[-1],
        tour=tour,
        colour=colour,
    )


def _stops_of(
    scenario: Scenario,
    tour: Tour,
    nodes: Sequence[int],
    places: Sequence[Coordinate],
    legs: Sequence[float],
) -> list[Stop]:
    flying = tour.flight_energy / tour.length if tour.length else 0.0  # J/m
    serving = (tour.hover_energy + tour.transmission_energy) / len(nodes)  # J per client
    return [
        Stop(
            place=places[node],
            client=tour.clients[i],
            name=scenario.client_names[node - 1],
            order=i + 1,
            arrival=tour.arrivals[i],
            leg=legs[i],
            energy=flying * flown + serving * (i + 1),
        )
        for i, (node, flown) in enumerate(zip(nodes, accumulate(legs[:-1]), strict=True))
    ]


def _with_corners(
    corners: Sequence[Sequence[Point]], stops: Sequence[Stop], locate: _Locate
) -> Iterator[Corner | Stop]:
    """The corners of each leg, then the client it leads to; the way home comes last."""
    legs = list(corners) or [()] * (len(stops) + 1)
    for points, stop in zip(legs, [*stops, None], strict=True):
        yield from (Corner(place) for place in locate(points))
        if stop is not None:
            yield stop


def _counterclockwise(zone: tuple[Coordinate, ...], home: Coordinate) -> tuple[Coordinate, ...]:
    """Decided by the sign of the area in the plane around home, which no date line cuts."""
    x, y = to_plane(np.array(zone), home).T
    twice_area = np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))
    return zone if twice_area > 0 else zone[::-1]


def check_clearance(
    altitude: float, home: float | None, clients: Iterable[tuple[str, float | None]]
) -> None:
    """InputError if the ground at a client is as high as the flight, which keeps one altitude.

    `altitude` is above home. `home` and the clients' heights, each with the client's name, are
    above sea level, None if unknown. Nothing is checked if home's is unknown.
    """
    known = [(height, name) for name, height in clients if height is not None]
    if not known or home is None:
        return
    height, name = max(known)
    if height >= home + altitude:
        raise InputError(
            f"client {name} lies at {height:g} m, the flight at {home + altitude:g} m "
            f"({altitude:g} m above the server): raise link.altitude above "
            f"{height - home:g} m"
        )


def parse_origin(text: str) -> Coordinate:
    """Latitude and longitude of a text such as "47.3769,8.5417"; else InputError."""
    try:
        latitude, longitude = (float(part) for part in text.split(","))
    except ValueError:
        raise InputError(
            f"origin {text!r}: must be LAT,LON in degrees, such as 47.3769,8.5417"
        ) from None
    return _check_origin((latitude, longitude))


def _check_origin(origin: Coordinate) -> Coordinate:
    if not isinstance(origin, Sequence) or isinstance(origin, str) or len(origin) != 2:
        raise refusal("origin", origin, "(latitude, longitude), such as (47.3769, 8.5417)")
    for name, degrees, limit in zip(("latitude", "longitude"), origin, (90, 180), strict=True):
        check_number(f"origin: {name}", degrees)
        if abs(degrees) > limit:
            raise InputError(
                f"origin: {name} is {degrees}: must lie between -{limit} and {limit} degrees; "
                "give LAT,LON in this order"
            )
    return origin


def _locator(scenario: Scenario, origin: Coordinate | None) -> _Locate:
    """How to place the points of this scenario. A planar one needs the place of (0, 0)."""
    if scenario.coordinates is not None:
        if origin is not None:
            raise InputError(
                f"origin {origin[0]},{origin[1]}: the scenario has latitudes and longitudes "
                "of its own; omit --origin"
            )
        return _rounded
    if origin is None:
        raise InputError(
            "the scenario is in metres and does not say where on the Earth; "
            "give --origin LAT,LON, where x = 0, y = 0 lies"
        )
    start = _check_origin(origin)
    return lambda points: _on_earth(points, start)


def _on_earth(points: Sequence[Point], origin: Coordinate) -> tuple[Coordinate, ...]:
    """The points of a plane whose (0, 0) lies at the origin; x points east, y north."""
    if not points:
        return ()
    metres = np.array(points, dtype=np.float64)
    away = np.hypot(*metres.T)
    if away.max() > _FARTHEST:
        x, y = metres[away.argmax()]
        raise InputError(
            f"({x:.0f}, {y:.0f}) m lies {away.max() / 1e3:.0f} km from the origin: a plane fits "
            f"the Earth within {_FARTHEST / 1e3:.0f} km; count x and y from a nearer point, or "
            "give latitudes and longitudes"
        )
    return _rounded(to_coordinates(metres, origin).tolist())


def _rounded(points: Sequence[Point]) -> tuple[Coordinate, ...]:
    return tuple((round(a, DECIMALS) + 0.0, round(b, DECIMALS) + 0.0) for a, b in points)
