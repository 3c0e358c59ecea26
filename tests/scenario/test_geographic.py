"""Latitudes and longitudes: distances on the WGS84 ellipsoid, and the plane around the server."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest

from flexpress.errors import InputError
from flexpress.scenario import Scenario

LatLon = tuple[float, float]

# T. Vincenty, "Direct and inverse solutions of geodesics on the ellipsoid" (1975), is checked with
# Flinders Peak to Buninyong in the manual of the Geocentric Datum of Australia: GRS80, whose axis
# differs from that of WGS84 by nothing and its flattening by 1.6e-11.
FLINDERS_PEAK = (-(37 + 57 / 60 + 3.72030 / 3600), 144 + 25 / 60 + 29.52440 / 3600)
BUNINYONG = (-(37 + 39 / 60 + 10.15610 / 3600), 143 + 55 / 60 + 35.38390 / 3600)
FLINDERS_PEAK_TO_BUNINYONG = 54972.271
QUARTER_MERIDIAN = 10_001_965.729
EQUATOR_DEGREE = math.radians(1) * 6_378_137.0


def scenario(*places: LatLon) -> Scenario:
    """Server first."""
    server, *clients = [{"lat": lat, "lon": lon} for lat, lon in places]
    return Scenario.from_dict(
        {
            "network": {"server": server, "clients": clients},
            "fleet": {"speeds": [1.0]},
            "link": {"transfer_time": 0.0},
        }
    )


@pytest.mark.parametrize(
    ("here", "there", "metres"),
    [
        (FLINDERS_PEAK, BUNINYONG, FLINDERS_PEAK_TO_BUNINYONG),
        ((0.0, 8.0), (90.0, 8.0), QUARTER_MERIDIAN),
        ((0.0, 179.5), (0.0, -179.5), EQUATOR_DEGREE),
        ((0.0, 180.0), (0.0, -180.0), 0.0),
        ((89.0, 0.0), (89.0, 180.0), 2 * 111_693.9),  # over the pole: 1 degree of latitude, twice
        ((90.0, 0.0), (90.0, 120.0), 0.0),
    ],
)
def test_known_distances(here: LatLon, there: LatLon, metres: float) -> None:
    distances = scenario(here, there).distances
    assert distances is not None
    assert distances[0, 1] == pytest.approx(metres, abs=0.1)
    assert distances[0, 1] == distances[1, 0]
    assert distances[0, 0] == 0


@pytest.mark.parametrize("server", [(46.5, 8.0), (-17.0, 179.99), (89.995, 10.0), (-90.0, 0.0)])
def test_the_plane_keeps_distances_from_the_server_and_nearly_the_others(server: LatLon) -> None:
    rng = np.random.default_rng(1)
    spread = 0.02 / max(math.cos(math.radians(server[0])), 0.001)
    lats = np.clip(server[0] + rng.uniform(-0.02, 0.02, 20), -90, 90)
    lons = (server[1] + rng.uniform(-spread, spread, 20) + 180) % 360 - 180
    world = scenario(server, *zip(lats.tolist(), lons.tolist(), strict=True))
    distances, positions = world.distances, world.positions
    assert distances is not None
    assert positions[0].tolist() == [0, 0]
    flat = np.hypot(*(positions[:, None] - positions[None, :]).T)
    np.testing.assert_allclose(flat[0], distances[0], rtol=1e-9)
    np.testing.assert_allclose(flat, distances, rtol=1e-5, atol=1e-6)
    assert distances.max() < 12_000


def test_east_is_x_and_north_is_y() -> None:
    east, north = scenario((46.5, 179.999), (46.5, -179.999), (46.51, 179.999)).positions[1:]
    assert east == pytest.approx([153.5, 0.0], abs=0.1)
    assert north == pytest.approx([0.0, 1111.6], abs=0.5)


def test_at_most_5000_clients() -> None:
    places = [(46.0 + i * 1e-6, 8.0) for i in range(5002)]
    assert scenario(*places[:-1]).num_clients == 5000
    with pytest.raises(InputError, match="gives 5001 clients: must be at most 5000 with latitudes"):
        scenario(*places)


WITHOUT = """
import sys
sys.modules["pyproj"] = sys.modules["shapely"] = None  # as if they were not installed
from io import StringIO
from rich.console import Console
from flexpress.errors import InputError
from flexpress.report.tables.plan import show_presets
from flexpress.scenario import Scenario
out = StringIO()
show_presets(Console(file=out, width=200))
assert "alps" in out.getvalue()
assert Scenario.preset("paper").distances is None
try:
    {what}
except InputError as error:
    print(error)
"""
PLACES = (
    "dict(server=dict(lat=46.5, lon=8.0), clients=[dict(lat=46.6, lon=8.0)]), "
    "fleet=dict(speeds=[1.0]), link=dict(transfer_time=1.0)"
)


@pytest.mark.parametrize(
    ("what", "message"),
    [
        (
            f"Scenario.from_dict(dict(network={PLACES})).positions",
            "latitudes and longitudes need the package pyproj: pip install 'flexpress[geo]'",
        ),
        (
            'Scenario.preset("valley").replace(network={"no_fly": [[[0, 0], [1, 0], [0, 1]]]})',
            "no-fly zones need the package shapely: pip install 'flexpress[geo]'",
        ),
    ],
    ids=["pyproj", "shapely"],
)
def test_without_the_extra(what: str, message: str) -> None:
    code = WITHOUT.format(what=what)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == message


def test_metres_without_zones_load_neither_pyproj_nor_shapely() -> None:
    code = (
        "import sys; from flexpress.scenario import Scenario; s = Scenario.preset('valley'); "
        "s.positions, s.distances, s.corners(0, 1); "
        "print([m for m in ('pyproj', 'shapely') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
