"""Clients, distances and zones from the files people have: CSV, GeoJSON, .npy."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import numpy as np
import pytest

from flexpress.scenario import Scenario

REST = "\n[fleet]\nspeeds = [10.0]\n[link]\ntransfer_time = 1.0\n"
METRES = "server = [0.0, 0.0]"
DEGREES = "server = { lat = 46.55, lon = 8.01, altitude = 2061 }"


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def load(*keys: str) -> Scenario:
    """A scenario with these lines in [network], which must survive saving without its files."""
    Path("valley.toml").write_text("[network]\n" + "\n".join(keys) + REST)
    scenario = Scenario.load("valley.toml")
    copy = Scenario.from_dict(tomllib.loads(scenario.to_toml()))
    assert copy == scenario
    assert hash(copy) == hash(scenario)
    assert copy.to_toml() == scenario.to_toml()
    assert copy.positions.tobytes() == scenario.positions.tobytes()
    assert np.array(copy.distances).tobytes() == np.array(scenario.distances).tobytes()
    return scenario


def write_json(name: str, content: object) -> None:
    Path(name).write_text(json.dumps(content))


def feature(kind: str, coordinates: object, **more: object) -> dict[str, object]:
    return {"type": "Feature", "geometry": {"type": kind, "coordinates": coordinates}, **more}


def collection(*features: object) -> dict[str, object]:
    return {"type": "FeatureCollection", "features": list(features)}


def test_csv_in_degrees_with_names_and_altitudes() -> None:
    text = "lon,name,id,lat,altitude\n8.02,Upper weir,7,46.56,1200.5\n8.0,,b,46.54,\n"
    Path("sensors.csv").write_text(text)
    scenario = load(DEGREES, 'clients = "sensors.csv"')
    assert scenario.coordinates is not None
    assert scenario.coordinates.tolist() == [[46.55, 8.01], [46.56, 8.02], [46.54, 8.0]]
    assert scenario.client_ids == (7, "b")
    assert scenario.client_names == ("Upper weir", "b")
    assert scenario.client_altitudes == (1200.5, None)
    assert scenario.server_altitude == 2061.0
    assert scenario.no_fly == ()


def test_csv_in_metres_has_no_coordinates() -> None:
    Path("sensors.csv").write_text("id,x,y,altitude\n7,3,4,0\n")
    scenario = load(METRES, 'clients = "sensors.csv"')
    assert scenario.coordinates is None
    assert scenario.distances is None
    assert scenario.corners(0, 1) == ()
    assert scenario.client_altitudes == (0.0,)
    assert scenario.client_names == ("7",)
    assert scenario.server_altitude is None


def test_geojson_points_are_longitude_first() -> None:
    write_json(
        "sensors.geojson",
        collection(
            feature("Point", [8.02, 46.56, 1200], id=7, properties={"name": "Upper weir"}),
            feature("Point", [8.0, 46.54], properties={"id": "b", "name": None}),
        ),
    )
    scenario = load(DEGREES, 'clients = "sensors.geojson"')
    assert scenario.coordinates is not None
    assert scenario.coordinates[1:].tolist() == [[46.56, 8.02], [46.54, 8.0]]
    assert scenario.client_ids == (7, "b")
    assert scenario.client_names == ("Upper weir", "b")
    assert scenario.client_altitudes == (1200.0, None)


def test_a_single_feature_without_id_is_client_1() -> None:
    write_json("one.json", feature("Point", [3, 4], properties=None))
    scenario = load(METRES, 'clients = "one.json"')
    assert scenario.client_ids == (1,)
    assert scenario.positions.tolist() == [[0, 0], [3, 4]]


def test_geojson_that_names_its_system_as_wgs84() -> None:
    system = {"type": "name", "properties": {"name": "urn:ogc:def:crs:OGC:1.3:CRS84"}}
    write_json("a.geojson", {**collection(feature("Point", [8.02, 46.56])), "crs": system})
    assert load(DEGREES, 'clients = "a.geojson"').num_clients == 1


def test_places_listed_in_the_scenario() -> None:
    scenario = load(
        DEGREES,
        "clients = [{ lat = 46.56, lon = 8.02 }, { lon = 8, lat = 46 }]",
        'names = ["", "b"]',
        'altitudes = ["1 km", ""]',
    )
    assert scenario.coordinates is not None
    assert scenario.coordinates[1:].tolist() == [[46.56, 8.02], [46.0, 8.0]]
    assert scenario.client_names == ("1", "b")
    assert scenario.client_altitudes == (1000.0, None)


MATRIX = [[0.0, 10.5, 3.0], [12.0, 0.0, 1e3], [0.1, 7.0, 0.0]]
CLIENTS = 'clients = [[1.0, 2.0], [3.0, 4.0]]\nids = ["a", 7]'
MATRIX_FILES = {
    "plain.csv": "0,10.5,3\n12,0,1e3\n.1,7,0\n",
    "spaces.csv": "\ufeff0, 10.5 ,3\r\n\r\n12,0,1e3\r\n.1,7,0.0\r\n",
    "labels.csv": ",server,a,7\nserver,0,10.5,3\na,12,0,1000\n7,0.1,7,0\n",
    "corner.csv": "from/to,server,a,7\nserver,0,10.5,3\na,12,0,1000\n7,0.1,7,0\n",
}


@pytest.mark.parametrize("name", MATRIX_FILES)
def test_distances_from_csv(name: str) -> None:
    Path(name).write_text(MATRIX_FILES[name])
    scenario = load(METRES, CLIENTS, f'distances = "{name}"')
    assert scenario.distances is not None
    assert scenario.distances.tolist() == MATRIX
    assert not scenario.distances.flags.writeable
    assert scenario.positions[1:].tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("dtype", ["<f8", ">f4", "i2", "u8", "f2"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_distances_from_npy(dtype: str, order: str) -> None:
    matrix = np.array([[0, 10, 3], [12, 0, 9], [1, 7, 0]])
    np.save("m.npy", np.array(matrix, dtype=dtype, order=order))  # type: ignore[call-overload]
    scenario = load(METRES, CLIENTS, 'distances = "m.npy"')
    assert scenario.distances is not None
    assert scenario.distances.dtype == np.float64
    assert scenario.distances.tolist() == matrix.tolist()


def test_distances_listed_in_the_scenario_and_generated_clients() -> None:
    generated = "area = [10, 10]\nblocks = [2, 1]\nclients_per_block = 1"
    scenario = load(generated, 'distances = [[0, "1 km", 2], [3, 0, 4], [5, 6, 0]]')
    assert scenario.distances is not None
    assert scenario.distances.tolist() == [[0, 1000, 2], [3, 0, 4], [5, 6, 0]]
    Path("m.csv").write_text("-,server,1,2\nserver,0,1,2\n1,3,0,4\n2,5,6,0\n")
    assert load(generated, 'distances = "m.csv"').distances is not None


def test_distances_may_replace_those_of_degrees() -> None:
    clients = "clients = [{ lat = 46.56, lon = 8.02 }]"
    scenario = load(DEGREES, clients, "distances = [[0.0, 5.0], [6.0, 0.0]]")
    assert scenario.distances is not None
    assert scenario.distances.tolist() == [[0, 5], [6, 0]]


SQUARE = [[1, -1], [2, -1], [2, 1], [1, 1], [1, -1]]


@pytest.mark.parametrize(
    "content",
    [
        collection(feature("Polygon", [SQUARE])),
        feature("Polygon", [SQUARE], properties={}),
        {"type": "Polygon", "coordinates": [SQUARE]},
        {"type": "MultiPolygon", "coordinates": [[SQUARE]]},
    ],
)
def test_zones_from_geojson(content: object) -> None:
    write_json("zones.geojson", content)
    scenario = load(METRES, "clients = [[3.0, 0.0]]", 'no_fly = "zones.geojson"')
    assert scenario.no_fly == (((1.0, -1.0), (2.0, -1.0), (2.0, 1.0), (1.0, 1.0)),)
    assert scenario.distances is not None
    assert scenario.distances[0, 1] == pytest.approx(1 + 2 * 2**0.5)


def test_zones_in_degrees_are_kept_as_latitude_and_longitude() -> None:
    zone = [[8.02, 46.54], [8.03, 46.54], [8.03, 46.56], [8.02, 46.56], [8.02, 46.54]]
    other = [[7.9, 46.5], [7.91, 46.5], [7.9, 46.51], [7.9, 46.5]]
    write_json("zones.geojson", feature("MultiPolygon", [[zone], [other]]))
    clients = "clients = [{ lat = 46.55, lon = 8.05 }]"
    scenario = load(DEGREES, clients, 'no_fly = "zones.geojson"', "no_fly_margin = 20")
    assert scenario.no_fly[0][0] == (46.54, 8.02)
    assert [len(ring) for ring in scenario.no_fly] == [4, 3]
    assert len(scenario.corners(0, 1)) == 2
    assert all(46.53 < lat < 46.57 and 8.01 < lon < 8.04 for lat, lon in scenario.corners(0, 1))


def test_replace_takes_zones_away_and_puts_them_back() -> None:
    alps = Scenario.preset("alps")
    free = alps.replace(network={"no_fly": None, "no_fly_margin": None})
    assert free.no_fly == ()
    keys = ("no_fly", "no_fly_names", "no_fly_margin")
    zones = {key: alps.to_dict()["network"][key] for key in keys}  # type: ignore[index]
    assert free.replace(network=zones) == alps
    assert free != alps


@pytest.mark.parametrize(
    "link", ["transfer_time = 1.0", "rate = 8.0\nmodel_size = 1.0"], ids=["time", "rate"]
)
def test_every_link_may_say_how_high_to_fly(link: str) -> None:
    text = f"[network]\n{METRES}\n{CLIENTS}\n[fleet]\nspeeds = [1.0]\n[link]\n{link}\n"
    low = Scenario.from_dict(tomllib.loads(text))
    high = Scenario.from_dict(tomllib.loads(text + 'altitude = "120 m"\n'))
    assert low.flight_altitude is None
    assert high.flight_altitude == 120.0
    assert high.transfer_time == low.transfer_time == 1.0


def data_dir(name: str) -> str | None:
    """As a scenario in the folder `far` has it, loaded from here."""
    Path("far").mkdir()
    text = f'[network]\n{METRES}\nclients = [[1.0, 1.0]]{REST}[learning]\ndata_dir = "{name}"\n'
    Path("far/valley.toml").write_text(text)
    scenario = Scenario.load("far/valley.toml")
    assert Scenario.from_dict(tomllib.loads(scenario.to_toml())) == scenario
    assert scenario.replace(seed=1).learning == scenario.learning
    return scenario.learning.data_dir


def test_data_dir_is_found_from_the_scenarios_file(tmp_path: Path) -> None:
    assert data_dir("data/x") == str(tmp_path / "far" / "data" / "x")


def test_absolute_data_dir_is_kept() -> None:
    assert data_dir("/srv/data") == "/srv/data"


def test_data_dir_in_the_users_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert data_dir("~/data") == str(tmp_path / "home" / "data")
