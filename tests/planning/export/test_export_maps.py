"""GeoJSON, KML and GPX, each read back with a parser that is not ours."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from flights import (
    ODD_NAMES,
    ORIGIN,
    origin_of,
    preset_plan,
    same_length,
    walled,
    walled_plan,
)

from flexpress import Plan, Scenario
from flexpress.planning.export import export_plan
from flexpress.report.web_map.data import map_data
from flexpress.scenario.projection import Coordinate

WHY = "the parsers are in the development extra: pip install 'flexpress[dev]'"
geojson: Any = pytest.importorskip("geojson", reason=WHY)
gpxpy: Any = pytest.importorskip("gpxpy", reason=WHY)
shapely: Any = pytest.importorskip("shapely.geometry", reason=WHY)
fastkml: Any = pytest.importorskip("fastkml", reason=WHY)
validator: Any = pytest.importorskip("fastkml.validator", reason=WHY)

GPX = "http://www.topografix.com/GPX/1/1"
GPX_ORDER = {  # the sequences of gpx.xsd, version 1.1
    "gpx": "metadata wpt rte trk extensions",
    "metadata": "name desc author copyright link time keywords bounds extensions",
    "rte": "name cmt desc src link number type extensions rtept",
    "rtept": "ele time magvar geoidheight name cmt desc src link sym type fix sat hdop vdop pdop"
    " ageofdgpsdata dgpsid extensions",
}
ALTITUDES = {"paper": 1000.0, "alps": 2061.0 + 1500.0}  # above sea level where that is known
CASES = ["paper", "valley", "walled", "alps"]


@pytest.fixture(autouse=True)
def _every_decimal(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package geojson rounds to 6 decimals, 10 cm, unless told otherwise."""
    monkeypatch.setattr(geojson.geometry, "DEFAULT_PRECISION", 12)


def case(name: str, format: str) -> tuple[Plan, str]:
    scenario = walled()
    plan = walled_plan(scenario)
    if name != "walled":
        scenario, plan = preset_plan(name, "minmax")
    files = export_plan(scenario, plan, format, origin=origin_of(scenario))
    assert list(files) == [f"plan.{format}"]
    return plan, files[f"plan.{format}"]


def swapped(positions: Any) -> list[Coordinate]:
    """Latitude first, as the plan has it."""
    return [(position[1], position[0]) for position in positions]


def features(text: str, kind: str) -> list[Any]:
    found = geojson.loads(text)["features"]
    return [feature for feature in found if feature["properties"]["kind"] == kind]


@pytest.mark.parametrize("name", CASES)
def test_geojson_has_the_tours_and_their_clients(name: str) -> None:
    plan, text = case(name, "geojson")
    collection = geojson.loads(text)
    assert collection.is_valid, collection.errors()
    flying = [tour for tour in plan.transporters if tour.clients]
    lines = features(text, "tour")
    assert [line["properties"]["length"] for line in lines] == [tour.length for tour in flying]
    for line, tour in zip(lines, flying, strict=True):
        assert same_length(swapped(line["geometry"]["coordinates"]), tour.length)
    visits = [
        (point["properties"]["id"], point["properties"]["order"], point["properties"]["arrival"])
        for point in features(text, "client")
    ]
    assert visits == [
        (client, i, arrival)
        for tour in flying
        for i, (client, arrival) in enumerate(zip(tour.clients, tour.arrivals, strict=True), 1)
    ]
    (server,) = features(text, "server")
    start = lines[0]["geometry"]["coordinates"][0]
    assert server["geometry"]["coordinates"] == start


def test_geojson_zones_turn_left_and_no_tour_enters_one() -> None:
    _, text = case("walled", "geojson")
    (zone,) = features(text, "no-fly zone")
    polygon = shapely.shape(zone["geometry"])
    assert polygon.is_valid
    assert polygon.exterior.is_ccw
    inside = polygon.buffer(-1e-6)  # 10 cm: the corners themselves stand on its edge
    for line in features(text, "tour"):
        assert not inside.intersects(shapely.shape(line["geometry"]))


def test_names_survive_in_every_format() -> None:
    _, text = case("walled", "geojson")
    assert {point["properties"]["name"] for point in features(text, "client")} == set(ODD_NAMES)
    _, text = case("walled", "gpx")
    names = [point.name for route in gpxpy.parse(text).routes for point in route.points]
    assert set(ODD_NAMES) < set(names)
    _, text = case("walled", "kml")
    assert set(ODD_NAMES) < {mark.name for mark in placemarks(text)}


def folders(text: str) -> list[Any]:
    (document,) = fastkml.KML.from_string(text.encode()).features
    return [item for item in document.features if isinstance(item, fastkml.Folder)]


def placemarks(text: str) -> list[Any]:
    return [mark for folder in folders(text) for mark in folder.features]


@pytest.mark.parametrize("name", CASES)
def test_kml_has_a_folder_a_transporter(name: str) -> None:
    plan, text = case(name, "kml")
    tours = {k: tour for k, tour in enumerate(plan.transporters, 1) if tour.clients}
    by_name = {folder.name: folder.features for folder in folders(text)}
    assert set(by_name) - {"No-fly zones"} == {f"Transporter {k}" for k in tours}
    for k, tour in tours.items():
        line, *points = by_name[f"Transporter {k}"]
        assert line.geometry.geom_type == "LineString"
        assert same_length(swapped(line.geometry.coords), tour.length)
        assert len(points) == len(tour.clients)
        modes = {mark.kml_geometry.altitude_mode.value for mark in (line, *points)}
        assert modes == {"absolute" if name == "alps" else "relativeToGround"}
        heights = {position[2] for mark in (line, *points) for position in mark.geometry.coords}
        assert heights == {ALTITUDES.get(name, 120.0)}


