"""Scenarios and plans for the tests of the export, and a drone that flies what was written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import get_args

import numpy as np
from numpy.typing import NDArray
from pyproj import Geod

from flexpress import Plan, Scenario, make_plan
from flexpress.scenario import Objective, Point, preset_names
from flexpress.scenario.geodesy import Coordinate, to_coordinates

ORIGIN = (47.3769, 8.5417)
DATE_LINE = (17.5, 179.9986)
"""150 m to the west of it."""
ORIGINS = [ORIGIN, (0.0, 0.0), (-33.86, 151.21), DATE_LINE, (89.99, 12.0)]
OBJECTIVES: tuple[Objective, ...] = get_args(Objective)
PRESETS = preset_names()
ODD_NAMES = ('<a> & "b", c', "Zürich 'süd'", "名前;\\")


class Lifted(Scenario):
    """A scenario that says how high to fly, whatever its link says."""

    @property
    def flight_altitude(self) -> float | None:
        return self.link.altitude or 120.0


class Walled(Lifted):
    """A no-fly zone, given clockwise, between the server and the first client."""

    @property
    def no_fly(self) -> tuple[tuple[Point, ...], ...]:
        return (((100.0, -50.0), (100.0, 60.0), (200.0, 60.0), (200.0, -50.0)),)

    def corners(self, i: int, j: int) -> tuple[Point, ...]:
        outwards = ((100.0, -50.0), (200.0, -50.0))
        return {(0, 1): outwards, (1, 0): outwards[::-1]}.get((i, j), ())

    @property
    def distances(self) -> NDArray[np.float64] | None:
        nodes = range(self.num_clients + 1)
        return np.array([[self._length(i, j) for j in nodes] for i in nodes])

    def _length(self, i: int, j: int) -> float:
        path = np.array([self.positions[i], *self.corners(i, j), self.positions[j]])
        return float(np.hypot(*(path[1:] - path[:-1]).T).sum())


class Geographic(Walled):
    """The same in latitudes and longitudes of its own."""

    @property
    def coordinates(self) -> NDArray[np.float64] | None:
        return to_coordinates(self.positions, ORIGIN)

    @property
    def no_fly(self) -> tuple[tuple[Point, ...], ...]:
        return tuple(self._moved(zone) for zone in super().no_fly)

    def corners(self, i: int, j: int) -> tuple[Point, ...]:
        return self._moved(super().corners(i, j))

    def _length(self, i: int, j: int) -> float:
        assert self.coordinates is not None
        ends = [(a, b) for a, b in self.coordinates.tolist()]
        return flown([ends[i], *self.corners(i, j), ends[j]])

    def _moved(self, points: Sequence[Point]) -> tuple[Point, ...]:
        if not points:
            return ()
        return tuple((a, b) for a, b in to_coordinates(np.array(points), ORIGIN).tolist())


def walled(kind: type[Walled] = Walled) -> Walled:
    """Three transporters and three clients."""
    return kind.from_dict(
        {
            "name": "walled",
            "network": {
                "server": [0, 0],
                "clients": [[300, 0], [300, 400], [-200, 50]],
                "ids": list(ODD_NAMES),
            },
            "fleet": {"speeds": [10, 8, 12], "budgets": ["6 kJ", "6 kJ", "6 kJ"]},
            "link": {"transfer_time": 5.25},
        }
    )


def walled_plan(scenario: Scenario) -> Plan:
    """The second transporter stays on the ground; the first flies home around the zone."""
    return plan_of(scenario, [[2, 1], [], [3]])


def plan_of(scenario: Scenario, tours: Sequence[Sequence[int]]) -> Plan:
    orders = [list(nodes) for nodes in tours]
    return Plan.of(scenario, "sws", orders, solver="exact", seed=0, seconds=0.0)


def preset_plan(name: str, objective: Objective) -> tuple[Scenario, Plan]:
    scenario = Lifted.preset(name)
    return scenario, make_plan(scenario, objective=objective, iterations=2000)


def flown(places: Iterable[Coordinate]) -> float:
    """Metres along the geodesics through these latitudes and longitudes."""
    latitudes, longitudes = zip(*places, strict=True)
    return float(Geod(ellps="WGS84").line_length(longitudes, latitudes))


def same_length(places: Sequence[Coordinate], planned: float, *, a_leg: float = 0.01) -> bool:
    """Within 1e-6 of the plan and a centimetre a leg."""
    slack = 1e-6 * planned + a_leg * len(list(pairwise(places)))
    return abs(flown(places) - planned) <= slack
