"""Points as a scenario gives them: [x, y] in metres, or { lat, lon } in degrees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import PlainValidator, SerializeAsAny

from flexpress.scenario.quantities import Pair, coordinate, height, pair_of
from flexpress.scenario.section import KeyedError
from flexpress.scenario.toml import write_key
from flexpress.scenario.units import ANGLE

FEWEST_CORNERS = 3
EXAMPLE = "{ lat = 46.55, lon = 8.01 }"


@dataclass(frozen=True)
class LatLon:
    """Degrees, north and east positive."""

    lat: float
    lon: float


@dataclass(frozen=True)
class LatLonAltitude(LatLon):
    """Metres above sea level too: the server may say them."""

    altitude: float


Place = Pair | LatLon
Ring = tuple[Place, ...]

_position = pair_of("x", "y", coordinate)


def latitude(value: object) -> float:
    return _degrees(value, 90.0)


def longitude(value: object) -> float:
    return _degrees(value, 180.0)


def place(value: object) -> Place:
    if isinstance(value, LatLon):
        return value
    return _lat_lon(value) if isinstance(value, Mapping) else _position(value)


def home(value: object) -> Place:
    """The place of the server: as any other, perhaps with an altitude."""
    if not isinstance(value, Mapping) or "altitude" not in value:
        return place(value)
    point = _lat_lon({key: part for key, part in value.items() if key != "altitude"})
    with KeyedError.under("altitude"):
        return LatLonAltitude(point.lat, point.lon, height(value["altitude"]))


def ring(value: object) -> Ring:
    """The corners of a zone; the first may be repeated at the end, as GeoJSON does."""
    if not isinstance(value, list | tuple):
        raise ValueError("must be a list of corners in brackets")
    corners = []
    for i, corner in enumerate(value):
        with KeyedError.under(str(i)):
            corners.append(place(corner))
    if len(corners) > 1 and corners[0] == corners[-1]:
        corners.pop()
    if len(set(corners)) < FEWEST_CORNERS:
        raise ValueError(f"{len(set(corners))} corners: must have at least {FEWEST_CORNERS}")
    return tuple(corners)


def is_geographic(value: object) -> bool:
    """Whether a place, read or still as it stands in the file, is in degrees."""
    return isinstance(value, LatLon | Mapping)


def as_array(places: Sequence[Place]) -> NDArray[np.float64]:
    """(points, 2): x and y, or latitude and longitude."""
    pairs = [(p.lat, p.lon) if isinstance(p, LatLon) else p for p in places]
    return np.array(pairs, dtype=np.float64).reshape(-1, 2)


def _lat_lon(value: Mapping[str, object]) -> LatLon:
    for key in ("lat", "lon"):
        if key not in value:
            raise ValueError(f"{key} is missing: must be {EXAMPLE}, in degrees")
    for key in value:
        if key not in ("lat", "lon"):
            more = "; altitudes stand in network.altitudes" if key == "altitude" else ""
            raise ValueError(f"unknown key {write_key(str(key))}: a point is {EXAMPLE}{more}")
    with KeyedError.under("lat"):
        lat = latitude(value["lat"])
    with KeyedError.under("lon"):
        lon = longitude(value["lon"])
    return LatLon(lat, lon)


def _degrees(value: object, limit: float) -> float:
    degrees = ANGLE.parse(value)
    if abs(degrees) > limit:
        raise ValueError(f"must lie within -{limit:g} and {limit:g} degrees")
    return degrees


AnyPlace = Annotated[Place, PlainValidator(place), SerializeAsAny()]
Home = Annotated[Place, PlainValidator(home), SerializeAsAny()]
Zone = Annotated[Ring, PlainValidator(ring), SerializeAsAny()]
