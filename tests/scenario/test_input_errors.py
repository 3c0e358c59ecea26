"""Every bad file ends in one line: which file, where in it, what was found, what is allowed."""

from __future__ import annotations

import io
import json
import random
from pathlib import Path

import numpy as np
import pytest

from flexpress.errors import InputError
from flexpress.scenario import Scenario

REST = "\n[fleet]\nspeeds = [10.0]\n[link]\ntransfer_time = 1.0\n"
METRES = "server = [0.0, 0.0]\n"
DEGREES = "server = { lat = 46.55, lon = 8.01 }\n"
CLIENTS = "clients = [[1.0, 2.0], [3.0, 4.0]]\n"
AND_ONE = "clients = [{ lat = 46.56, lon = 8.02 }]\n"


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def error_line(network: str, **files: str | bytes) -> str:
    """What is said about a scenario that names these files; `a_csv` is the file a.csv."""
    for name, content in files.items():
        raw = content if isinstance(content, bytes) else content.encode()
        Path(name.replace("_", ".")).write_bytes(raw)
    Path("valley.toml").write_text(f"[network]\n{network}{REST}")
    with pytest.raises(InputError) as caught:
        Scenario.load("valley.toml")
    message = str(caught.value)
    assert message.isprintable()
    assert len(message) < 300
    return message


CSV_IN_DEGREES = [
    (
        "id,lat,lon\n1,95,8\n",
        'a.csv: line 2: lat = "95": must lie within -90 and 90 degrees',
    ),
    (
        "id,lat,lon\n1,46,8\n2,46,-180.5\n",
        'a.csv: line 3: lon = "-180.5": must lie within -180 and 180 degrees',
    ),
    ("id,lat,lon\n1,46N,8\n", 'a.csv: line 2: lat = "46N": must be a finite number (degrees)'),
    ("id,lat,lon\n1,nan,8\n", 'a.csv: line 2: lat = "nan": must be a finite number (degrees)'),
    ("id,lat\n1,46\n", 'a.csv: line 1: column "lon" is missing in "id,lat"; must be id,lat,lon'),
    (
        "id,x,y\n1,2,3\n",
        'a.csv: line 1: column "lat" is missing in "id,x,y"; must be id,lat,lon, '
        "since network.server is { lat, lon }",
    ),
    (
        "id,lat,lon,name,name\n1,46,8,a,b\n",
        'a.csv: line 1: column "name" stands twice in "id,lat,lon,name,name"; give it once',
    ),
    (
        "id,lat,lon,altitude\n1,46,8,high\n",
        'a.csv: line 2: altitude = "high": must be a finite number (m)',
    ),
    (
        "id,lat,lon,altitude\n1,46,8,1e6\n",
        'a.csv: line 2: altitude = "1e6": must lie within -1000 and 20000 m '
        '(m, or text with a unit such as "1 km")',
    ),
    (
        "id,lat,lon,name\n1,46,8,a\x07b\n",
        'a.csv: line 2: name = "a\\u0007b": must be text of printable characters, '
        "without spaces at its ends",
    ),
    ("id,lat,lon\n1,46\n", "a.csv: line 2: 2 cells, but the header has 3 columns"),
    ("", 'a.csv: line 1: column "id" is missing in ""; must be id,lat,lon'),
    ("id,lat,lon\n", "a.csv: no clients; give at least one line id,lat,lon below the header"),
    (b"\x89PNG\r\n\x1a\n\x00", "a.csv: line 1: not UTF-8 text; save the file as UTF-8"),
]


@pytest.mark.parametrize(("content", "expected"), CSV_IN_DEGREES)
def test_clients_in_csv(content: str | bytes, expected: str) -> None:
    assert error_line(f'{DEGREES}clients = "a.csv"', a_csv=content) == expected


def test_csv_in_degrees_beside_a_server_in_metres() -> None:
    assert error_line(f'{METRES}clients = "a.csv"', a_csv="id,lat,lon\n1,46,8\n") == (
        'a.csv: line 1: column "x" is missing in "id,lat,lon"; must be id,x,y, '
        "since network.server is [x, y] in metres"
    )


def points(*features: str) -> str:
    return '{"type": "FeatureCollection", "features": [' + ", ".join(features) + "]}"


