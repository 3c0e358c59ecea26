"""The HTML map is one safe file: nothing from outside, any name in it, the plan's own figures."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from detours import WAYS, ZONES, alps_with_detours, in_metres, plane_with_detours

from flexpress import InputError, Plan, Scenario, make_plan
from flexpress.planning.colours import tour_colours
from flexpress.report.figures.map import _draw_map
from flexpress.report.figures.style import DARK
from flexpress.report.texts import gap_text
from flexpress.report.web_map.html_map import html_map, save_map

VALLEY = Scenario.preset("valley")
PLAN = make_plan(VALLEY, solver="exact")
FOUR = Scenario.preset("four")

LEGS = [(0, 1), (1, 2), (2, 0)]  # of the first tour with detours
NASTY = ["</script><script>alert(1)</script>", "\"&'<!--", "泉", "{{data}}"]


class Parsed(HTMLParser):
    """Attributes, the text of each script, and the title, as a browser would find them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.scripts: list[str] = []
        self.title = ""
        self.attributes: list[tuple[str, str | None]] = []
        self.tags: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self.lasttag == "script" and self.cdata_elem:
            self.scripts[-1] += data
        elif self.lasttag == "title" and not self.title:
            self.title = data


def data_of(page: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Parsed(page).scripts[0])
    return found


def plan_of(scenario: Scenario, tours: list[list[int]]) -> Plan:
    return Plan.of(scenario, "sws", tours, solver="search", seed=0, seconds=1.0)


def test_nothing_comes_from_outside() -> None:
    page = html_map(VALLEY, PLAN)
    assert set(re.findall(r"https?://[^\s\"'`)]*", page)) == {"http://www.w3.org/2000/svg"}
    links = [value for name, value in Parsed(page).attributes if name in ("src", "href")]
    assert links == ["data:,"]
    assert not re.search(r"@import|url\(|fetch\(|XMLHttpRequest|import\(", page)
    assert "default-src 'none'" in page


def test_names_cannot_break_the_page() -> None:
    odd = FOUR.replace(name="</title><b>&", network={"ids": NASTY})
    page = html_map(odd, plan_of(odd, [[1, 2], [3, 4]]))
    parsed, plain = Parsed(page), Parsed(html_map(FOUR, plan_of(FOUR, [[1, 2], [3, 4]])))
    assert parsed.tags == plain.tags
    assert parsed.title == "</title><b>&: sws"
    assert parsed.scripts[1] == plain.scripts[1]
    assert data_of(page)["names"] == NASTY
    assert data_of(page)["name"] == "</title><b>&"


def test_the_same_plan_gives_the_same_bytes(tmp_path: Path) -> None:
    slower = replace(PLAN, seconds=PLAN.seconds + 1)
    save_map(VALLEY, PLAN, tmp_path / "map.html")
    assert (tmp_path / "map.html").read_bytes() == html_map(VALLEY, slower).encode()


def test_a_folder_that_is_not_there_is_made(tmp_path: Path) -> None:
    save_map(VALLEY, PLAN, tmp_path / "new" / "er" / "map.html")
    assert (tmp_path / "new" / "er" / "map.html").read_text("utf-8") == html_map(VALLEY, PLAN)


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"file: is a file; name a folder"):
        save_map(VALLEY, PLAN, tmp_path / "file" / "map.html")


def test_it_is_small() -> None:
    assert len(html_map(VALLEY, PLAN)) < 100_000


def test_the_data_are_the_plan() -> None:
    data = data_of(html_map(VALLEY, PLAN))
    assert np.allclose([data["server"], *data["clients"]], VALLEY.positions, atol=1e-3)
    assert data["transfer_time"] == VALLEY.transfer_time
    assert [tour["colour"] for tour in data["transporters"]] == tour_colours(VALLEY, PLAN)
    dark = [line.get_color() for line in _draw_map(VALLEY, PLAN, theme=DARK).lines]
    assert [tour["dark"] for tour in data["transporters"]] == dark
    for shown, tour in zip(data["transporters"], PLAN.transporters, strict=True):
        assert tuple(data["names"][i] for i in shown["clients"]) == tour.clients
        assert np.allclose(shown["arrivals"], tour.arrivals, atol=1e-3)
        assert shown["round_trip"] == tour.round_trip
        assert shown["corners"] == []


