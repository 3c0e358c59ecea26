"""From a plan to missions on the Earth: places, order, energy, and what is refused."""

from __future__ import annotations

import re

import numpy as np
import pytest
from flights import (
    DATE_LINE,
    OBJECTIVES,
    ODD_NAMES,
    ORIGIN,
    ORIGINS,
    PRESETS,
    origin_of,
    plan_of,
    preset_plan,
    same_length,
    walled,
    walled_plan,
)

from flexpress import InputError, Scenario
from flexpress.planning.export import EXPORT_FORMATS, check_clearance, export_plan, parse_origin
from flexpress.planning.export.flight_plan import Corner, Stop, make_flight_plan
from flexpress.scenario import Objective
from flexpress.scenario.projection import Coordinate, _geodesics


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("preset", PRESETS)
def test_the_missions_are_as_long_as_the_tours(preset: str, objective: Objective) -> None:
    scenario, plan = preset_plan(preset, objective)
    flight = make_flight_plan(scenario, plan, origin=origin_of(scenario))
    assert len(flight.missions) == sum(bool(tour.clients) for tour in plan.transporters)
    for mission in flight.missions:
        tour = plan.transporters[mission.transporter - 1]
        assert tuple(visit.client for visit in mission.stops) == tour.clients
        assert same_length(flight.path(mission), tour.length)


@pytest.mark.parametrize("origin", ORIGINS)
def test_a_plane_may_lie_anywhere_on_the_earth(origin: Coordinate) -> None:
    scenario = walled()
    flight = make_flight_plan(scenario, walled_plan(scenario), origin=origin)
    for mission in flight.missions:
        assert same_length(flight.path(mission), mission.tour.length)
    places = np.array([flight.home, *(v.place for m in flight.missions for v in m.stops)])
    assert np.all(np.abs(places) <= [90, 180])


def test_x_is_east_and_y_is_north() -> None:
    scenario = Scenario.preset("four")  # clients at (3, 0), (3, 4), (-3, 0), (-3, -4)
    flight = make_flight_plan(scenario, plan_of(scenario, [[1, 2], [3, 4]]), origin=(45.0, 7.0))
    east, north_east = (visit.place for visit in flight.missions[0].stops)
    west, south_west = (visit.place for visit in flight.missions[1].stops)
    assert flight.home == (45.0, 7.0)
    assert west[1] < 7.0 < east[1]
    assert south_west[0] < 45.0 < north_east[0]


@pytest.mark.parametrize("geographic", [False, True])
def test_corners_stand_where_they_are_flown(geographic: bool) -> None:
    scenario = walled(geographic=geographic)
    plan = walled_plan(scenario)
    first, third = make_flight_plan(scenario, plan, origin=origin_of(scenario)).missions
    kinds = [type(point) for point in first.waypoints]
    assert kinds == [Stop, Stop, Corner, Corner]  # the way home goes around the zone
    near_client, near_server = first.waypoints[2:]
    assert near_server.place[1] < near_client.place[1]
    assert [type(point) for point in third.waypoints] == [Stop]
    assert [mission.transporter for mission in (first, third)] == [1, 3]


def test_both_ways_of_giving_places_lead_to_the_same_missions() -> None:
    planar, geographic = walled(), walled(geographic=True)
    one = make_flight_plan(planar, walled_plan(planar), origin=ORIGIN)
    two = make_flight_plan(geographic, walled_plan(geographic))
    assert one.no_fly == two.no_fly
    for here, there in zip(one.missions, two.missions, strict=True):
        assert np.array(one.path(here)) == pytest.approx(np.array(two.path(there)), abs=2e-9)
        assert here.tour.length == pytest.approx(there.tour.length, abs=1e-5)


def test_no_fly_zones_turn_left_even_across_the_date_line() -> None:
    scenario = walled()
    flight = make_flight_plan(scenario, walled_plan(scenario), origin=DATE_LINE)
    (zone,) = flight.no_fly
    east = [longitude < 0 for _, longitude in zone]
    assert east == [True, True, False, False]
    assert zone[0][0] < zone[1][0]  # northwards on the eastern side
    sides = _geodesics(np.array(zone), np.roll(np.array(zone), -1, axis=0))
    assert np.sort(sides) == pytest.approx([100, 100, 110, 110], abs=0.001)


def test_energy_is_counted_stop_by_stop() -> None:
    scenario, plan = preset_plan("coast", "minmax")
    for mission in make_flight_plan(scenario, plan, origin=ORIGIN).missions:
        k = mission.transporter - 1
        hover = scenario.hover_power + scenario.transmit_power
        spent = 0.0
        for visit in mission.stops:
            spent += visit.leg / mission.speed * scenario.flight_power(k)
            spent += scenario.transfer_time * hover
            assert visit.energy == pytest.approx(spent)
        spent += mission.way_home / mission.speed * scenario.flight_power(k)
        assert mission.tour.energy == pytest.approx(spent)


