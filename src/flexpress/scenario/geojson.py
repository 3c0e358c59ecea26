"""GeoJSON (RFC 7946): its features, and positions [lon, lat] or, in a planar scenario, [x, y]."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from flexpress.errors import InputError
from flexpress.scenario.places import LatLon, Place, latitude, longitude
from flexpress.scenario.quantities import coordinate
from flexpress.scenario.validation_errors import show_value

WGS84 = ("CRS84", "EPSG:4326", "EPSG::4326")


@dataclass(frozen=True)
class Feature:
    """One feature of a file; `where` names file and number, counted from 1, for errors."""

    where: str
    kind: str  # of its geometry: Point, Polygon, ...
    coordinates: object
    id: object = None
    properties: Mapping[str, object] = field(default_factory=dict)


def read_features(text: str, source: str, geographic: bool) -> list[Feature]:
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


def read_position(value: object, where: str, geographic: bool) -> tuple[Place, object]:
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


def check_kind(feature: Feature, allowed: Sequence[str]) -> None:
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


def _feature(value: object, where: str) -> Feature:
    if not isinstance(value, dict):
        raise InputError(f"{where}: {show_value(value)}: must be an object")
    bare = value.get("type") != "Feature"
    geometry = value if bare else value.get("geometry")
    if not isinstance(geometry, dict) or not isinstance(geometry.get("type"), str):
        raise InputError(f'{where}: must have a "geometry" with a "type"')
    properties = value.get("properties")
    return Feature(
        where,
        geometry["type"],
        geometry.get("coordinates"),
        None if bare else value.get("id"),
        {**{key.lower(): each for key, each in properties.items()}, **properties}
        if isinstance(properties, dict)
        else {},
    )


def _check_system(document: Mapping[str, object], source: str) -> None:
    """GeoJSON is WGS84; an older file may name another system, whose numbers mean other places."""
    for name in _strings(document.get("crs")):
        if ":" in name and not name.endswith(WGS84):
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
