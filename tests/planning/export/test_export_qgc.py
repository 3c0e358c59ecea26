"""QGroundControl plan files, read by MAVSDK's own parser."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import mavsdk_link
import numpy as np
import pytest
from flights import (
    OBJECTIVES,
    ORIGIN,
    PRESETS,
    alps,
    holds_of,
    origin_of,
    preset_plan,
    same_length,
    walled,
    walled_plan,
)

from flexpress import Plan, Scenario
from flexpress.planning.export import export_plan
from flexpress.scenario import Objective
from flexpress.scenario.projection import Coordinate, to_coordinates

WAYPOINT, RETURN, TAKEOFF, SPEED, FENCE_OUT = 16, 20, 22, 178, 5002
ABOVE_HOME, NO_PLACE = 3, 2


@pytest.fixture(scope="module")
def mavsdk() -> Iterator[Any]:
    with mavsdk_link.reader() as plugin:
        yield plugin


def plan_files(scenario: Scenario, plan: Plan) -> dict[int, str]:
    """Transporter (from 0) and text."""
    files = export_plan(scenario, plan, "qgc", origin=origin_of(scenario))
    return {int(name.removeprefix("transporter-")[:-5]) - 1: files[name] for name in files}


def place(item: Any) -> Coordinate:
    return item.x / 1e7, item.y / 1e7


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("preset", PRESETS)
def test_mavsdk_reads_what_was_meant(preset: str, objective: Objective, mavsdk: Any) -> None:
    scenario, plan = preset_plan(preset, objective)
    files = plan_files(scenario, plan)
    assert set(files) == {k for k, tour in enumerate(plan.transporters) if tour.clients}
    for k, text in files.items():
        tour = plan.transporters[k]
        read = mavsdk.import_qgroundcontrol_mission_from_string(text)
        takeoff, speed, *stops, home = read.mission_items
        assert [item.seq for item in read.mission_items] == list(range(len(stops) + 3))
        assert all(item.autocontinue == 1 for item in read.mission_items)
        assert (takeoff.command, speed.command, home.command) == (TAKEOFF, SPEED, RETURN)
        assert (speed.param1, speed.param2) == (1, pytest.approx(scenario.speeds[k]))
        assert {item.command for item in stops} == {WAYPOINT}
        assert {item.frame for item in (takeoff, *stops)} == {ABOVE_HOME}
        assert {item.frame for item in (speed, home)} == {NO_PLACE}
        assert {item.z for item in (takeoff, *stops)} == {scenario.flight_altitude}
        holds = [item.param1 for item in stops]
        assert holds == pytest.approx(holds_of(tour, scenario.transfer_time))
        assert all(math.isnan(item.param4) for item in (takeoff, *stops))
        path = [place(item) for item in (takeoff, *stops, takeoff)]
        assert same_length(path, tour.length, a_leg=0.02)  # MAVLink rounds to 1e-7 degrees
        assert len(read.geofence_items) == sum(len(zone) for zone in scenario.no_fly)
        assert read.rally_items == []


def test_stops_are_the_clients_in_their_order(mavsdk: Any) -> None:
    scenario, plan = preset_plan("valley", "sws")
    ids = list(scenario.client_ids)
    for k, text in plan_files(scenario, plan).items():
        items = mavsdk.import_qgroundcontrol_mission_from_string(text).mission_items[2:-1]
        nodes = [ids.index(client) + 1 for client in plan.transporters[k].clients]
        expected = to_coordinates(scenario.positions[nodes], ORIGIN)
        assert np.array([place(item) for item in items]) == pytest.approx(expected, abs=6e-8)


def test_corners_stand_between_the_clients_of_their_leg(mavsdk: Any) -> None:
    scenario, plan = alps()
    assert scenario.coordinates is not None
    ids, turns = list(scenario.client_ids), []
    for k, text in plan_files(scenario, plan).items():
        items = mavsdk.import_qgroundcontrol_mission_from_string(text).mission_items[2:-1]
        nodes = [ids.index(client) + 1 for client in plan.transporters[k].clients]
        legs = [
            [*scenario.corners(i, j), scenario.coordinates[j]] for i, j in pairwise([0, *nodes])
        ]
        home = scenario.corners(nodes[-1], 0)
        expected = np.array([point for leg in [*legs, home] for point in leg])
        assert np.array([place(item) for item in items]) == pytest.approx(expected, abs=6e-8)
        turns.append((max(len(leg) - 1 for leg in legs), len(home)))
    assert turns == [(2, 0), (0, 0), (0, 1)]  # most between clients, and on the way home


def test_corners_are_passed_without_a_hold_and_zones_are_a_fence(mavsdk: Any) -> None:
    scenario = walled()
    text = plan_files(scenario, walled_plan(scenario))[0]
    read = mavsdk.import_qgroundcontrol_mission_from_string(text)
    assert [item.param1 for item in read.mission_items[2:-1]] == [5.25, 5.25, 0, 0]
    assert {item.command for item in read.geofence_items} == {FENCE_OUT}
    assert {item.param1 for item in read.geofence_items} == {4}  # corners of the polygon
    corners = {place(item) for item in read.mission_items[4:6]}
    assert corners < {place(item) for item in read.geofence_items}


def test_the_file_has_what_qgroundcontrol_requires() -> None:
    scenario = walled(geographic=True)
    files = export_plan(scenario, walled_plan(scenario), "qgc")
    data = json.loads(files["transporter-3.plan"])
    assert (data["fileType"], data["version"], data["groundStation"]) == (
        "Plan",
        1,
        "QGroundControl",
    )
    assert data["rallyPoints"] == {"points": [], "version": 2}
    assert data["geoFence"]["version"] == 2
    assert [zone["inclusion"] for zone in data["geoFence"]["polygons"]] == [False]
    mission = data["mission"]
    assert (mission["version"], mission["firmwareType"], mission["vehicleType"]) == (2, 12, 2)
    assert mission["plannedHomePosition"] == [*ORIGIN, 408.5]
    assert mission["hoverSpeed"] == mission["cruiseSpeed"] == 12.0
    numbers = [item["doJumpId"] for item in mission["items"]]
    assert numbers == list(range(1, len(numbers) + 1))
    assert all(len(item["params"]) == 7 for item in mission["items"])
    heights = [(item.get("Altitude"), item.get("AltitudeMode")) for item in mission["items"]]
    assert heights == [(120.0, 1), (None, None), (120.0, 1), (None, None)]


def test_mavsdk_refuses_what_is_no_plan(mavsdk: Any) -> None:
    scenario = walled()
    text = plan_files(scenario, walled_plan(scenario))[0]
    for broken in (text.replace('"version": 1,', '"version": 7,', 1), text[:-10]):
        with pytest.raises(mavsdk_link.mission_raw.MissionRawError, match="FAILED_TO_PARSE"):
            mavsdk.import_qgroundcontrol_mission_from_string(broken)
