"""The Plan tab in Chromium: from an empty map to files for a ground station."""

from __future__ import annotations

import base64
import json
import threading
import tomllib
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import pytest
from chromium import chromium, complaints, requested
from live_control import Control, Page, control

from flexpress import Scenario, load_plan

if TYPE_CHECKING:
    from selenium.webdriver import Chrome


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    with chromium(tmp_path_factory.mktemp("browser")) as chrome:
        yield chrome


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Control]:
    with control(tmp_path_factory.mktemp("control")) as started:
        yield started


@pytest.fixture
def page(browser: Chrome, live: Control) -> Iterator[Page]:
    """An empty map; whatever a test does, nothing is complained of or fetched from elsewhere."""
    page = Page(browser, live.address)
    page.click("new")
    page.wait_for(lambda: page.num_sensors() == 0 and "server" not in network(page))
    yield page
    assert complaints(browser) == []
    own = f"http://127.0.0.1:{live.port}/"
    assert [
        url
        for url, document in requested(browser)
        if document.startswith(own) and not url.startswith((own, f"ws{own[4:]}", "data:", "blob:"))
    ] == []


SENSORS = [(300, 300), (1700, 300), (1700, 1700), (300, 1700), (1000, 400)]


def place(page: Page) -> None:
    """The server in the middle and five sensors, by hand."""
    page.use("server")
    page.click_map(1000, 1000)
    page.wait_for(
        lambda: page.run("return document.querySelectorAll('#sensors tbody tr').length") == 1
    )
    page.use("sensor")
    for number, (x, y) in enumerate(SENSORS, start=1):
        page.click_map(x, y)
        wait_for_sensors(page, number)
    page.use("look")


def wait_for_sensors(page: Page, number: int) -> None:
    page.wait_for(lambda: page.num_sensors() == number)


def plan(page: Page, state: str = "done", seconds: str = "1") -> None:
    page.type("plan-seconds", seconds)
    before = page.run("return document.getElementById('search-state').dataset.serial")
    page.click("plan")
    page.wait_for(
        lambda: page.run("return document.getElementById('search-state').dataset.serial") != before
    )
    page.wait_for(lambda: page.state("search-state") in (state, "failed"))
    assert page.state("search-state") == state


def newest(live: Control) -> Path:
    """The folder of the last plan."""
    return max(
        (live.folder / "flexpress-out").iterdir(),
        key=lambda each: (each / "plan.json").stat().st_mtime_ns,
    )


def draft(page: Page) -> dict[str, object]:
    text = page.run("return fetch('/scenario.toml').then((answer) => answer.text())")
    return tomllib.loads(text)


def exported(page: Page, format: str, folder: Path) -> list[Path]:
    """The files that the browser saved."""
    page.browser.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(folder)}
    )
    page.choose("formats", format)
    page.click("export")
    return page.wait_for(lambda: [f for f in folder.iterdir() if f.suffix != ".crdownload"])  # type: ignore[no-any-return]


def test_from_an_empty_map_to_qgroundcontrol(page: Page, live: Control, tmp_path: Path) -> None:
    place(page)
    assert page.text("faults") == ""
    plan(page)
    assert "kept in flexpress-out/mission-sws-" in page.text("search-state")
    page.type("origin", "46.5, 8.0")
    (archive,) = exported(page, "qgc", tmp_path)
    with zipfile.ZipFile(archive) as files:
        missions = [json.loads(files.read(name)) for name in files.namelist()]
    assert [mission["fileType"] for mission in missions] == ["Plan", "Plan"]
    folder = newest(live)
    stored = load_plan(folder / "plan.json", Scenario.load(folder / "scenario-used.toml"))
    assert sum(len(tour.clients) for tour in stored.transporters) == len(SENSORS)


def test_tours_appear_while_the_search_goes_on(page: Page) -> None:
    place(page)
    page.type("plan-seconds", "600")
    page.click("plan")
    page.wait_for(lambda: page.text("search-state").startswith("Searching: "))
    assert page.run("return document.querySelectorAll('#search-curve polyline').length") >= 1
    page.browser.refresh()
    page.wait_for(lambda: page.text("search-state").startswith("Searching: "))
    assert page.num_sensors() == len(SENSORS)
    page.click("stop")
    page.wait_for(lambda: page.state("search-state") == "done")


def corners_of(folder: Path) -> int:
    data = json.loads((folder / "plan.json").read_text())
    return sum(len(leg) for tour in data["transporters"] for leg in tour["corners"])