def test_clients_at_the_server_take_no_way() -> None:
    scenario = Scenario.from_dict(
        {
            "network": {"server": [5, 5], "clients": [[5, 5]]},
            "fleet": {"speeds": [10]},
            "link": {"transfer_time": 0, "altitude": 50},
        }
    )
    flight = make_flight_plan(scenario, plan_of(scenario, [[1]]), origin=ORIGIN)
    (visit,) = flight.missions[0].stops
    assert (visit.place, visit.leg, visit.energy) == (flight.home, 0.0, 0.0)


@pytest.mark.parametrize("format", EXPORT_FORMATS)
def test_idle_transporters_get_no_mission(format: str) -> None:
    scenario = walled()
    files = export_plan(scenario, walled_plan(scenario), format, origin=ORIGIN)
    if len(files) > 1:
        assert [re.sub(r"\..*", "", name) for name in files] == ["transporter-1", "transporter-3"]
    else:
        (text,) = files.values()
        assert "ransporter 2" not in text


@pytest.mark.parametrize("format", EXPORT_FORMATS)
def test_the_same_plan_gives_the_same_files(format: str) -> None:
    scenario = walled()
    plan = walled_plan(scenario)
    once = export_plan(scenario, plan, format, origin=ORIGIN)
    assert once == export_plan(scenario, plan, format, origin=ORIGIN)
    assert all(text.endswith("\n") for text in once.values())


def refusal(scenario: Scenario, origin: Coordinate | None) -> str:
    plan = plan_of(scenario, [[1], [2], [3]])
    with pytest.raises(InputError) as caught:
        export_plan(scenario, plan, "qgc", origin=origin)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_plane_needs_an_origin() -> None:
    assert "give --origin LAT,LON, where x = 0, y = 0 lies" in refusal(walled(), None)


def test_an_origin_is_for_planes_only() -> None:
    assert "omit --origin" in refusal(walled(geographic=True), ORIGIN)


def test_an_altitude_is_needed() -> None:
    grounded = walled().replace(link={"altitude": None})
    assert "give link.altitude" in refusal(grounded, ORIGIN)


def test_a_plane_of_another_country_is_refused() -> None:
    utm = walled().replace(network={"server": [465e3, 5247e3]})
    assert "(465000, 5247000) m lies 5268 km from the origin" in refusal(utm, ORIGIN)


@pytest.mark.parametrize(
    ("origin", "complaint"),
    [
        ((95.0, 8.0), "latitude is 95.0: must lie between -90 and 90"),
        ((47.0, 181.0), "longitude is 181.0: must lie between -180 and 180"),
        ((float("nan"), 8.0), "latitude = nan: must be a finite number"),
    ],
)
def test_an_origin_off_the_earth_is_refused(origin: Coordinate, complaint: str) -> None:
    assert complaint in refusal(walled(), origin)
    with pytest.raises(InputError, match=re.escape(complaint)):
        parse_origin(f"{origin[0]},{origin[1]}")


def test_an_origin_is_two_numbers() -> None:
    assert parse_origin("47.3769, 8.5417") == (47.3769, 8.5417)
    assert parse_origin("-90,-180") == (-90.0, -180.0)
    for text in ("", "47", "47;8", "47,8,9", "north,8"):
        with pytest.raises(InputError, match=r"must be LAT,LON in degrees"):
            parse_origin(text)


def test_an_unknown_format_is_refused() -> None:
    scenario = walled()
    with pytest.raises(InputError, match=r'format = "dwg": must be one of qgc, wpl, geojson'):
        export_plan(scenario, walled_plan(scenario), "dwg", origin=ORIGIN)


def test_flights_pass_above_the_ground_of_every_client() -> None:
    check_clearance(120.0, 400.0, [("low", 380.0), ("high", 519.0), ("unknown", None)])
    check_clearance(120.0, None, [("unknown", None), ("high", 8000.0)])
    with pytest.raises(InputError, match=r"client high lies at 520 m, the flight at 520 m"):
        check_clearance(120.0, 400.0, [("low", 380.0), ("high", 520.0)])


def test_the_altitudes_of_clients_are_checked_on_export() -> None:
    heights = [400.0, 900.0, ""]
    scenario = walled(geographic=True, altitudes=heights)
    complaint = f"client {ODD_NAMES[1]} lies at 900 m, the flight at 528.5 m"
    with pytest.raises(InputError, match=re.escape(complaint)):
        export_plan(scenario, walled_plan(scenario), "csv")


def test_altitudes_of_clients_alone_are_no_reason_to_refuse() -> None:
    scenario = walled(altitudes=[400.0, 900.0, ""])  # in metres: the server's is never known
    assert export_plan(scenario, walled_plan(scenario), "csv", origin=ORIGIN)
