"""Bad files of the real world: one clear line, exit code 2, nothing written."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from command_line import Run

SCENARIO = """
[network]
server = {server}
clients = "{clients}"
{more}

[fleet]
speeds = [10.0]

[link]
transfer_time = 10.0
"""
ON_EARTH, IN_PLANE = "{ lat = 46.5, lon = 8.0 }", "[0.0, 0.0]"
GOOD = "id,lat,lon\na,46.51,8.01\nb,46.52,8.02\n"


def polygon(*corners: tuple[float, float]) -> str:
    """A GeoJSON zone through these longitudes and latitudes."""
    return json.dumps({"type": "Polygon", "coordinates": [[*corners, corners[0]]]})


CROSSING = polygon((8.1, 46.1), (8.2, 46.2), (8.2, 46.1), (8.1, 46.2))
AROUND_B = polygon((8.015, 46.515), (8.025, 46.515), (8.025, 46.525), (8.015, 46.525))

BAD_FILES = {
    "a missing column": ({"sensors.csv": "id,lat\na,46.51\n"}, "", 'column "lon" is missing'),
    "text in numbers": ({"sensors.csv": "id,lat,lon\na,46.5l,8.01\n"}, "", 'lat = "46.5l"'),
    "latitude 95": ({"sensors.csv": "id,lat,lon\na,95,8.01\n"}, "", 'lat = "95": must lie within'),
    "metres on the Earth": ({"sensors.csv": "id,x,y\na,1,2\n"}, "", "lat"),
    "a polygon that crosses itself": (
        {"sensors.csv": GOOD, "zones.geojson": CROSSING},
        'no_fly = "zones.geojson"',
        "cross",
    ),
    "a client inside a zone": (
        {"sensors.csv": GOOD, "zones.geojson": AROUND_B},
        'no_fly = "zones.geojson"',
        "client b",
    ),
    "a matrix of the wrong size": (
        {"sensors.csv": GOOD, "matrix.csv": "0,1\n1,0\n"},
        'distances = "matrix.csv"',
        "3",
    ),
    "a matrix with a negative entry": (
        {"sensors.csv": GOOD, "matrix.csv": "0,1,2\n1,0,-3\n2,3,0\n"},
        'distances = "matrix.csv"',
        "-3",
    ),
    "a matrix of words": (
        {"sensors.csv": GOOD, "matrix.npy": "no numbers at all"},
        'distances = "matrix.npy"',
        "matrix.npy",
    ),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_files(case: str, run: Run, tmp_path: Path) -> None:
    contents, more, told = BAD_FILES[case]
    for name, text in contents.items():
        Path(name).write_text(text)
    Path("mine.toml").write_text(SCENARIO.format(server=ON_EARTH, clients="sensors.csv", more=more))
    before = sorted(tmp_path.rglob("*"))
    outcome = run("plan", "mine.toml", "--out", "new")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("flexpress: ")
    assert len(outcome.err.splitlines()) == 1
    assert told in outcome.err
    assert sorted(tmp_path.rglob("*")) == before


def test_from_sensors_and_a_matrix_to_a_plan(run: Run) -> None:
    """With the wind from a to b to the server: 100 + 200 + 300 m, against it 3 km."""
    Path("sensors.csv").write_text("id,x,y,name\na,100,0,Weir\nb,0,200,Mill\n")
    np.save("matrix.npy", np.array([[0, 100, 1000], [1000, 0, 200], [300, 1000, 0]]))
    more = 'distances = "matrix.npy"'
    Path("mine.toml").write_text(SCENARIO.format(server=IN_PLANE, clients="sensors.csv", more=more))
    plan = json.loads(run("plan", "mine.toml", "--out", "new", "--certify", "--json").out)
    (tour,) = plan["transporters"]
    assert (tour["clients"], tour["length"]) == (["a", "b"], 600.0)
    assert plan["lower_bound"] == pytest.approx(plan["cost"])
    # What was planned can be planned again from the folder alone.
    again = json.loads(run("plan", "new/scenario-used.toml", "--json").out)
    assert again["cost"] == plan["cost"]