def point(coordinates: str, more: str = "") -> str:
    geometry = f'"geometry": {{"type": "Point", "coordinates": {coordinates}}}'
    return f'{{"type": "Feature", {geometry}{more}}}'


GEOJSON_POINTS = [
    ("", "a.json: not JSON: Expecting value: line 1 column 1 (char 0)"),
    ("{", "a.json: not JSON: Expecting property name enclosed in double quotes: "),
    ("[" * 100_000, "a.json: not GeoJSON: brackets are nested too deeply"),
    ("[1, 2]", 'a.json: not GeoJSON: must be an object with a "type"'),
    ('{"type": 7}', 'a.json: not GeoJSON: must be an object with a "type"'),
    ('{"type": "\\ud800\\n"}', 'a.json: feature 1: type "\\U0000D800\\n": must be Point'),
    ('{"type": "Topology"}', 'a.json: feature 1: type "Topology": must be Point'),
    ('{"type": "FeatureCollection"}', 'a.json: "features" must be a list, as in a FeatureColl'),
    (points(), "a.json: no clients; give at least one feature with a Point"),
    (points("7"), "a.json: feature 1: 7: must be an object"),
    (
        points('{"type": "Feature", "geometry": null}'),
        'a.json: feature 1: must have a "geometry" with a "type"',
    ),
    (
        points(point("[8, 46]"), '{"type": "LineString", "coordinates": [[8, 46], [9, 46]]}'),
        'a.json: feature 2: type "LineString": must be Point',
    ),
    (points(point("[8]")), "a.json: feature 1: coordinates = [8]: must be [lon, lat]"),
    (points(point("null")), "a.json: feature 1: coordinates = null: must be [lon, lat]"),
    (
        points(point("[8, 95]")),
        "a.json: feature 1: lat = 95: must lie within -90 and 90 degrees",
    ),
    (
        points(point("[8, 46]"), point("[200.5, 46]")),
        "a.json: feature 2: lon = 200.5: must lie within -180 and 180 degrees",
    ),
    (points(point('["8", 46]')), 'a.json: feature 1: lon = "8": must be a number, without quotes'),
    (points(point("[8, NaN]")), "a.json: feature 1: lat = nan: must be a finite number (degrees,"),
    (points(point("[8, true]")), "a.json: feature 1: lat = true: must be a number (degrees,"),
    (points(point("[8, 46, 1e6]")), "a.json: feature 1: altitude = 1000000.0: must lie within "),
    (
        points(point("[8, 46]", ', "id": 7'), point("[8, 46]", ', "properties": {"id": 7}')),
        "a.json: feature 2: id = 7: also in feature 1; give each id once",
    ),
    (
        points(point("[8, 46]", ', "id": 7'), point("[8, 46]")),
        "a.json: feature 2: has no id, but others have: give one to each, or to none",
    ),
    (
        points(point("[8, 46]", ', "id": 7.5')),
        "a.json: feature 1: id = 7.5: must be a whole number or text, such as 7",
    ),
    (
        points(point("[8, 46]", ', "properties": {"name": 7}')),
        "a.json: feature 1: name = 7: must be text in quotes",
    ),
    (
        '{"type": "FeatureCollection", "crs": {"type": "name", "properties": '
        '{"name": "urn:ogc:def:crs:EPSG::2056"}}, "features": []}',
        'a.json: coordinates are in "urn:ogc:def:crs:EPSG::2056": must be WGS84 (EPSG:4326); '
        "export the file anew",
    ),
    (b"\xff\xfe\x00", "a.json: line 1: not UTF-8 text; save the file as UTF-8"),
]


@pytest.mark.parametrize(("content", "expected"), GEOJSON_POINTS)
def test_clients_in_geojson(content: str | bytes, expected: str) -> None:
    assert error_line(f'{DEGREES}clients = "a.json"', a_json=content).startswith(expected)