def test_the_texts_are_those_of_the_table() -> None:
    first = data_of(html_map(VALLEY, PLAN))["transporters"][0]
    assert first["cells"] == ["1", "5", "5,471", "450.8", "12.93", "86 %"]
    assert first["facts"] == [
        ["round trip", "450.8 s, 7.51 min, 8 slots"],
        ["energy", "12.93 of 15.00 kJ (86 %)"],
        ["length", "5,471 m"],
    ]


def test_without_budgets_nothing_is_said_about_them() -> None:
    data = data_of(html_map(FOUR, plan_of(FOUR, [[1, 2], [3, 4]])))
    assert [name for name, _ in data["columns"]][-1] == "energy"
    assert data["transporters"][0]["facts"][:2] == [
        ["round trip", "14.00 s, 0.233 min, 1 slot"],
        ["energy", "0.4002 kJ"],
    ]


def test_bound_and_gap_are_shown_if_there_are_any() -> None:
    assert data_of(html_map(VALLEY, PLAN))["facts"] == [
        ["sws", "1,590,417 s²"],
        ["solver", "exact, seed 0"],
    ]
    bounded = PLAN.with_bound(0.99 * PLAN.cost, "column generation")
    assert data_of(html_map(VALLEY, bounded))["facts"][1:4] == [
        ["lower bound", "1,574,513 s²"],
        ["gap", "1.00 %"],
        ["bound by", "column generation"],
    ]


@pytest.mark.parametrize(
    ("gap", "text"),
    [
        (0.0, "0 %: optimal"),
        (1e-7, "0 %: optimal"),
        (1e-5, "0.01 %"),
        (0.01, "1.00 %"),
        (0.01001, "1.01 %"),
    ],
)
def test_gaps_are_rounded_up(gap: float, text: str) -> None:
    assert gap_text(gap) == text


def test_names_of_zones_are_in_the_data() -> None:
    scenario, plan = plane_with_detours()
    assert data_of(html_map(scenario, plan))["zone_names"] == [""] * len(ZONES)
    names = ["</script>", *[""] * (len(ZONES) - 1)]
    scenario = scenario.replace(network={"no_fly_names": names})
    assert data_of(html_map(scenario, plan))["zone_names"] == names


def test_zones_and_corners_are_in_the_data() -> None:
    data = data_of(html_map(*plane_with_detours()))
    assert data["zones"] == [[list(corner) for corner in zone] for zone in ZONES]
    first, second, _ = (tour["corners"] for tour in data["transporters"])
    assert first == [[list(corner) for corner in WAYS.get(leg, ())] for leg in LEGS]
    assert second == []


def test_degrees_become_metres_around_the_server() -> None:
    scenario, plan = alps_with_detours()
    data = data_of(html_map(scenario, plan))
    assert np.allclose(data["clients"], in_metres(scenario, scenario.coordinates)[1:], atol=0.01)
    assert data["server"] == [0.0, 0.0]
    for zone, shown in zip(scenario.no_fly, data["zones"], strict=True):
        assert np.allclose(shown, in_metres(scenario, zone), atol=0.01)
    for tour, drawn in zip(plan.transporters, data["transporters"], strict=True):
        for way, corners in zip(tour.corners, drawn["corners"], strict=True):
            assert len(way) == len(corners)
            assert np.allclose(in_metres(scenario, way), np.reshape(corners, (-1, 2)), atol=0.01)
    assert [sum(map(len, tour["corners"])) for tour in data["transporters"]] == [2, 0, 1]


def test_clients_with_names_keep_their_ids() -> None:
    names = ["north <1>", "b", "c", "d"]
    named = FOUR.replace(network={"names": names})
    data = data_of(html_map(named, plan_of(named, [[1, 2], [3, 4]])))
    assert (data["names"], data["ids"]) == (names, ["1", "2", "3", "4"])
