"""The HTML map in Chromium: drones are where the plan says, and hands move what they should."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from chromium import chromium, complaints, requests
from detours import ZONES, alps_with_detours, in_metres, plane_with_detours
from map_page import Page
from numpy.typing import NDArray

from flexpress import Plan, Scenario, make_plan

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

VALLEY = Scenario.preset("valley")
PLAN = make_plan(VALLEY, solver="exact")
LONGEST = max(tour.round_trip for tour in PLAN.transporters)
CASES: dict[str, Callable[[], tuple[Scenario, Plan]]] = {
    "straight": lambda: (VALLEY, PLAN),
    "plane": plane_with_detours,
    "alps": alps_with_detours,
}


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    with chromium(tmp_path_factory.mktemp("browser")) as chrome:
        yield chrome


Open = Callable[[Scenario, Plan], Page]


@pytest.fixture
def open_map(browser: Chrome, tmp_path: Path) -> Iterator[Open]:
    """Opens maps; whatever a test does, nothing may be complained of, and nothing be fetched."""
    yield lambda scenario, plan: Page(browser, tmp_path / "map.html", scenario, plan)
    assert complaints(browser) == []
    assert requests(browser) == []


@pytest.fixture
def valley(open_map: Open) -> Page:
    return open_map(VALLEY, PLAN)


def expected_place(scenario: Scenario, plan: Plan, k: int, time: float) -> NDArray[np.float64]:
    """Where transporter k is: metre by metre at its speed, with a stop at every client."""
    tour = plan.transporters[k]
    nodes = [scenario.client_ids.index(client) + 1 for client in tour.clients]
    legs = list(pairwise([0, *nodes, 0]))
    for leg, (i, j) in enumerate(legs):
        corners = in_metres(scenario, tour.corners[leg] if tour.corners else ())
        for start, end in pairwise([scenario.positions[i], *corners, scenario.positions[j]]):
            needed = float(np.hypot(*np.subtract(end, start))) / scenario.speeds[k]
            if time < needed:
                return np.array(start + np.subtract(end, start) * time / needed)
            time -= needed
        if time < scenario.transfer_time:
            break
        time -= scenario.transfer_time
    return np.array(scenario.positions[j])


@pytest.mark.parametrize("case", CASES)
def test_drones_are_where_the_plan_says(case: str, open_map: Open) -> None:
    page = open_map(*CASES[case]())
    longest = max(tour.round_trip for tour in page.plan.transporters)
    before: dict[int, dict[str, str]] = {}
    for time in np.linspace(0, longest, 9):
        page.set_time(float(time))
        drones = page.drones()
        assert len(drones) == 3
        for number, drone in drones.items():
            place = expected_place(page.scenario, page.plan, number - 1, float(time))
            assert np.hypot(float(drone["x"]) - place[0], float(drone["y"]) - place[1]) < 1.0
        assert drones != before
        before = drones


def test_markers_are_drawn_where_they_say(valley: Page) -> None:
    valley.set_time(0.4 * LONGEST)
    box = valley.js("document.getElementById('surface').getBoundingClientRect().toJSON()")
    for number, drone in valley.drones().items():
        right, down = valley.pixel(float(drone["x"]), float(drone["y"]))
        marker = valley.js(
            f"document.querySelector('g[data-transporter=\"{number}\"] circle')"
            ".getBoundingClientRect().toJSON()"
        )
        assert marker["x"] + marker["width"] / 2 == pytest.approx(
            box["x"] + box["width"] / 2 + right, abs=1
        )
        assert marker["y"] + marker["height"] / 2 == pytest.approx(
            box["y"] + box["height"] / 2 + down, abs=1
        )


def test_a_drone_waits_flies_hovers_and_comes_home(valley: Page) -> None:
    tour = PLAN.transporters[2]
    hover = VALLEY.transfer_time
    for time, state in (
        (0.0, "waiting"),
        (tour.arrivals[0] - 1, "flying"),
        (tour.arrivals[0] + hover / 2, "hovering"),
        (tour.arrivals[0] + hover + 1, "flying"),
        (tour.round_trip - 1, "flying"),
        (tour.round_trip + 1, "home"),
    ):
        valley.set_time(time)
        assert valley.drones()[3]["state"] == state
    valley.set_time(tour.arrivals[0] + hover / 2)
    ring = valley.js(
        "document.querySelector('g[data-transporter=\"3\"] circle:last-child')"
        ".getAttribute('stroke-dasharray').split(' ').map(Number)"
    )
    assert ring[0] / ring[1] == pytest.approx(0.5, abs=0.01)


def test_clients_change_their_look_when_they_have_the_model(valley: Page) -> None:
    x, y = VALLEY.positions[VALLEY.client_ids.index("gorge") + 1]
    done = PLAN.transporters[0].arrivals[1] + VALLEY.transfer_time
    valley.set_time(done - 1)
    assert valley.painted("clients", x, y) != (0x00, 0x72, 0xB2, 255)
    valley.set_time(done + 10)
    assert valley.painted("clients", x, y) == (0x00, 0x72, 0xB2, 255)


def test_zones_are_painted(open_map: Open) -> None:
    page = open_map(*plane_with_detours())
    inside, outside = np.mean(ZONES[1], axis=0), np.array([730.0, -370.0])
    red, _, blue, opacity = page.painted("ground", *inside)
    assert opacity > 0
    assert red > blue
    assert page.painted("ground", *outside + 20) in [(0, 0, 0, 0), (241, 240, 236, 255)]
    assert "no-fly zone" in page.find("#key").text


def test_zones_are_named(open_map: Open) -> None:
    scenario, plan = plane_with_detours()
    names = ["", "Airport", *[""] * (len(ZONES) - 2)]
    page = open_map(scenario.replace(network={"no_fly_names": names}), plan)
    middles = [(np.min(zone, axis=0) + np.max(zone, axis=0)) / 2 for zone in ZONES]
    assert [ink_around(page, *middle) for middle in middles] == [bool(name) for name in names]
    for number, (middle, name) in enumerate(zip(middles, names, strict=True), start=1):
        page.hover(*middle)
        assert page.tip.startswith(name or f"No-fly zone {number}")


def ink_around(page: Page, x: float, y: float) -> bool:
    """Whether something is written near a place."""
    step = 2 / page.view[0]
    near = [(x + i * step, y + j * step) for i in range(-8, 9) for j in range(-1, 2)]
    return any(page.painted("labels", *place)[3] for place in near)


@pytest.mark.parametrize("case", ["plane", "alps"])
def test_all_zones_are_in_view(case: str, open_map: Open) -> None:
    page = open_map(*CASES[case]())
    width, height = page.js("[surface.clientWidth, surface.clientHeight]")
    for zone in page.scenario.no_fly:
        for x, y in in_metres(page.scenario, zone):
            right, down = page.pixel(x, y)
            assert abs(right) < width / 2
            assert abs(down) < height / 2


def test_the_slider_shows_minutes_and_seconds(valley: Page) -> None:
    valley.set_time(125.0)
    assert valley.find("#time-text").text == "2:05 / 7:30"
    assert valley.find("#time").get_attribute("aria-valuetext") == "2:05 minutes of 7:30"
    assert float(valley.find("#time").get_attribute("max")) == LONGEST


def test_keys_move_the_slider(valley: Page) -> None:
    valley.find("#time").send_keys("\ue014\ue014")  # arrow right, twice
    assert valley.time == pytest.approx(LONGEST / 50)
    valley.find("#time").send_keys("\ue010")  # end
    assert valley.time == pytest.approx(LONGEST)


def test_play_lets_the_time_run_until_it_is_paused(valley: Page) -> None:
    start = valley.drones()
    valley.find("#play").click()
    for _ in range(5):
        valley.settle()
    valley.find("#play").click()
    valley.settle()
    stopped = valley.time
    assert stopped > 0
    assert all(valley.drones()[k]["x"] != start[k]["x"] for k in start)
    valley.settle()
    assert valley.time == stopped


def test_play_ends_with_the_last_drone_at_home(valley: Page) -> None:
    valley.set_time(LONGEST - 0.01)
    valley.find("#play").click()
    for _ in range(5):
        valley.settle()
    assert valley.time == pytest.approx(LONGEST)
    assert valley.find("#play").get_attribute("aria-label") == "Play"


def test_hovering_a_client_tells_name_and_arrival(valley: Page) -> None:
    valley.hover(*VALLEY.positions[VALLEY.client_ids.index("gorge") + 1])
    arrival = PLAN.transporters[0].arrivals[1]
    heading, *facts = valley.tip.splitlines()
    assert heading == "gorge"
    assert f"{int(arrival // 60)}:{int(arrival % 60):02} ({arrival:.1f} s)" in facts
    assert "2 of 5, transporter 1" in facts
    assert "450.8 s, 7.51 min, 8 slots" in facts


def test_hovering_a_line_tells_the_round_trip(valley: Page) -> None:
    ends = VALLEY.positions[[0, VALLEY.client_ids.index("quarry") + 1]]
    valley.hover(*ends.mean(axis=0))
    assert valley.tip.splitlines()[0] == "Transporter 2"
    assert "330.1 s, 5.50 min, 6 slots" in valley.tip
    assert "9.43 of 12.00 kJ (78 %)" in valley.tip
    valley.hover(2500.0, 500.0)
    assert valley.tip == ""
    valley.hover(*VALLEY.positions[0])
    assert valley.tip.splitlines() == ["Server", "transporters", "3", "clients", "12"]


def test_hovering_a_drone_tells_what_it_does(valley: Page) -> None:
    valley.set_time(PLAN.transporters[0].arrivals[1] - 10)
    drone = valley.drones()[1]
    valley.hover(float(drone["x"]), float(drone["y"]))
    assert "flies to gorge" in valley.tip


def test_the_wheel_zooms_around_the_pointer(valley: Page) -> None:
    from selenium.webdriver.common.actions.wheel_input import ScrollOrigin

    place = VALLEY.positions[7]
    before, where = valley.view, valley.pixel(*place)
    origin = ScrollOrigin.from_element(valley.find("#surface"), *map(round, where))
    valley.mouse().scroll_from_origin(origin, 0, -300).perform()
    valley.settle()
    assert valley.view[0] > 1.2 * before[0]
    assert valley.pixel(*place) == pytest.approx(where, abs=2)
    valley.find("#reset").click()
    valley.settle()
    assert valley.view == pytest.approx(before)


def test_dragging_moves_the_map(valley: Page) -> None:
    before = valley.pixel(*VALLEY.positions[0])
    valley.mouse().move_to_element(valley.find("#surface")).click_and_hold().move_by_offset(
        40, -25
    ).release().perform()
    valley.settle()
    right, down = valley.pixel(*VALLEY.positions[0])
    assert (right - before[0], down - before[1]) == pytest.approx((40, -25), abs=5)


def test_two_fingers_zoom(valley: Page) -> None:
    before = valley.view[0]

    def touch(kind: str, apart: float) -> None:
        points = [{"x": 400 + side * apart, "y": 400, "id": side} for side in (0, 1)]
        points = [] if kind == "touchEnd" else points
        event = {"type": kind, "touchPoints": points}
        valley.browser.execute_cdp_cmd("Input.dispatchTouchEvent", event)

    touch("touchStart", 100)
    for apart in (120, 150, 200):
        touch("touchMove", apart)
    touch("touchEnd", 0)
    valley.settle()
    assert valley.view[0] == pytest.approx(2 * before, rel=0.1)


def test_keys_and_buttons_zoom_and_move_the_map(valley: Page) -> None:
    scale, x, y = valley.view
    surface = valley.find("#surface")
    surface.send_keys("+\ue014\ue013")  # arrow right, arrow up
    valley.settle()
    assert valley.view[0] == pytest.approx(1.4 * scale)
    assert valley.view[1] > x
    assert valley.view[2] > y
    surface.send_keys("0")
    valley.find("#zoom-out").click()
    valley.settle()
    assert valley.view[0] < scale
    surface.send_keys(" ")
    assert valley.find("#play").get_attribute("aria-label") == "Pause"


def test_a_row_shows_its_tour_alone_with_its_visits(valley: Page) -> None:
    assert valley.opacities() == [1, 1, 1]
    valley.find("#rows button").click()
    valley.settle()
    assert valley.opacities() == [1, *[pytest.approx(0.15)] * 2]
    assert valley.find("#rows button").get_attribute("aria-pressed") == "true"
    names = valley.js("[...document.querySelectorAll('#visits-list span')].map(s => s.textContent)")
    assert tuple(names) == PLAN.transporters[0].clients
    valley.find("#surface").send_keys("\ue00c")  # escape
    valley.mouse().move_to_element(valley.find("#facts")).perform()
    valley.settle()
    assert valley.opacities() == [1, 1, 1]
    assert valley.js("document.querySelectorAll('#visits-list li').length") == 0


def test_a_row_with_the_focus_tells_about_its_tour(valley: Page) -> None:
    valley.js("document.querySelectorAll('#rows button')[1].focus()")
    valley.settle()
    assert valley.tip.splitlines()[0] == "Transporter 2"
    assert "330.1 s, 5.50 min, 6 slots" in valley.tip
    assert valley.opacities() == [0.3, 1, 0.3]


def test_a_visit_with_the_focus_tells_about_its_client(valley: Page) -> None:
    valley.find("#rows button").send_keys("\ue007")  # enter
    valley.js("document.querySelectorAll('#visits-list button')[2].focus()")
    valley.settle()
    assert valley.tip.splitlines()[0] == "spring"


def test_a_visit_out_of_view_is_brought_into_it(valley: Page) -> None:
    valley.find("#rows button").send_keys("\ue007")  # enter
    valley.find("#surface").send_keys("+" * 6)
    valley.js("document.querySelectorAll('#visits-list button')[2].focus()")
    valley.settle()
    spring = VALLEY.positions[VALLEY.client_ids.index("spring") + 1]
    assert valley.pixel(*spring) == pytest.approx((0, 0), abs=1)


def test_rows_hold_the_figures(valley: Page) -> None:
    rows = valley.js(
        "[...document.querySelectorAll('#rows tr')].map(r => [...r.cells].map(c => c.textContent))"
    )
    assert rows[0] == ["1", "5", "5,471", "450.8", "12.93", "86 %"]
    assert len(rows) == 3


def test_names_are_text_whatever_they_hold(open_map: Open) -> None:
    names = ["<img src=x onerror=alert(1)>", "</script>", "&amp;", '"']
    odd = Scenario.preset("four").replace(name="<b>bold</b>", network={"ids": names})
    plan = Plan.of(odd, "sws", [[1, 2], [3, 4]], solver="search", seed=0, seconds=0.0)
    page = open_map(odd, plan)
    assert page.browser.title == "<b>bold</b>: sws"
    assert page.find("h1").text == "<b>bold</b>"
    page.hover(*odd.positions[1])
    assert page.tip.splitlines()[0] == names[0]


def test_a_transporter_on_the_ground_has_a_row_and_no_drone(open_map: Open) -> None:
    four = Scenario.preset("four")
    plan = Plan.of(four, "sws", [[], [1, 2, 3, 4]], solver="search", seed=0, seconds=0.0)
    page = open_map(four, plan)
    assert list(page.drones()) == [2]
    page.find("#rows button").click()
    assert "stays on the ground" in page.find("#visits-title").text


def test_everything_in_one_place(open_map: Open) -> None:
    heap = Scenario.preset("four").replace(
        network={"clients": [[0.0, 0.0]] * 4}, link={"transfer_time": 0.0}
    )
    plan = Plan.of(heap, "sws", [[1, 2], [3, 4]], solver="search", seed=0, seconds=0.0)
    page = open_map(heap, plan)
    assert [drone["state"] for drone in page.drones().values()] == ["home", "home"]


def test_dark_where_dark_is_preferred(valley: Page) -> None:
    shade = "getComputedStyle(document.body).backgroundColor"

    def prefer(scheme: str) -> str:
        feature = {"name": "prefers-color-scheme", "value": scheme}
        valley.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
        valley.settle()
        return str(valley.js(shade))

    try:
        assert prefer("light") == "rgb(252, 252, 250)"
        assert prefer("dark") == "rgb(23, 25, 28)"
    finally:
        prefer("")


def test_on_a_phone_the_table_is_below_the_map(valley: Page) -> None:
    phone = {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}
    valley.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
    try:
        valley.settle()
        top = "document.getElementById('{}').getBoundingClientRect()"
        assert valley.js(top.format("map"))["bottom"] <= valley.js(top.format("table"))["top"]
        assert valley.js("document.documentElement.scrollWidth") <= 390
    finally:
        valley.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_a_thousand_clients(open_map: Open) -> None:
    rng = np.random.default_rng(0)
    clients = (1e4 * rng.random((1000, 2))).tolist()
    crowd = Scenario.from_dict(
        {
            "network": {"server": [5000, 5000], "clients": clients},
            "fleet": {"speeds": [15.0] * 20},
            "link": {"transfer_time": 6.0},
        }
    )
    tours = [list(range(1 + k, 1001, 20)) for k in range(20)]
    plan = Plan.of(crowd, "sws", tours, solver="search", seed=0, seconds=0.0)
    page = open_map(crowd, plan)
    page.set_time(1000.0)
    for number, drone in page.drones().items():
        place = expected_place(crowd, plan, number - 1, 1000.0)
        assert np.hypot(float(drone["x"]) - place[0], float(drone["y"]) - place[1]) < 1.0
