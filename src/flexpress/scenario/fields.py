"""The types of the scenario's fields: quantities with units, labels, and places.

A place is [x, y] in metres, or { lat, lon } in degrees. The functions read one value as it stands
in a file, and raise ValueError if it is not allowed; pydantic calls them through the annotated
types at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import BeforeValidator, PlainValidator, SerializeAsAny, StrictInt

from flexpress.arrays import FloatArray
from flexpress.scenario import units
from flexpress.scenario.section import KeyedError
from flexpress.scenario.toml import write_key

_LARGEST_COORDINATE = 1e9
"""Metres, 20 times round the Earth: beyond it squares of distances lose all meaning."""

_LOWEST, _HIGHEST = -1_000.0, 20_000.0
"""Metres above sea level between which sensors may stand."""

FEWEST_CORNERS = 3
_EXAMPLE = "{ lat = 46.55, lon = 8.01 }"


@dataclass(frozen=True)
class LatLon:
    """Degrees, north and east positive."""

    lat: float
    lon: float


@dataclass(frozen=True)
class LatLonAltitude(LatLon):
    """With metres above sea level; only the server may have them."""

    altitude: float


_Pair = tuple[float, float]
Place = _Pair | LatLon
Ring = tuple[Place, ...]


def coordinate(value: object) -> float:
    metres = float(units.LENGTH.parse(value))
    if abs(metres) > _LARGEST_COORDINATE:
        raise ValueError(f"must lie within +-{_LARGEST_COORDINATE:g} m {units.LENGTH.hint}")
    return metres


def height(value: object) -> float:
    """Metres above sea level."""
    metres = float(units.LENGTH.parse(value))
    if not _LOWEST <= metres <= _HIGHEST:
        raise ValueError(f"must lie within {_LOWEST:g} and {_HIGHEST:g} m {units.LENGTH.hint}")
    return metres


def height_or_blank(value: object) -> float | str:
    return "" if value == "" else height(value)


def latitude(value: object) -> float:
    return _degrees(value, 90.0)


def longitude(value: object) -> float:
    return _degrees(value, 180.0)


def _place(value: object) -> Place:
    if isinstance(value, LatLon):
        return value
    return _lat_lon(value) if isinstance(value, Mapping) else _position(value)


def ring(value: object) -> Ring:
    """The corners of a zone; the first may be repeated at the end, as GeoJSON does."""
    if not isinstance(value, list | tuple):
        raise ValueError("must be a list of corners in brackets")
    corners = []
    for i, corner in enumerate(value):
        with KeyedError.under(str(i)):
            corners.append(_place(corner))
    if len(corners) > 1 and corners[0] == corners[-1]:
        corners.pop()
    if len(set(corners)) < FEWEST_CORNERS:
        raise ValueError(f"{len(set(corners))} corners: must have at least {FEWEST_CORNERS}")
    return tuple(corners)


def is_geographic(value: object) -> bool:
    """Whether a place is in degrees; it may already be read, or be as it stands in the file."""
    return isinstance(value, LatLon | Mapping)


def as_array(places: Sequence[Place]) -> FloatArray:
    """(points, 2): x and y, or latitude and longitude."""
    pairs = [(p.lat, p.lon) if isinstance(p, LatLon) else p for p in places]
    return np.array(pairs, dtype=np.float64).reshape(-1, 2)


def label(value: object) -> str:
    """Text that stays on one line wherever it is printed."""
    if not isinstance(value, str):
        raise ValueError('must be text in quotes, such as "valley"')
    if not value or value != value.strip() or not value.isprintable():
        raise ValueError("must be text of printable characters, without spaces at its ends")
    return value


def label_or_blank(value: object) -> str:
    return "" if value == "" else label(value)


def client_id(value: object) -> int | str:
    if type(value) is int:
        return value
    if not isinstance(value, str):
        raise ValueError('must be a whole number or text, such as 7 or "weir"')
    return label(value)


def place_of(value: object) -> Place:
    """Of the server: as any other place, perhaps with an altitude."""
    if not isinstance(value, Mapping) or "altitude" not in value:
        return _place(value)
    point = _lat_lon({key: part for key, part in value.items() if key != "altitude"})
    with KeyedError.under("altitude"):
        return LatLonAltitude(point.lat, point.lon, height(value["altitude"]))


def _lat_lon(value: Mapping[str, object]) -> LatLon:
    for key in ("lat", "lon"):
        if key not in value:
            raise ValueError(f"{key} is missing: must be {_EXAMPLE}, in degrees")
    for key in value:
        if key not in ("lat", "lon"):
            more = "; altitudes stand in network.altitudes" if key == "altitude" else ""
            raise ValueError(f"unknown key {write_key(str(key))}: a point is {_EXAMPLE}{more}")
    with KeyedError.under("lat"):
        lat = latitude(value["lat"])
    with KeyedError.under("lon"):
        lon = longitude(value["lon"])
    return LatLon(lat, lon)


def _degrees(value: object, limit: float) -> float:
    degrees = units.ANGLE.parse(value)
    if abs(degrees) > limit:
        raise ValueError(f"must lie within -{limit:g} and {limit:g} degrees")
    return degrees


def _pair_of(x: str, y: str, parse: Callable[[object], float]) -> Callable[[object], _Pair]:
    """A reader of two lengths, called x and y in its errors."""

    def part(name: str, value: object) -> float:
        try:
            return parse(value)
        except ValueError as error:
            raise ValueError(f"{name} {error}") from None

    def read(value: object) -> _Pair:
        if not isinstance(value, list | tuple) or len(value) != 2:
            raise ValueError(f"must be [{x}, {y}], two numbers {units.LENGTH.hint}")
        return part(x, value[0]), part(y, value[1])

    return read


_position = _pair_of("x", "y", coordinate)


def _extent(value: object) -> float:
    return units.LENGTH.positive(coordinate(value))


def _margin(value: object) -> float:
    return units.LENGTH.non_negative(coordinate(value))


def _block_counts(value: object) -> tuple[int, int]:
    if isinstance(value, list | tuple) and len(value) == 2:
        columns, rows = value
        if type(columns) is int and type(rows) is int and min(columns, rows) >= 1:
            return columns, rows
    raise ValueError("must be [columns, rows], two whole numbers of at least 1")


Label = Annotated[str, PlainValidator(label)]
Name = Annotated[str, PlainValidator(label_or_blank)]
ClientId = Annotated[int | str, PlainValidator(client_id)]
WholeNumber = StrictInt

ClientPlace = Annotated[Place, PlainValidator(_place), SerializeAsAny()]
ServerPlace = Annotated[Place, PlainValidator(place_of), SerializeAsAny()]
Zone = Annotated[Ring, PlainValidator(ring), SerializeAsAny()]
Height = Annotated[float | str, PlainValidator(height_or_blank)]
Area = Annotated[_Pair, PlainValidator(_pair_of("width", "height", _extent))]
BlockCounts = Annotated[tuple[int, int], PlainValidator(_block_counts)]

# A PlainValidator keeps the unit that was given (`units.Quantity`): errors and remedies use it.
Margin = Annotated[float, BeforeValidator(_margin)]
Altitude = Annotated[float, BeforeValidator(_extent)]
Speed = Annotated[float, PlainValidator(units.SPEED.positive)]
Time = Annotated[float, PlainValidator(units.TIME.non_negative)]
PositiveTime = Annotated[float, BeforeValidator(units.TIME.positive)]
Energy = Annotated[float, PlainValidator(units.ENERGY.positive)]
Watts = Annotated[float, BeforeValidator(units.POWER.non_negative)]
PositiveWatts = Annotated[float, BeforeValidator(units.POWER.positive)]
DataSize = Annotated[float, PlainValidator(units.DATA_SIZE.positive)]
DataRate = Annotated[float, BeforeValidator(units.DATA_RATE.positive)]
Bandwidth = Annotated[float, BeforeValidator(units.FREQUENCY.positive)]
Gain = Annotated[float, BeforeValidator(units.GAIN.positive)]
NoiseDensity = Annotated[float, BeforeValidator(units.NOISE_DENSITY.positive)]
ParasiticCoefficient = Annotated[float, BeforeValidator(units.PARASITIC.non_negative)]
InducedCoefficient = Annotated[float, BeforeValidator(units.INDUCED.non_negative)]
