"""ArduPilot way points, read back with pymavlink's loader, and by MAVSDK as a second opinion."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mavsdk_link
import pytest
from flights import (
    OBJECTIVES,
    ORIGIN,
    PRESETS,
    holds_of,
    origin_of,
    plan_of,
    preset_plan,
    same_length,
    walled,
    walled_plan,
)

from flexpress import InputError, Plan, Scenario
from flexpress.planning.export import export_plan
from flexpress.planning.export.wpl import _whole_seconds
from flexpress.scenario import Objective

WHY = "pymavlink is in the development extra: pip install 'flexpress[dev]'"
mavwp: Any = pytest.importorskip("pymavlink.mavwp", reason=WHY)

WAYPOINT, RETURN, TAKEOFF, SPEED = 16, 20, 22, 178


def loaded(scenario: Scenario, plan: Plan, folder: Path) -> dict[int, list[Any]]:
    """Transporter (from 0) and the items that pymavlink finds."""
    found = {}
    for name, text in export_plan(scenario, plan, "wpl", origin=origin_of(scenario)).items():
        (folder / name).write_text(text, encoding="utf-8")
        loader = mavwp.MAVWPLoader()
        count = loader.load(str(folder / name))
        k = int(name.removeprefix("transporter-").removesuffix(".waypoints")) - 1
        found[k] = [loader.wp(i) for i in range(count)]
    return found


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("preset", PRESETS)
def test_pymavlink_reads_what_was_meant(preset: str, objective: Objective, tmp_path: Path) -> None:
    scenario, plan = preset_plan(preset, objective)
    files = loaded(scenario, plan, tmp_path)
    above_sea = scenario.server_altitude or 0
    hold = _whole_seconds(scenario.transfer_time)
    assert set(files) == {k for k, tour in enumerate(plan.transporters) if tour.clients}
    for k, items in files.items():
        tour = plan.transporters[k]
        home, takeoff, speed, *stops, back = items
        assert (home.frame, home.command, home.current, home.z) == (0, WAYPOINT, 1, above_sea)
        assert [item.seq for item in items] == list(range(len(stops) + 4))
        assert [item.current for item in items[1:]] == [0] * (len(items) - 1)
        assert (takeoff.command, speed.command, back.command) == (TAKEOFF, SPEED, RETURN)
        assert (takeoff.x, takeoff.y) == (home.x, home.y)
        assert (speed.param1, speed.param2) == (1, pytest.approx(scenario.speeds[k]))
        assert {(item.command, item.frame, item.z) for item in stops} == {
            (WAYPOINT, 3, scenario.flight_altitude)
        }
        assert [item.param1 for item in stops] == holds_of(tour, hold)
        path = [(item.x, item.y) for item in (home, *stops, home)]
        assert same_length(path, tour.length)


def test_the_table_is_as_ground_stations_expect_it() -> None:
    scenario = walled()
    files = export_plan(scenario, walled_plan(scenario), "wpl", origin=ORIGIN)
    header, *rows = files["transporter-1.waypoints"].splitlines()
    assert header == "QGC WPL 110"
    assert {row.count("\t") for row in rows} == {11}
    assert not any(word in text for text in files.values() for word in ("nan", "None", "e-"))


def test_holds_are_whole_seconds_that_last_long_enough(tmp_path: Path) -> None:
    scenario = walled()  # 5.25 s at each client, corners on the way home
    items = loaded(scenario, walled_plan(scenario), tmp_path)[0]
    assert [item.param1 for item in items[3:-1]] == [6, 6, 0, 0]
    assert [_whole_seconds(hold) for hold in (0.0, 6.0, 6.0000001, 6.001, 0.2)] == [0, 6, 6, 7, 1]


def test_holds_that_break_the_budget_are_refused() -> None:
    tight = walled().replace(fleet={"budgets": [5000.0, 5000.0, 5000.0]})
    plan = walled_plan(tight)
    energy = plan.transporters[0].energy
    longer = energy + 2 * 0.75 * (tight.hover_power + tight.transmit_power)
    for budget, fits in ((longer + 0.1, True), (longer - 0.1, False)):
        scenario = tight.replace(fleet={"budgets": [budget, 5000.0, 5000.0]})
        plan = walled_plan(scenario)
        assert plan.feasible
        if fits:
            export_plan(scenario, plan, "wpl", origin=ORIGIN)
            continue
        with pytest.raises(InputError, match=r"transporter 1: .* 6 s at each client for 5.250 s"):
            export_plan(scenario, plan, "wpl", origin=ORIGIN)
        export_plan(scenario, plan, "qgc", origin=ORIGIN)  # holds exactly: no harm


def test_mavsdk_reads_the_same() -> None:
    scenario = Scenario.preset("valley").replace(fleet={"budgets": None})
    plan = plan_of(scenario, [range(1, 13), [], []])
    files = export_plan(scenario, plan, "wpl", origin=ORIGIN)
    with mavsdk_link.reader() as mavsdk:
        read = mavsdk.import_mission_planner_mission_from_string(*files.values())
    items = read.mission_items
    assert [item.command for item in items[-15:]] == [TAKEOFF, SPEED, *[WAYPOINT] * 12, RETURN]
    assert [item.param1 for item in items[-13:-1]] == [12.0] * 12
    path = [(item.x / 1e7, item.y / 1e7) for item in (items[-15], *items[-13:-1], items[-15])]
    assert same_length(path, plan.transporters[0].length, a_leg=0.02)
