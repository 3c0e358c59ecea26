"""CSV files as spreadsheets write them: other separators, decimal commas, usual column names."""

from __future__ import annotations

from pathlib import Path

import pytest

from flexpress import InputError, Scenario
from flexpress.scenario.fields import LatLon

PLAIN = "id,x,y\n1,300.5,120\n2,-450,80.25\n"

SCENARIO = """
[network]
server = [0.0, 0.0]
clients = "sensors.csv"
[fleet]
speeds = [10.0]
[link]
transfer_time = 10.0
"""


def read(folder: Path, text: str | bytes, scenario: str = SCENARIO) -> Scenario:
    content = text.encode() if isinstance(text, str) else text
    (folder / "sensors.csv").write_bytes(content)
    (folder / "scenario.toml").write_text(scenario)
    return Scenario.load(folder / "scenario.toml")


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        "id;x;y\n1;300.5;120\n2;-450;80.25\n",
        "id;x;y\n1;300,5;120\n2;-450;80,25\n",
        "id\tx\ty\n1\t300,5\t120\n2\t-450\t80,25\n",
        '"id","x","y"\n1,"300,5",120\n2,-450,"80,25"\n',
        "sep=;\nid;x;y\n1;300,5;120\n2;-450;80,25\n",
        "\ufeffID;X [m];Y [m]\r\n1;300,5;120\r\n2;-450;80,25\r\n",
        "Sensor,Easting,Northing\n1,300.5,120\n2,-450,80.25\n",
        "y,note,client_id,x\n120,a;b,1,300.5\n80.25,,2,-450\n",
    ],
)
def test_all_of_them_mean_the_same(text: str, tmp_path: Path) -> None:
    scenario = read(tmp_path, text)
    assert scenario.client_ids == (1, 2)
    assert scenario.positions[1:].tolist() == [[300.5, 120.0], [-450.0, 80.25]]


@pytest.mark.parametrize(
    "header", ["id,lat,lon", "id,latitude,longitude", "station;Latitude;lng", "id,LAT,Long"]
)
def test_names_of_degrees(header: str, tmp_path: Path) -> None:
    pytest.importorskip("pyproj")
    degrees = SCENARIO.replace("[0.0, 0.0]", "{ lat = 46.58, lon = 7.96 }")
    line = "7,46.59,7.97".replace(",", ";" if ";" in header else ",")
    scenario = read(tmp_path, f"{header}\n{line}\n", degrees)
    assert scenario.client_ids == (7,)
    assert scenario.network.clients == (LatLon(46.59, 7.97),)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("id;x;y\n1;300,5;120\n2;-450.5;80\n", "line 3"),  # both signs
        ('id,x,y\n1,"1,234",5\n', "line 2"),  # a decimal comma, or thousands?
        ("id;x;y\n1;1.234,5;5\n", "line 2"),
        ("id|x|y\n1|300|120\n", "line 1"),
        ("id,x,easting,y\n1,300,300,120\n", "line 1"),
        ("id;x;y\n1;300,5\n", "line 2"),
    ],
)
def test_what_may_mean_two_things_is_refused_with_its_line(
    text: str, named: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    assert named in str(caught.value)
    assert "\n" not in str(caught.value)