MATRIX = [
    ("0,1\n1,0\n", 'valley.toml: network.distances = "a.csv": 2 x 2 entries: must be 3 x 3, '),
    ("0,1,2\n1,0,3\n", "a.csv: line 1: 3 entries in a matrix of 2 rows: must be square"),
    (
        "0,1,2\n1,0\n2,3,0\n",
        "a.csv: line 2: 2 entries in a matrix of 3 rows: must be square",
    ),
    ("0,1,2\n1,0,-3\n2,3,0\n", 'a.csv: line 2, column 3 = "-3": must be at least 0 (m)'),
    ("0,1,2\n1,0,x\n2,3,0\n", 'a.csv: line 2, column 3 = "x": must be a finite number (m)'),
    ("0,1,2\n1,0,\n2,3,0\n", 'a.csv: line 2, column 3 = "": must be a finite number (m)'),
    ("0,nan,2\n1,0,3\n2,3,0\n", 'a.csv: line 1, column 2 = "nan": must be a finite number (m)'),
    ("0,1e999,2\n1,0,3\n2,3,0\n", 'a.csv: line 1, column 2 = "1e999": must be a finite number '),
    ("0,1e11,2\n1,0,3\n2,3,0\n", 'a.csv: line 1, column 2 = "1e11": must be at most 1e+10 (m)'),
    (
        "0,1,2\n1,5,3\n2,3,0\n",
        'a.csv: line 2, column 2 = "5": must be 0: from a node to itself',
    ),
    ("", "a.csv: empty; give one row of metres for each node, server first"),
    (
        ",server,2,1\nserver,0,1,2\n1,1,0,3\n2,2,3,0\n",
        'a.csv: line 1: label 2 is "2": must be "1"; the order is server, then the clients as',
    ),
    (
        ",server,1,2\nserver,0,1,2\n2,1,0,3\n1,2,3,0\n",
        'a.csv: first column: label 2 is "2": must be "1"; the order is server',
    ),
    (
        ",server,1\nserver,0,1\n1,1,0\n",
        'a.csv: line 1: label 3 is missing: must be "2"; the order is server',
    ),
    (
        ",server,1,2,3\nserver,0,1,2,3\n1,1,0,3,4\n2,2,3,0,5\n3,1,1,1,0\n",
        'a.csv: line 1: label 4 is "3": must be no such label; the order is server',
    ),
    (
        ",server,1,2\nserver,0,1,2\n1,1,0,-3\n2,2,3,0\n",
        'a.csv: line 3, column 4 = "-3": must be at least 0 (m)',
    ),
    (
        ",server,1,2\nserver,0,1,2\n1,1,0,3\n2,2,3\n",
        "a.csv: line 4: 2 entries in a matrix of 3 rows: must be square",
    ),
    ('0,1\n"1,0\n', "a.csv: line 2: not valid CSV: unexpected end of data"),
    (b"\x93NUMPY", "a.csv: line 1: not UTF-8 text; save the file as UTF-8"),
]


@pytest.mark.parametrize(("content", "expected"), MATRIX)
def test_distances_in_csv(content: str | bytes, expected: str) -> None:
    message = error_line(f'{METRES}{CLIENTS}distances = "a.csv"', a_csv=content)
    assert message.startswith(expected)


def npy(array: object, allow_pickle: bool = False) -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.array(array), allow_pickle=allow_pickle)
    return stream.getvalue()


GOOD = [[0.0, 1.0, 2.0], [1.0, 0.0, 3.0], [2.0, 3.0, 0.0]]
NPY = [
    (b"", "a.npy: not a readable .npy file: "),
    (b"0,1,2\n", "a.npy: not a readable .npy file: "),
    (npy(GOOD)[:-8], "a.npy: not a readable .npy file: "),
    (npy(GOOD)[:20], "a.npy: not a readable .npy file: "),
    (npy([{"a": 1}], allow_pickle=True), "a.npy: not a readable .npy file: Object arrays cannot"),
    (npy([1.0, 2.0]), "a.npy: 2: must be a square matrix"),
    (npy(1.0), "a.npy: a single number: must be a square matrix"),
    (npy([[0.0, 1.0, 2.0]]), "a.npy: 1 x 3: must be a square matrix"),
    (npy([[1j]]), "a.npy: entries are complex128: must be real numbers (m)"),
    (npy([["0"]]), "a.npy: entries are <U1: must be real numbers (m)"),
    (npy([[0.0, 1.0], [-2.0, 0.0]]), "a.npy: [1, 0] = -2.0: must be at least 0 (m)"),
    (npy([[0.0, np.nan], [2.0, 0.0]]), "a.npy: [0, 1] = nan: must be a finite number (m)"),
    (npy([[0, 1], [2, 3]]), "a.npy: [1, 1] = 3.0: must be 0: from a node to itself"),
    (
        npy([[0, 1], [2, 0]]),
        'valley.toml: network.distances = "a.npy": 2 x 2 entries: must be 3 x 3, server and',
    ),
]