def test_a_drawn_zone_is_avoided(page: Page, live: Control) -> None:
    place(page)
    plan(page)
    assert corners_of(newest(live)) == 0
    page.use("zone")
    zone = [(600, 450), (1400, 450), (1400, 800), (600, 800)]
    for corner in zone:
        page.click_map(*corner)
    page.click_map(*zone[0])
    page.wait_for(lambda: "no_fly" in network(page))
    plan(page)
    assert corners_of(newest(live)) > 0
    scenario = Scenario.load(newest(live) / "scenario-used.toml")
    assert len(scenario.no_fly) == 1
    page.click("undo")
    page.wait_for(lambda: "no_fly" not in network(page))


def network(page: Page) -> dict[str, object]:
    found = draft(page).get("network", {})
    assert isinstance(found, dict)
    return found


def budget_fields(page: Page) -> list[object]:
    return page.browser.find_elements("css selector", "[aria-label^='Budget of']")  # type: ignore[return-value]


def test_an_infeasible_budget_and_the_remedy(page: Page) -> None:
    place(page)
    for number in range(2):
        enter_budget(page, number)
    plan(page, "infeasible")
    assert "no plan" in page.text("search-state")
    page.browser.refresh()
    remedy = page.wait_for(
        lambda: page.browser.find_elements("css selector", "[data-remedy=budgets]")
    )
    page.run("arguments[0].click()", remedy[0])
    page.wait_for(lambda: page.state("search-state") == "idle")
    plan(page)
    assert float(str(fleet(page)["budgets"][0]).split()[0]) > 4  # type: ignore[index]


def enter_budget(page: Page, number: int) -> None:
    page.enter(budget_fields(page)[number], "4 kJ")  # type: ignore[arg-type]  # Selenium's element
    page.wait_for(lambda: entered(page, number))


def fleet(page: Page) -> dict[str, object]:
    found = draft(page)["fleet"]
    assert isinstance(found, dict)
    return found


def entered(page: Page, number: int) -> bool:
    budgets = fleet(page).get("budgets")
    return isinstance(budgets, list) and budgets[number] == "4 kJ"


def test_what_is_wrong_stands_beside_its_field(page: Page) -> None:
    place(page)
    speed = page.browser.find_element("css selector", "[aria-label='Speed of drone 2']")
    page.enter(speed, "14 knots")
    text = (
        "fleet.speeds[1] = \"14 knots\": unknown unit in '14 knots': "
        "a speed may be given in m/s, km/h, mph, kn"
    )
    page.wait_for(lambda: page.text("fault-fleet.speeds[1]") == text)
    field = page.browser.find_element("css selector", "[aria-label='Speed of drone 2']")
    assert field.get_attribute("aria-invalid") == "true"
    assert not page["plan"].is_enabled()


def test_drag_delete_and_undo(page: Page) -> None:
    place(page)
    page.drag_map(SENSORS[0], (500, 600))
    page.wait_for(lambda: abs(network(page)["clients"][0][0] - 500) < 20)  # type: ignore[index]
    page.click_map(*SENSORS[1])
    page.click("delete")
    page.wait_for(lambda: page.num_sensors() == 4)
    page.click("undo")
    page.wait_for(lambda: page.num_sensors() == 5)
    page.click("undo")
    page.wait_for(lambda: abs(network(page)["clients"][0][0] - 300) < 20)  # type: ignore[index]
    page.click("redo")
    page.wait_for(lambda: abs(network(page)["clients"][0][0] - 500) < 20)  # type: ignore[index]


def test_by_keyboard_alone(page: Page) -> None:
    """The tool in the middle of the map, and numbers in the list."""
    from selenium.webdriver import Keys

    page.use("server")
    page["surface"].send_keys(Keys.ENTER)
    page.wait_for(lambda: "server" in network(page))
    page["surface"].send_keys(Keys.ARROW_LEFT * 3, Keys.ENTER)
    page.wait_for(lambda: page.num_sensors() == 1)
    page["sensor-list"].find_element("tag name", "summary").send_keys(Keys.ENTER)
    first = page.wait_for(
        lambda: page.browser.find_elements("css selector", "[data-node='1'] input")
    )[0]
    page.enter(first, "123.5")
    page.wait_for(lambda: network(page)["clients"][0][0] == 123.5)  # type: ignore[index]


PASTED = {
    "csv": ("id,lat,lon\na,46.60,7.95\nb,46.61,7.93\n", 2),
    "geojson": (
        '{"type": "FeatureCollection", "features": ['
        '{"type": "Feature", "properties": {},'
        ' "geometry": {"type": "Point", "coordinates": [8, 46]}},'
        '{"type": "Feature", "properties": {"name": "reserve"}, "geometry": {"type": "Polygon",'
        ' "coordinates": [[[8.1, 46], [8.2, 46], [8.2, 46.1], [8.1, 46]]]}}]}',
        1,
    ),
    "kml": (
        "<kml><Placemark><name>weir</name><Point><coordinates>8,46</coordinates></Point></Placemark>"
        "<Placemark><Point><coordinates>8.01,46.02,0</coordinates></Point></Placemark></kml>",
        2,
    ),
}


