"""Clients from GeoJSON points, no-fly zones from GeoJSON polygons (RFC 7946).

Positions are [lon, lat] or, in a planar scenario, [x, y]; a third number is the altitude.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from flexpress.errors import InputError
from flexpress.scenario.fields import (
    FEWEST_CORNERS,
    LatLon,
    Place,
    Ring,
    client_id,
    coordinate,
    height_or_blank,
    label_or_blank,
    latitude,
    longitude,
    ring,
)
from flexpress.scenario.sensors import client_keys
from flexpress.scenario.validation_errors import show_value

_WGS84 = ("CRS84", "EPSG:4326", "EPSG::4326")


@dataclass(frozen=True)
class _Feature:
    """One feature of a file; `where` names file and number, counted from 1, for errors."""

    where: str
    kind: str  # of its geometry: Point, Polygon, ...
    coordinates: object
    id: object = None
    properties: Mapping[str, object] = field(default_factory=dict)


def parse_points(text: str, source: str, geographic: bool) -> dict[str, object]:
    """The points as the keys `clients`, `ids`, `names`, `altitudes` of `[network]`."""
    features = _read_features(text, source, geographic)
    if not features:
        raise InputError(f"{source}: no clients; give at least one feature with a Point")
    clients = [_client(feature, geographic) for feature in features]
    given = [_given_id(feature) for feature in features]
    if all(client is None for client in given):
        return client_keys(range(1, len(features) + 1), clients)
    return client_keys(_check_ids(given, features), clients)


def parse_polygons(text: str, source: str, geographic: bool) -> dict[str, object]:
    """The polygons as the keys `no_fly` and `no_fly_names` of `[network]`."""
    features = _read_features(text, source, geographic)
    found = [(z, _zone_name(each)) for each in features for z in _zones(each, geographic)]
    if not found:
        raise InputError(f"{source}: no zones; give a Polygon, or remove network.no_fly")
    zones, names = (list(column) for column in zip(*found, strict=True))
    return {"no_fly": zones, "no_fly_names": names} if any(names) else {"no_fly": zones}


def _client(feature: _Feature, geographic: bool) -> list[object]:
    _check_kind(feature, ["Point"])
    place, altitude = _read_position(feature.coordinates, feature.where, geographic)
    name = feature.properties.get("name")
    return [
        place,
        _checked(feature, "name", "" if name is None else name),
        _checked(feature, "altitude", altitude),
    ]


def _checked(feature: _Feature, key: str, value: object) -> float | str:
    try:
        return label_or_blank(value) if key == "name" else height_or_blank(value)
    except ValueError as error:
        raise InputError(f"{feature.where}: {key} = {show_value(value)}: {error}") from None


def _given_id(feature: _Feature) -> object:
    return feature.properties.get("id") if feature.id is None else feature.id


def _check_ids(ids: list[object], features: list[_Feature]) -> list[int | str]:
    """Each feature has one, and no two have the same."""
    checked: list[int | str] = []
    first: dict[str, int] = {}
    for number, (value, feature) in enumerate(zip(ids, features, strict=True), start=1):
        if value is None:
            raise InputError(
                f"{feature.where}: has no id, but others have: give one to each, or to none"
            )
        try:
            checked.append(client_id(value))
        except ValueError as error:
            raise InputError(f"{feature.where}: id = {show_value(value)}: {error}") from None
        other = first.setdefault(str(value), number)
        if other != number:
            raise InputError(
                f"{feature.where}: id = {value}: also in feature {other}; give each id once"
            )
    return checked


def _zone_name(feature: _Feature) -> str:
    """On one line. It is only shown, so nothing about it is an error."""
    name = feature.properties.get("name")
    text = str(name) if isinstance(name, str | int | float) else ""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _zones(feature: _Feature, geographic: bool) -> list[Ring]:
    _check_kind(feature, ["Polygon", "MultiPolygon"])
    several = feature.kind == "MultiPolygon"
    polygons = feature.coordinates if several else [feature.coordinates]
    if not isinstance(polygons, list):
        raise InputError(f"{feature.where}: coordinates = {show_value(polygons)}: must be a list")
    return [_zone(polygon, feature.where, geographic) for polygon in polygons]


def _zone(polygon: object, where: str, geographic: bool) -> Ring:
    if not isinstance(polygon, list) or not polygon or not isinstance(polygon[0], list):
        raise InputError(
            f"{where}: coordinates = {show_value(polygon)}: "
            f"must be a list with one ring of at least {FEWEST_CORNERS} corners"
        )
    if len(polygon) > 1:
        raise InputError(
            f"{where}: a polygon with {len(polygon) - 1} holes: a zone has none; "
            "give the outer ring alone"
        )
    corners = [_read_position(corner, where, geographic)[0] for corner in polygon[0]]
    try:
        return ring(corners)
    except ValueError as error:
        raise InputError(f"{where}: {error}") from None


def _read_features(text: str, source: str, geographic: bool) -> list[_Feature]:
    """The features of a collection; a single feature or bare geometry counts as a collection."""
    document = _parse(text, source)
    if geographic:
        _check_system(document, source)
    if document.get("type") != "FeatureCollection":
        return [_feature(document, f"{source}: feature 1")]
    features = document.get("features")
    if not isinstance(features, list):
        raise InputError(f'{source}: "features" must be a list, as in a FeatureCollection')
    return [_feature(each, f"{source}: feature {n}") for n, each in enumerate(features, start=1)]


def _read_position(value: object, where: str, geographic: bool) -> tuple[Place, object]:
    """The place of a position, and its third number, if any: the altitude."""
    if not isinstance(value, list) or not 2 <= len(value) <= 3:
        shape = "[lon, lat]" if geographic else "[x, y]"
        raise InputError(f"{where}: coordinates = {show_value(value)}: must be {shape}")
    altitude = value[2] if len(value) == 3 else ""
    if geographic:
        lon = _number(value[0], "lon", longitude, where)
        return LatLon(_number(value[1], "lat", latitude, where), lon), altitude
    return (
        _number(value[0], "x", coordinate, where),
        _number(value[1], "y", coordinate, where),
    ), altitude


def _check_kind(feature: _Feature, allowed: Sequence[str]) -> None:
    if feature.kind not in allowed:
        needed = " or ".join(allowed)
        raise InputError(f"{feature.where}: type {show_value(feature.kind)}: must be {needed}")


def _parse(text: str, source: str) -> Mapping[str, object]:
    try:
        document = json.loads(text)
    except RecursionError:
        raise InputError(f"{source}: not GeoJSON: brackets are nested too deeply") from None
    except ValueError as error:
        raise InputError(f"{source}: not JSON: {error}") from None
    if not isinstance(document, dict) or not isinstance(document.get("type"), str):
        raise InputError(f'{source}: not GeoJSON: must be an object with a "type"')
    return document


def _feature(value: object, where: str) -> _Feature:
    if not isinstance(value, dict):
        raise InputError(f"{where}: {show_value(value)}: must be an object")
    bare = value.get("type") != "Feature"
    geometry = value if bare else value.get("geometry")
    if not isinstance(geometry, dict) or not isinstance(geometry.get("type"), str):
        raise InputError(f'{where}: must have a "geometry" with a "type"')
    properties = value.get("properties")
    return _Feature(
        where,
        geometry["type"],
        geometry.get("coordinates"),
        None if bare else value.get("id"),
        {**{key.lower(): each for key, each in properties.items()}, **properties}
        if isinstance(properties, dict)
        else {},
    )


def _check_system(document: Mapping[str, object], source: str) -> None:
    """GeoJSON is WGS84, but an older file may name another coordinate system."""
    for name in _strings(document.get("crs")):
        if ":" in name and not name.endswith(_WGS84):
            raise InputError(
                f"{source}: coordinates are in {show_value(name)}: "
                "must be WGS84 (EPSG:4326); export the file anew"
            )


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for entry in value.values():
            yield from _strings(entry)


def _number(value: object, name: str, check: Callable[[object], float], where: str) -> float:
    try:
        if isinstance(value, str):
            raise ValueError("must be a number, without quotes")
        return check(value)
    except ValueError as error:
        raise InputError(f"{where}: {name} = {show_value(value)}: {error}") from None
