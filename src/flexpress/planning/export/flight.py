"""What the transporters shall do, in latitudes and longitudes: the value that all formats write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from flexpress.errors import InputError
from flexpress.planning.colours import tour_colours
from flexpress.planning.export.clearance import check_clearance
from flexpress.planning.export.origin import Locate, locator
from flexpress.planning.plan import ClientId, Plan, Tour, leg_lengths
from flexpress.scenario import Point, Scenario
from flexpress.scenario.projection import Coordinate, to_plane


@dataclass(frozen=True)
class Corner:
    """Fly through, around a no-fly zone."""

    place: Coordinate


@dataclass(frozen=True)
class Visit:
    """Hold above a client until the model has passed."""

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
    waypoints: tuple[Corner | Visit, ...]
    way_home: float  # metres flown since the last client
    tour: Tour
    colour: str  # as on the map, "#rrggbb"

    @property
    def visits(self) -> tuple[Visit, ...]:
        return tuple(point for point in self.waypoints if isinstance(point, Visit))


@dataclass(frozen=True)
class Flight:
    """The missions of all transporters that fly, and what they share."""

    name: str
    home: Coordinate
    home_altitude: float | None  # metres above sea level; None if unknown
    altitude: float  # metres above home
    hold: float  # seconds at each client, T_trans of the paper
    missions: tuple[Mission, ...]
    no_fly: tuple[tuple[Coordinate, ...], ...]  # counterclockwise, the first corner not repeated
    no_fly_names: tuple[str, ...]  # blank for zones without

    def path(self, mission: Mission) -> tuple[Coordinate, ...]:
        """From home to home."""
        return (self.home, *(point.place for point in mission.waypoints), self.home)


def make_flight(
    scenario: Scenario,
    plan: Plan,
    *,
    origin: Coordinate | None = None,
) -> Flight:
    """The plan as missions on the Earth."""
    locate, altitude = locator(scenario, origin), flight_altitude(scenario)
    heights = zip(scenario.client_names, scenario.client_altitudes, strict=True)
    check_clearance(altitude, scenario.server_altitude, heights)
    own = scenario.positions if scenario.coordinates is None else scenario.coordinates
    places = locate(own.tolist())
    home, colours = places[0], tour_colours(scenario, plan)
    return Flight(
        name=scenario.name,
        home=home,
        home_altitude=scenario.server_altitude,
        altitude=altitude,
        hold=scenario.transfer_time,
        missions=tuple(
            make_mission(scenario, k, tour, places, locate, colours[k])
            for k, tour in enumerate(plan.transporters)
            if tour.clients
        ),
        no_fly=tuple(counterclockwise(locate(zone), home) for zone in scenario.no_fly),
        no_fly_names=scenario.zone_names,
    )


def flight_altitude(scenario: Scenario) -> float:
    if scenario.flight_altitude is None:
        raise InputError(
            f"{scenario.name}: the flight altitude is missing: give link.altitude, metres above "
            "the ground"
        )
    return scenario.flight_altitude


def make_mission(
    scenario: Scenario,
    k: int,
    tour: Tour,
    places: Sequence[Coordinate],
    locate: Locate,
    colour: str,
) -> Mission:
    legs = leg_lengths(scenario, nodes_of(scenario, tour))
    visits = visits_of(scenario, tour, places, legs)
    return Mission(
        transporter=k + 1,
        speed=scenario.speeds[k],
        waypoints=tuple(with_corners(tour.corners, visits, locate)),
        way_home=legs[-1],
        tour=tour,
        colour=colour,
    )


def nodes_of(scenario: Scenario, tour: Tour) -> list[int]:
    node_of = {client: node for node, client in enumerate(scenario.client_ids, start=1)}
    return [node_of[client] for client in tour.clients]


def visits_of(
    scenario: Scenario, tour: Tour, places: Sequence[Coordinate], legs: Sequence[float]
) -> list[Visit]:
    nodes = nodes_of(scenario, tour)
    flying = tour.flight_energy / tour.length if tour.length else 0.0  # J/m
    serving = (tour.hover_energy + tour.transmission_energy) / len(nodes)  # J a client
    return [
        Visit(
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


def with_corners(
    corners: Sequence[Sequence[Point]], visits: Sequence[Visit], locate: Locate
) -> Iterator[Corner | Visit]:
    """Each leg's corners, then the client it leads to; those of the way home last."""
    legs = list(corners) or [()] * (len(visits) + 1)
    for points, visit in zip(legs, [*visits, None], strict=True):
        yield from (Corner(place) for place in locate(points))
        if visit is not None:
            yield visit


def counterclockwise(zone: tuple[Coordinate, ...], home: Coordinate) -> tuple[Coordinate, ...]:
    """By the sign of the area in the plane around home, which no date line cuts."""
    x, y = to_plane(np.array(zone), home).T
    twice_area = np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))
    return zone if twice_area > 0 else zone[::-1]