@pytest.mark.parametrize("kind", PASTED)
def test_what_is_pasted(kind: str, page: Page) -> None:
    text, number = PASTED[kind]
    page.run(
        "const data = new DataTransfer(); data.setData('text/plain', arguments[0]);"
        "const paste = new ClipboardEvent('paste', {clipboardData: data, bubbles: true});"
        "document.body.dispatchEvent(paste)",
        text,
    )
    page.wait_for(lambda: page.num_sensors() == number)
    assert "drag it to its place" in page.wait_for(lambda: page.text("upload-note"))
    assert page.text("first-axis") == "latitude"
    assert ("no_fly_names" in network(page)) == (kind == "geojson")


def test_comments_survive_saving(page: Page, live: Control) -> None:
    page.choose("presets", "valley")
    page.click("open-preset")
    page.wait_for(lambda: page.num_sensors() == 12)
    page.choose("field-plan-objective", "minmax")
    page.wait_for(lambda: draft(page)["plan"] == {"objective": "minmax", "solver": "search"})
    page.type("save-name", "river.toml")
    page.click("save")
    page.wait_for(lambda: page.text("file-name") == "river.toml")
    text = (live.folder / "river.toml").read_text()
    assert text.startswith("# Twelve gauges along a river valley")
    assert "# one entry per drone: a fast one, and two older ones" in text
    assert Scenario.load(live.folder / "river.toml").plan.objective == "minmax"


@pytest.mark.slow
def test_two_plans_and_a_proof(page: Page) -> None:
    place(page)
    plan(page)
    page.choose("field-plan-objective", "minmax")
    page.wait_for(lambda: draft(page).get("plan") == {"objective": "minmax"})
    plan(page)
    boxes = page.browser.find_elements("css selector", "[name=compare]")
    page.run("arguments[0].click()", boxes[1])
    page.wait_for(lambda: "longest round trip" in page.text("comparison"))
    page.type("prove-seconds", "60")
    page.click("prove")
    page.wait_for(lambda: "proven: at most" in page.text("search-state"))


def test_a_second_browser_watches(page: Page, live: Control) -> None:
    """Here: a second window, with the same cookie."""
    browser = page.browser
    mine = browser.current_window_handle
    browser.switch_to.new_window("window")
    second = Page(browser, f"http://127.0.0.1:{live.port}/")
    browser.switch_to.window(mine)
    place(page)
    other = next(handle for handle in browser.window_handles if handle != mine)
    browser.switch_to.window(other)
    second.wait_for(lambda: second.num_sensors() == len(SENSORS))
    browser.close()
    browser.switch_to.window(mine)


@pytest.mark.slow
def test_a_restart_loses_nothing(browser: Chrome, tmp_path: Path) -> None:
    with control(tmp_path) as live:
        page = Page(browser, live.address)
        place(page)
        plan(page)
    with control(tmp_path) as live:
        page = Page(browser, live.address)
        page.wait_for(lambda: page.num_sensors() == len(SENSORS))
        page.click("undo")
        page.wait_for(lambda: page.num_sensors() == len(SENSORS) - 1)
        assert "mission-sws-1" in page.text("plan-rows")
    complaints(browser)


PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
)


class Tiles(BaseHTTPRequestHandler):
    """A server of map tiles, which counts them."""

    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:  # as http.server calls it
        self.asked.append(self.path)
        self.send_response(200)
        self.send_header("Content-Type", "image/png")
        self.end_headers()
        self.wfile.write(PIXEL)

    def log_message(self, *arguments: object) -> None:
        """Nothing."""


def test_tiles_only_when_they_are_asked_for(browser: Chrome, tmp_path: Path) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Tiles) as tiles:
        threading.Thread(target=tiles.serve_forever).start()
        address = f"http://127.0.0.1:{tiles.server_port}/{{z}}/{{x}}/{{y}}.png"
        try:
            with control(tmp_path, "alps", "--tiles", address) as live:
                page = Page(browser, live.address)
                page.wait_for(lambda: page.num_sensors() == 16)
                assert Tiles.asked == []
                page.click("show-tiles")
                page.wait_for(lambda: Tiles.asked)
                assert complaints(browser) == []
        finally:
            tiles.shutdown()
    complaints(browser)


def test_the_focus_stays_in_its_row(page: Page) -> None:
    """A row is made anew when its drone changes; who went on to the next field stays there."""
    place(page)
    page.enter(page.browser.find_element("css selector", "[aria-label='Speed of drone 1']"), "12")
    page.wait_for(lambda: fleet(page)["speeds"] == [12, "10 m/s"])
    focused = "return document.activeElement.getAttribute('aria-label')"
    page.wait_for(lambda: page.run(focused) == "Budget of drone 1")
