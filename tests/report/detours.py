"""Tours around no-fly zones: a small plane whose ways are known by hand, and the Alps."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from flexpress import Plan, Scenario
from flexpress.scenario import Point

TOURS = [[1, 2], [3], [4, 5]]
WAYS: dict[tuple[int, int], tuple[Point, ...]] = {
    (0, 1): ((400.0, 100.0), (600.0, 100.0)),
    (2, 0): ((600.0, 100.0), (400.0, 100.0)),
}
ZONES: tuple[tuple[Point, ...], ...] = (
    ((400.0, -300.0), (600.0, -300.0), (600.0, 100.0), (400.0, 100.0)),
    ((-900.0, 700.0), (-700.0, 900.0), (-1000.0, 1000.0)),  # beyond all clients
)
ALPS_TOURS = (
    "start spouts balcony valley-end icefall saddle glacier",
    "north-face gorge grund sawmill terrace",
    "ridge confluence alp church",
)


def plane_with_detours() -> tuple[Scenario, Plan]:
    """The first tour goes around the first zone on its way out and on its way home."""
    scenario = Scenario.from_dict(
        {
            "name": "detours",
            "network": {
                "server": [0, 0],
                "clients": [[1000, 0], [1000, -100], [1000, 600], [-600, 300], [-600, -300]],
                "no_fly": ZONES,
            },
            "fleet": {"speeds": [10, 8, 12]},
            "link": {"transfer_time": 12},
        }
    )
    return scenario, Plan.of(scenario, "sws", TOURS, solver="search", seed=0, seconds=1.0)


def alps_with_detours() -> tuple[Scenario, Plan]:
    """Two corners on the way between two clients, one on a way home."""
    scenario = Scenario.preset("alps")
    nodes = {client: node for node, client in enumerate(scenario.client_ids, start=1)}
    tours = [[nodes[client] for client in tour.split()] for tour in ALPS_TOURS]
    return scenario, Plan.of(scenario, "minmax", tours, solver="search", seed=0, seconds=1.0)


def in_metres(scenario: Scenario, points: Any) -> NDArray[np.float64]:
    """Points of a scenario in the plane around its server, by a projection of PROJ's own."""
    given = np.array(points, dtype=float).reshape(-1, 2)
    if scenario.coordinates is None:
        return given
    latitude, longitude = scenario.coordinates[0]
    return np.column_stack(projection(latitude, longitude).transform(*given.T))


@cache
def projection(latitude: float, longitude: float) -> Any:
    pyproj = pytest.importorskip("pyproj", reason="the extra geo is not installed")
    plane = f"+proj=aeqd +lat_0={latitude} +lon_0={longitude} +ellps=WGS84"
    return pyproj.Transformer.from_crs("EPSG:4326", plane)