@pytest.mark.parametrize("name", CASES)
def test_kml_keeps_to_the_schema(name: str, tmp_path: Path) -> None:
    _, text = case(name, "kml")
    (tmp_path / "plan.kml").write_text(text, encoding="utf-8")
    assert validator.validate(file_to_validate=tmp_path / "plan.kml")


def test_kml_zones_are_closed_rings() -> None:
    _, text = case("alps", "kml")
    (zones,) = (folder.features for folder in folders(text) if folder.name == "No-fly zones")
    for zone in zones:
        polygon = shapely.shape(zone.geometry)
        assert polygon.is_valid
        assert polygon.exterior.is_ccw
    rings = [ring.split() for ring in re.findall(r"<LinearRing>\s*<coordinates>([^<]*)<", text)]
    assert [len(ring) for ring in rings] == [7, 5]
    assert all(ring[0] == ring[-1] for ring in rings)


def map_colours(scenario: Scenario, plan: Plan) -> dict[int, str]:
    """What the HTML map carries, by the number of the transporter; those that fly."""
    found: Any = map_data(scenario, plan)["transporters"]
    return {k: t["colour"].lower() for k, t in enumerate(found, 1) if t["clients"]}


@pytest.mark.parametrize("name", ["paper", "alps"])
def test_colours_are_those_of_the_map(name: str) -> None:
    scenario, plan = preset_plan(name, "minmax")
    shown = map_colours(scenario, plan)
    files = {
        kind: export_plan(scenario, plan, kind, origin=origin_of(scenario))[f"plan.{kind}"]
        for kind in ("kml", "geojson")
    }
    (document,) = fastkml.KML.from_string(files["kml"].encode()).features
    lines = {
        style.id: part
        for style in document.styles
        for part in style.styles
        if isinstance(part, fastkml.LineStyle)
    }
    for k, colour in shown.items():
        red, green, blue = colour[1:3], colour[3:5], colour[5:7]
        assert lines[f"transporter-{k}"].color == f"ff{blue}{green}{red}"
    for kind, key in (("tour", "stroke"), ("client", "marker-color")):
        for each in (feature["properties"] for feature in features(files["geojson"], kind)):
            assert each[key].lower() == shown[each["transporter"]]


def test_zones_keep_their_names() -> None:
    names = ["Airport <CTR> & more", ""]
    scenario, plan = preset_plan("alps", "minmax")
    scenario = scenario.replace(network={"no_fly_names": names})
    text = export_plan(scenario, plan, "kml")["plan.kml"]
    (zones,) = (folder.features for folder in folders(text) if folder.name == "No-fly zones")
    assert [zone.name for zone in zones] == [names[0], "No-fly zone 2"]
    text = export_plan(scenario, plan, "geojson")["plan.geojson"]
    found = [zone["properties"].get("name") for zone in features(text, "no-fly zone")]
    assert found == [names[0], None]


def test_kml_styles_are_there_and_differ() -> None:
    _, text = case("paper", "kml")
    (document,) = fastkml.KML.from_string(text.encode()).features
    styles = {f"#{style.id}" for style in document.styles}
    assert {mark.style_url.url for mark in placemarks(text)} <= styles


@pytest.mark.parametrize("name", CASES)
def test_gpx_has_a_route_a_transporter(name: str) -> None:
    plan, text = case(name, "gpx")
    gpx = gpxpy.parse(text)
    assert gpx.version == "1.1"
    flying = [(k, tour) for k, tour in enumerate(plan.transporters, 1) if tour.clients]
    for route, (k, tour) in zip(gpx.routes, flying, strict=True):
        assert (route.number, route.name) == (k, f"Transporter {k}")
        places = [(point.latitude, point.longitude) for point in route.points]
        assert same_length(places, tour.length)
        kinds = [point.type for point in route.points]
        assert (kinds[0], kinds[-1]) == ("take-off", "return")
        assert kinds.count("client") == len(tour.clients)


def test_gpx_elevations_are_above_sea_level() -> None:
    for name, elevation in (("alps", 2061.0 + 1500.0), ("walled", None)):
        _, text = case(name, "gpx")
        points = [point for route in gpxpy.parse(text).routes for point in route.points]
        assert {point.elevation for point in points} == {elevation}


@pytest.mark.parametrize("name", CASES)
def test_gpx_has_its_elements_in_the_order_of_the_schema(name: str) -> None:
    _, text = case(name, "gpx")
    root = ElementTree.fromstring(text)
    assert root.tag == f"{{{GPX}}}gpx"
    for parent in root.iter():
        kind = parent.tag.removeprefix(f"{{{GPX}}}")
        children = [child.tag.removeprefix(f"{{{GPX}}}") for child in parent]
        allowed = GPX_ORDER.get(kind, "").split()
        assert children == sorted(children, key=allowed.index)  # an unknown one has no index
        assert all(children.count(child) == 1 or child in ("rte", "rtept") for child in children)


def test_geojson_is_plain_json_without_rounded_places() -> None:
    _, text = case("walled", "geojson")
    assert "NaN" not in text
    first = json.loads(text)["features"][0]
    assert first["geometry"]["coordinates"] == [ORIGIN[1], ORIGIN[0]]
