"""Clients from GeoJSON points, no-fly zones from GeoJSON polygons."""

from __future__ import annotations

from flexpress.errors import InputError
from flexpress.scenario.geojson import Feature, check_kind, read_features, read_position
from flexpress.scenario.places import FEWEST_CORNERS, Ring, ring
from flexpress.scenario.quantities import client_id, height_or_blank, label_or_blank
from flexpress.scenario.sensors import as_keys
from flexpress.scenario.validation_errors import show_value


def parse_points(text: str, source: str, geographic: bool) -> dict[str, object]:
    """The points as the keys `clients`, `ids`, `names`, `altitudes` of `[network]`."""
    features = read_features(text, source, geographic)
    if not features:
        raise InputError(f"{source}: no clients; give at least one feature with a Point")
    clients = [_client(feature, geographic) for feature in features]
    given = [_given_id(feature) for feature in features]
    if all(client is None for client in given):
        return as_keys(range(1, len(features) + 1), clients)
    return as_keys(_check_ids(given, features), clients)


def parse_polygons(text: str, source: str, geographic: bool) -> dict[str, object]:
    """The polygons as the keys `no_fly` and `no_fly_names` of `[network]`."""
    features = read_features(text, source, geographic)
    found = [(z, _zone_name(each)) for each in features for z in _zones(each, geographic)]
    if not found:
        raise InputError(f"{source}: no zones; give a Polygon, or remove network.no_fly")
    zones, names = (list(column) for column in zip(*found, strict=True))
    return {"no_fly": zones, "no_fly_names": names} if any(names) else {"no_fly": zones}


def _client(feature: Feature, geographic: bool) -> list[object]:
    check_kind(feature, ["Point"])
    place, altitude = read_position(feature.coordinates, feature.where, geographic)
    name = feature.properties.get("name")
    return [
        place,
        _checked(feature, "name", "" if name is None else name),
        _checked(feature, "altitude", altitude),
    ]


def _checked(feature: Feature, key: str, value: object) -> float | str:
    try:
        return label_or_blank(value) if key == "name" else height_or_blank(value)
    except ValueError as error:
        raise InputError(f"{feature.where}: {key} = {show_value(value)}: {error}") from None


def _given_id(feature: Feature) -> object:
    return feature.properties.get("id") if feature.id is None else feature.id


def _check_ids(ids: list[object], features: list[Feature]) -> list[int | str]:
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


def _zone_name(feature: Feature) -> str:
    """On one line; it is only shown, so that nothing about it is an error."""
    name = feature.properties.get("name")
    text = str(name) if isinstance(name, str | int | float) else ""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _zones(feature: Feature, geographic: bool) -> list[Ring]:
    check_kind(feature, ["Polygon", "MultiPolygon"])
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
    corners = [read_position(corner, where, geographic)[0] for corner in polygon[0]]
    try:
        return ring(corners)
    except ValueError as error:
        raise InputError(f"{where}: {error}") from None
