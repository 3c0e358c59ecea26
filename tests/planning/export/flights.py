"""Scenarios and plans for the tests of the export, and a drone that flies what was written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import get_args

import numpy as np
from pyproj import Geod

from flexpress import Plan, Scenario, make_plan
from flexpress.planning import Tour
from flexpress.scenario import Objective, Point, preset_names
from flexpress.scenario.projection import Coordinate, to_coordinates

ORIGIN = (47.3769, 8.5417)
DATE_LINE = (17.5, 179.9986)
"""150 m to the west of it."""
ORIGINS = [ORIGIN, (0.0, 0.0), (-33.86, 151.21), DATE_LINE, (89.99, 12.0)]
OBJECTIVES: tuple[Objective, ...] = get_args(Objective)
PRESETS = preset_names()
ODD_NAMES = ('<a> & "b", c', "Zürich 'süd'", "名前;\\")


WALL = ((100.0, -50.0), (100.0, 60.0), (200.0, 60.0), (200.0, -50.0))
"""A no-fly zone, given clockwise, between the server and the first client."""

ALPS_TOURS = (
    "start spouts balcony valley-end icefall saddle glacier",
    "north-face gorge grund sawmill terrace",
    "ridge confluence alp church",
)


def walled(*, geographic: bool = False, **network: object) -> Scenario:
    """Three transporters, three clients and a zone, in metres or in degrees around ORIGIN."""
    clients, zone = [(300.0, 0.0), (300.0, 400.0), (-200.0, 50.0)], list(WALL)
    places: dict[str, object] = {"server": (0.0, 0.0), "clients": clients, "no_fly": [zone]}
    if geographic:
        home = dict(zip(("lat", "lon"), ORIGIN, strict=True)) | {"altitude": 408.5}
        places = {"server": home, "clients": in_degrees(clients), "no_fly": [in_degrees(zone)]}
    return Scenario.from_dict(
        {
            "name": "walled",
            "network": {**places, "ids": list(ODD_NAMES), **network},
            "fleet": {"speeds": [10, 8, 12], "budgets": ["6 kJ", "6 kJ", "6 kJ"]},
            "link": {"transfer_time": 5.25, "altitude": 120.0},
        }
    )


def in_degrees(points: Sequence[Point]) -> list[dict[str, float]]:
    places = to_coordinates(np.array(points), ORIGIN).tolist()
    return [{"lat": latitude, "lon": longitude} for latitude, longitude in places]


def origin_of(scenario: Scenario) -> Coordinate | None:
    """Where to put a plane; a scenario in degrees is somewhere already."""
    return ORIGIN if scenario.coordinates is None else None


def walled_plan(scenario: Scenario) -> Plan:
    """The second transporter stays on the ground; the first flies home around the zone."""
    return plan_of(scenario, [[2, 1], [], [3]])


def alps() -> tuple[Scenario, Plan]:
    """Two corners on the way between two clients, one on a way home."""
    scenario = Scenario.preset("alps")
    nodes = {client: node for node, client in enumerate(scenario.client_ids, start=1)}
    return scenario, plan_of(scenario, [[nodes[c] for c in tour.split()] for tour in ALPS_TOURS])


def plan_of(scenario: Scenario, tours: Sequence[Sequence[int]]) -> Plan:
    orders = [list(nodes) for nodes in tours]
    return Plan.of(scenario, "sws", orders, solver="exact", seed=0, seconds=0.0)


def preset_plan(name: str, objective: Objective) -> tuple[Scenario, Plan]:
    scenario = Scenario.preset(name)
    return scenario, make_plan(scenario, objective=objective, iterations=2000)


def holds_of(tour: Tour, hold: float) -> list[float]:
    """Of every waypoint: none at the corners of each leg, then `hold` at the client."""
    legs = tour.corners or ((),) * (len(tour.clients) + 1)
    return [stay for leg in legs for stay in (*(0.0 for _ in leg), hold)][:-1]


def flown(places: Iterable[Coordinate]) -> float:
    """Metres along the geodesics through these latitudes and longitudes."""
    latitudes, longitudes = zip(*places, strict=True)
    return float(Geod(ellps="WGS84").line_length(longitudes, latitudes))


def same_length(places: Sequence[Coordinate], planned: float, *, a_leg: float = 0.01) -> bool:
    """Within 1e-6 of the plan and a centimetre a leg."""
    slack = 1e-6 * planned + a_leg * len(list(pairwise(places)))
    return abs(flown(places) - planned) <= slack
