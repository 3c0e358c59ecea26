"""flight.json: the mission of a courier, made out of the plan."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest
from flight_cases import CLIENTS, ORIGIN, flight_file, plan_of, scenario

from flexpress import InputError, Scenario
from flexpress.field.flight_file import FlightFile, make_flight_file
from flexpress.field.messages import WireError, decode, encode
from flexpress.planning.export.flight_plan import make_flight_plan

WAYPOINT, RETURN, TAKEOFF, SPEED = 16, 20, 22, 178


def test_each_client_is_arrived_at_and_then_held() -> None:
    flight = flight_file()
    commands = [item.command for item in flight.items]
    assert commands == [TAKEOFF, SPEED, *[WAYPOINT] * 6, RETURN]
    assert [hold.client for hold in flight.holds] == list(CLIENTS)
    case = scenario()
    (mission,) = make_flight_plan(case, plan_of(case), origin=ORIGIN).missions
    for hold, stop in zip(flight.holds, mission.stops, strict=True):
        arrival, item = flight.items[hold.arrival], flight.items[hold.item]
        assert hold.item == hold.arrival + 1
        assert arrival.place == item.place == (*stop.place, 120.0)
        assert (arrival.params[0], item.params[0]) == (0, 6)  # 5.25 s, rounded up


def test_corners_of_zones_are_no_clients() -> None:
    wall = [(100.0, -50.0), (100.0, 60.0), (200.0, 60.0), (200.0, -50.0)]
    case = scenario(no_fly=[wall])
    flight = make_flight_file(case, plan_of(case), 1, origin=ORIGIN)
    held = [number for hold in flight.holds for number in (hold.arrival, hold.item)]
    waypoints = [n for n, item in enumerate(flight.items) if item.command == WAYPOINT]
    corners = set(waypoints) - set(held)
    assert corners
    assert {flight.items[number].params[0] for number in corners} == {0}


def test_a_scenario_in_degrees_needs_no_origin() -> None:
    case = Scenario.preset("alps")
    plan = plan_of(case, [list(range(1, len(case.client_ids) + 1)), [], []])
    plan = replace(plan, transporters=tuple(replace(t, budget=None) for t in plan.transporters))
    flight = make_flight_file(case, plan, 1)
    assert [hold.client for hold in flight.holds] == [f"client-{one}" for one in case.client_ids]
    assert flight.home_altitude == case.server_altitude


def test_it_can_be_stored_and_read() -> None:
    flight = flight_file(longest_hold=60)
    assert flight.hold == 60
    assert decode(encode(flight), FlightFile) == flight


def test_names_are_those_of_the_certificates() -> None:
    flight = flight_file(name_of=lambda client: f"sensor {client}")
    assert [hold.client for hold in flight.holds] == ["sensor 3", "sensor 1", "sensor 2"]


@pytest.mark.parametrize(
    ("transporter", "options", "message"),
    [
        (1, {}, "is in metres and does not say where on the Earth; give --origin LAT,LON"),
        (2, {"origin": ORIGIN}, "transporter 2 visits no client in this plan"),
        (3, {"origin": ORIGIN}, "transporter = 3: must be a whole number from 1 to 2"),
        (
            1,
            {"origin": ORIGIN, "longest_hold": 2},
            "longest_hold = 2: must be a number of at least",
        ),
        (1, {"origin": ORIGIN, "longest_hold": 3601}, "at most 3600"),
    ],
)
def test_refused_in_one_line(transporter: int, options: dict[str, object], message: str) -> None:
    case = scenario()
    with pytest.raises(InputError) as caught:
        make_flight_file(case, plan_of(case), transporter, **options)  # type: ignore[arg-type]  # wrong on purpose
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_hold_that_the_budget_does_not_allow() -> None:
    case = scenario()
    plan = plan_of(case)
    tours = [replace(tour, budget=tour.energy * 1.1) for tour in plan.transporters]
    tight = replace(plan, transporters=tuple(tours))
    with pytest.raises(
        InputError, match=r"transporter 1: a hold of 60 s at each client takes .* J, and"
    ):
        make_flight_file(case, tight, 1, origin=ORIGIN, longest_hold=60)


@pytest.mark.parametrize("number", [0, 3, 8, 60000])
def test_a_file_whose_holds_do_not_fit_is_refused(number: int) -> None:
    flight = flight_file()
    content = msgspec.json.decode(encode(flight))
    content["holds"][0] |= {"arrival": number, "item": number + 1}
    with pytest.raises(WireError, match=r"client-3: items .* do not fit"):
        decode(msgspec.json.encode(content), FlightFile)
