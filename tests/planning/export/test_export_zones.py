"""Missions keep clear of the no-fly zones, judged with shapely in a projection of its own."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from flights import alps, origin_of, plan_of, walled, walled_plan
from pyproj import Transformer

from flexpress import Plan, Scenario
from flexpress.planning.export import EXPORT_FORMATS, export_notes, export_plan
from flexpress.scenario.projection import Coordinate

shapely: Any = pytest.importorskip("shapely", reason="the extra geo is not installed")

RETURN = 20
SLACK = 0.002
"""Metres: what two projections of some kilometres differ by."""

Flown = tuple[list[Coordinate], list[float]]
"""Places from home to home, and how long each waypoint between holds."""


def from_plan_file(text: str) -> Flown:
    mission = json.loads(text)["mission"]
    _, _, *stops, last = mission["items"]
    assert last["command"] == RETURN
    home = mission["plannedHomePosition"][:2]
    holds = [item["params"][0] for item in stops]
    return [home, *(item["params"][4:6] for item in stops), home], holds


def from_way_points(text: str) -> Flown:
    _, *lines = text.splitlines()
    rows = [[float(cell) for cell in line.split("\t")] for line in lines]
    home, _, _, *stops, last = rows
    assert last[3] == RETURN
    places = [(row[8], row[9]) for row in (home, *stops, home)]
    return places, [row[4] for row in stops]


READERS = {"qgc": from_plan_file, "wpl": from_way_points}


def missions(scenario: Scenario, plan: Plan, format: str) -> list[Flown]:
    files = export_plan(scenario, plan, format, origin=origin_of(scenario))
    return [READERS[format](text) for text in files.values()]


def fences(scenario: Scenario, plan: Plan) -> list[list[Coordinate]]:
    """As the geofence has them."""
    files = export_plan(scenario, plan, "qgc", origin=origin_of(scenario))
    first, *others = (json.loads(text)["geoFence"]["polygons"] for text in files.values())
    assert all(zones == first for zones in others)
    return [zone["polygon"] for zone in first]


def projection(home: Coordinate) -> Callable[[Sequence[Coordinate]], Any]:
    """To metres of a transverse Mercator projection at home, which flexpress does not use."""
    latitude, longitude = home
    plane = f"+proj=tmerc +lat_0={latitude} +lon_0={longitude} +k=1 +ellps=WGS84"
    project = Transformer.from_crs("EPSG:4326", plane).transform
    return lambda places: [project(*place) for place in places]


def clearance(places: Sequence[Coordinate], zones: Sequence[Sequence[Coordinate]]) -> float:
    """Metres from the line through the places to the nearest zone; 0 if it enters one."""
    project = projection(places[0])
    line = shapely.LineString(project(places))
    return float(min(line.distance(shapely.Polygon(project(zone))) for zone in zones))


@pytest.fixture(params=["alps", "planar", "geographic"])
def case(request: pytest.FixtureRequest) -> tuple[Scenario, Plan]:
    """With a margin of 30 m each."""
    if request.param == "alps":
        return alps()
    scenario = walled(geographic=request.param == "geographic", no_fly_margin=30.0)
    return scenario, walled_plan(scenario)


@pytest.mark.parametrize("format", READERS)
def test_missions_keep_the_margin_and_no_more(case: tuple[Scenario, Plan], format: str) -> None:
    scenario, plan = case
    zones = fences(scenario, plan)
    found = [clearance(places, zones) for places, _ in missions(scenario, plan, format)]
    assert len(found) == sum(bool(tour.clients) for tour in plan.transporters)
    assert 30.0 - SLACK < min(found) < 30.0 + 1.0


@pytest.mark.parametrize("format", READERS)
def test_the_return_to_launch_is_free_and_straight(format: str) -> None:
    """Whoever is visited last: corners come before the return where the straight way is closed."""
    scenario = Scenario.preset("alps").replace(fleet={"budgets": None})
    turning = 0
    everyone = range(1, scenario.num_clients + 1)
    for client in everyone:
        plan = plan_of(scenario, [[client], [i for i in everyone if i != client], []])
        zones = fences(scenario, plan)
        (places, holds), _ = missions(scenario, plan, format)
        assert clearance(places[-2:], zones) > 30.0 - SLACK
        visit = holds.index(scenario.transfer_time)
        if clearance([places[0], places[1 + visit]], zones) < 30.0 - SLACK:
            assert holds[visit + 1 :] == [0] * len(scenario.corners(client, 0)) != []
            turning += 1
        else:
            assert holds == [scenario.transfer_time]
    assert 0 < turning < scenario.num_clients


@pytest.mark.parametrize("format", EXPORT_FORMATS)
def test_corners_on_the_fence_are_worth_a_note_where_they_are_flown(format: str) -> None:
    for scenario in (walled(), walled(no_fly_margin=0.0)):
        notes = export_notes(scenario, walled_plan(scenario), format)
        assert len(notes) == (format in READERS)
        assert all(
            "transporter 1: corners lie on the edge of no-fly zones" in note for note in notes
        )
        assert all("set network.no_fly_margin" in note for note in notes)


@pytest.mark.parametrize("format", READERS)
def test_there_is_nothing_to_note_with_a_margin_or_on_straight_ways(format: str) -> None:
    with_margin, straight = walled(no_fly_margin=0.5), walled()
    assert export_notes(with_margin, walled_plan(with_margin), format) == []
    assert export_notes(straight, plan_of(straight, [[3], [], [2]]), format) == []
    everyone = plan_of(straight, [[1], [3], [2, 1]])
    assert export_notes(straight, everyone, format)[0].startswith("transporters 1, 3: corners")


def test_without_a_margin_the_corners_are_those_of_the_fence() -> None:
    scenario = walled()
    plan = walled_plan(scenario)
    (places, holds), _ = missions(scenario, plan, "qgc")
    (zone,) = fences(scenario, plan)
    assert holds == [5.25, 5.25, 0, 0]
    assert all(corner in zone for corner in places[3:5])