@pytest.mark.parametrize(("content", "expected"), NPY)
def test_distances_in_npy(content: bytes, expected: str) -> None:
    message = error_line(f'{METRES}{CLIENTS}distances = "a.npy"', a_npy=content)
    assert message.startswith(expected)


def test_a_matrix_file_with_a_few_bytes_changed_is_read_or_refused() -> None:
    chance = random.Random(0)
    Path("valley.toml").write_text(f'[network]\n{METRES}{CLIENTS}distances = "a.npy"{REST}')
    refusals = []
    for _ in range(150):
        content = bytearray(npy(GOOD))
        for _ in range(3):
            content[chance.randrange(80)] = chance.randrange(256)
        Path("a.npy").write_bytes(content)
        try:
            Scenario.load("valley.toml")
        except InputError as error:
            refusals.append(str(error))
    assert len(refusals) > 75
    assert all(line.isprintable() for line in refusals)


def zones(*rings: object) -> str:
    return json.dumps({"type": "MultiPolygon", "coordinates": [[ring] for ring in rings]})


SQUARE = [[5, 5], [9, 5], [9, 9], [5, 9], [5, 5]]
ZONES = [
    (
        zones(SQUARE, [[5, 5], [9, 9], [9, 5], [5, 9], [5, 5]]),
        'valley.toml: network.no_fly = "a.json": zone 2 crosses itself at x = 7, y = 7: '
        "give its corners in order",
    ),
    (
        zones([[5, 5], [7, 7], [9, 9], [5, 5]]),
        'valley.toml: network.no_fly = "a.json": zone 1 has no area: '
        "give corners that do not lie on one line",
    ),
    (
        zones(SQUARE, [[2, 3], [4, 3], [4, 5], [2, 5], [2, 3]]),
        "valley.toml: network.clients = [[1.0, 2.0], [3.0, 4.0]]: "
        "client weir lies in no-fly zone 2: move one of them",
    ),
    (
        zones([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]]),
        "valley.toml: network.server = [0.0, 0.0]: "
        "the server lies in no-fly zone 1: move one of them",
    ),
    (
        json.dumps({"type": "Polygon", "coordinates": [SQUARE, [[6, 6], [7, 6], [7, 7], [6, 6]]]}),
        "a.json: feature 1: a polygon with 1 holes: a zone has none; give the outer ring alone",
    ),
    (
        json.dumps({"type": "Polygon", "coordinates": [[[5, 5], [9, 9], [5, 5]]]}),
        "a.json: feature 1: 2 corners: must have at least 3",
    ),
    (
        json.dumps({"type": "Polygon", "coordinates": [[[5, 5], [9, "9"], [5, 5]]]}),
        'a.json: feature 1: y = "9": must be a number, without quotes',
    ),
    (
        json.dumps({"type": "Polygon", "coordinates": [[[5, 5], 9, [5, 5]]]}),
        "a.json: feature 1: coordinates = 9: must be [x, y]",
    ),
    (
        json.dumps({"type": "Polygon", "coordinates": 7}),
        "a.json: feature 1: coordinates = 7: must be a list with one ring of at least 3 corners",
    ),
    (
        json.dumps({"type": "MultiPolygon", "coordinates": 7}),
        "a.json: feature 1: coordinates = 7: must be a list",
    ),
    (
        json.dumps({"type": "Point", "coordinates": [1, 2]}),
        'a.json: feature 1: type "Point": must be Polygon or MultiPolygon',
    ),
    (points(), "a.json: no zones; give a Polygon, or remove network.no_fly"),
    ("no_fly", "a.json: not JSON: Expecting value: line 1 column 1 (char 0)"),
]


@pytest.mark.parametrize(("content", "expected"), ZONES)
def test_zones_in_geojson(content: str, expected: str) -> None:
    network = f'{METRES}{CLIENTS}ids = ["mill", "weir"]\nno_fly = "a.json"'
    assert error_line(network, a_json=content) == expected


CORNERS = "{ lat = 46.57, lon = 8.0 }, { lat = 46.57, lon = 8.01 }, { lat = 46.58, lon = 8.0 }"
RING = "[[5, 5], [9, 5], [9, 9]]"
WALLS = "[[[2, 2], [5, 2], [5, 3], [2, 3]], [[2, 5], [5, 5], [5, 6], [2, 6]], "
WALLS += "[[2, 2], [2, 6], [1.5, 6], [1.5, 2]], [[4.5, 2], [5, 2], [5, 6], [4.5, 6]]]"
IN_THE_SCENARIO = [
    # one kind of places
    (
        f"{METRES}{AND_ONE}",
        "network.clients = [{lat = 46.56, lon = 8.02}]: in latitude and longitude, "
        "but the server is in metres: give both alike",
    ),
    (
        f"{DEGREES}{CLIENTS}",
        "network.clients = [[1.0, 2.0], [3.0, 4.0]]: in metres, "
        "but the server is in latitude and longitude: give both alike",
    ),
    (
        f"{METRES}{CLIENTS}no_fly = [[{CORNERS}]]",
        "network.no_fly = [[{lat = 46.57, lon = 8.0}, {lat = 46.57, lon = 8.01}, { ...: "
        "in latitude and longitude, but the server is in metres: give both alike",
    ),
    (
        f"{DEGREES}area = [9, 9]\nblocks = [1, 1]\nclients_per_block = 1",
        "network.server: must be [x, y] in metres, as the area is",
    ),
    # places
    (
        "server = { lat = 95, lon = 8 }\n" + AND_ONE,
        "network.server.lat = 95: must lie within -90 and 90 degrees",
    ),
    (
        'server = { lat = "46 N", lon = 8 }\n' + AND_ONE,
        'network.server.lat = "46 N": must be a number (degrees, without quotes)',
    ),
    (
        "server = { lat = 46 }\n" + AND_ONE,
        "network.server: lon is missing: must be { lat = 46.55, lon = 8.01 }, in degrees",
    ),
    (
        "server = { lat = 46, lon = 8, altitude = -2000 }\n" + AND_ONE,
        "network.server.altitude = -2000: must lie within -1000 and 20000 m "
        '(m, or text with a unit such as "1 km")',
    ),
    (
        f"{DEGREES}clients = [{{ lat = 46, lon = 8 }}, {{ lat = 46, lon = 181 }}]",
        "network.clients[1].lon = 181: must lie within -180 and 180 degrees",
    ),
    (
        f"{DEGREES}clients = [{{ lat = 46, lon = 8, altitude = 5 }}]",
        "network.clients[0]: unknown key altitude: a point is { lat = 46.55, lon = 8.01 }; "
        "altitudes stand in network.altitudes",
    ),
    # one entry per client
    (f'{METRES}{CLIENTS}names = ["a"]', 'network.names = ["a"]: 1 names for 2 clients'),
    (
        f"{METRES}{CLIENTS}altitudes = [1, 2, 3]",
        "network.altitudes = [1, 2, 3]: 3 altitudes for 2 clients",
    ),
    (
        f'{METRES}{CLIENTS}names = ["a", 7]',
        'network.names[1] = 7: must be text in quotes, such as "valley"',
    ),
    (
        f'{METRES}clients = "a.csv"\nnames = ["a"]',
        'network.clients = "a.csv": the names stand in that file; remove network.names',
    ),
    # distances
    (
        f"{METRES}{CLIENTS}distances = [[0, 1], [1, 0]]",
        "network.distances = [[0, 1], [1, 0]]: 2 x 2 entries: must be 3 x 3, server and clients",
    ),
    (
        f"{METRES}{CLIENTS}distances = [[0, 1, 2], [1, 0, -3], [2, 3, 0]]",
        "network.distances[1][2] = -3: must be at least 0 (m)",
    ),
    (
        f"{METRES}{CLIENTS}distances = [[0, 1, 2], [1, 0], [2, 3, 0]]",
        "network.distances[1] = [1, 0]: 2 entries in a matrix of 3 rows: must be square",
    ),
    (
        f"{METRES}{CLIENTS}distances = [[0, 1, 2], 7, [2, 3, 0]]",
        "network.distances[1] = 7: no list in a matrix of 3 rows: must be square",
    ),
    (
        f"{METRES}{CLIENTS}distances = [[0, 1, true], [1, 0, 3], [2, 3, 0]]",
        'network.distances[0][2] = true: must be a number (m, or text with a unit such as "1 km")',
    ),
    (
        f"{METRES}{CLIENTS}distances = []",
        "network.distances = []: must be a list of rows, or the name of a file",
    ),
    (
        f"{METRES}{CLIENTS}distances = [[0, 1, 2], [1, 0, 3], [2, 3, 0]]\nno_fly = [{RING}]",
        "network.no_fly = [[[5, 5], [9, 5], [9, 9]]]: not with network.distances: give one of them",
    ),
    (
        "area = [9, 9]\nblocks = [10, 10]\nclients_per_block = 51\n"
        "no_fly = [[[50, 50], [60, 50], [60, 60]]]",
        "network.clients_per_block = 51: gives 5100 clients: must be at most 5000 "
        "with latitudes, no_fly or distances",
    ),
    # zones
    (
        f"{METRES}{CLIENTS}no_fly = []",
        "network.no_fly = []: has no zones: give one, or omit the key",
    ),
    (
        f"{METRES}{CLIENTS}no_fly = 7",
        "network.no_fly = 7: must be a list in brackets (a list of zones, each a list of corners, "
        'or "zones.geojson")',
    ),
    (
        f"{METRES}{CLIENTS}no_fly = [[[5, 5], [9, 5], [nan, 9]]]",
        "network.no_fly[0][2] = [nan, 9]: x must be a finite number "
        '(m, or text with a unit such as "1 km")',
    ),
    (
        f"{METRES}{CLIENTS}no_fly = [{RING}, [[5, 5], [9, 5], [5, 5]]]",
        "network.no_fly[1] = [[5, 5], [9, 5], [5, 5]]: 2 corners: must have at least 3",
    ),
    (
        f"{METRES}{CLIENTS}no_fly = [{RING}, 7]",
        "network.no_fly[1] = 7: must be a list of corners in brackets",
    ),
    (
        f"{METRES}{CLIENTS}no_fly_margin = 10",
        "network.no_fly_margin = 10: has no meaning without no_fly: omit it",
    ),
    (
        f"{METRES}{CLIENTS}no_fly = [{RING}]\nno_fly_margin = -1",
        'network.no_fly_margin = -1: must be at least 0 (m, or text with a unit such as "1 km")',
    ),
    (
        f"{METRES}{CLIENTS}no_fly = [{RING}]\nno_fly_margin = 2",
        "network.clients = [[1.0, 2.0], [3.0, 4.0]]: client 2 lies 2.24 m from no-fly zone 1, "
        "within its margin of 2 m (more at corners): move one of them, "
        "or lower network.no_fly_margin",
    ),
    (
        f"{METRES}{CLIENTS}no_fly = {WALLS}",
        "network.no_fly = [[[2, 2], [5, 2], [5, 3], [2, 3]], [[2, 5], [5, 5], [5,  ...: "
        "no path leads from the server to client 2: leave a gap in the zones",
    ),
    # files
    (
        f'{METRES}{CLIENTS}no_fly = "."',
        'network.no_fly = ".": .: is a folder; give the name of a file',
    ),
    (
        f'{METRES}{CLIENTS}distances = "m.npy"',
        'network.distances = "m.npy": m.npy: no such file; check the name and the folder',
    ),
    (
        f'{METRES}clients = ""',
        'network.clients = "": must be text of printable characters, without spaces at its ends',
    ),
]


@pytest.mark.parametrize(("network", "expected"), IN_THE_SCENARIO)
def test_in_the_scenario_itself(network: str, expected: str) -> None:
    assert error_line(network) == f"valley.toml: {expected}"


def test_a_zone_that_crosses_itself_on_the_globe_says_where_in_degrees() -> None:
    bow = [[8.0, 46.6], [8.02, 46.6], [8.0, 46.62], [8.02, 46.62], [8.0, 46.6]]
    message = error_line(f'{DEGREES}{AND_ONE}no_fly = "a.json"', a_json=zones(bow))
    assert "zone 1 crosses itself at lat = 46.61000" in message
    assert message.endswith(", lon = 8.010000: give its corners in order")


def test_too_many_corners() -> None:
    angles = np.linspace(0, 2 * np.pi, 2001, endpoint=False)
    circle = (50 + 10 * np.column_stack([np.cos(angles), np.sin(angles)])).tolist()
    message = error_line(f'{METRES}{CLIENTS}no_fly = "a.json"', a_json=zones(circle))
    assert message == (
        'valley.toml: network.no_fly = "a.json": 2001 corners in all: must be at most 2000; '
        "simplify the zones"
    )
