"""Sensors and zones from files that are pasted or dropped on the map."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

from flexpress.control.sites import Sites
from flexpress.errors import InputError
from flexpress.files.disk import decode
from flexpress.scenario.fields import LatLon, Place, as_array, is_geographic
from flexpress.scenario.geojson import parse_points, parse_polygons
from flexpress.scenario.kml import KML, kinds_in, parse_placemarks, parse_zones
from flexpress.scenario.sensors import parse_sensors

_GEOJSON = (".geojson", ".json")
_CSV = (".csv", ".txt", ".tsv")

Keys = Mapping[str, Any]


def read_upload(name: str, content: bytes, sites: Sites) -> Keys:
    """The keys of `[network]` that a file gives; InputError with the reader's own words."""
    suffix = PurePath(name).suffix.lower()
    if suffix in KML:
        return _kml(name, content)
    if suffix in _GEOJSON:
        return _geojson(name, decode(content, _path(name)), sites)
    if suffix in _CSV:
        return _either(
            lambda geographic: parse_sensors(decode(content, _path(name)), name, geographic), sites
        )
    raise InputError(f"{name[:80]}: must be CSV, GeoJSON, KML, KMZ or a scenario in TOML")


def _path(name: str) -> Any:
    return PurePath(name)


def with_upload(sites: Sites, keys: Keys) -> tuple[Sites, str]:
    """The sites with sensors or zones of a file instead of their own, and what to say about it."""
    clients, zones = tuple(keys.get("clients", ())), tuple(keys.get("no_fly", ()))
    geographic = is_geographic(next(iter((*clients, *(c for zone in zones for c in zone)))))
    notes = []
    changed = vars(sites) | {"generated": False}
    if geographic != sites.geographic and (sites.clients or sites.server or sites.zones):
        changed |= vars(Sites())
        notes.append("the map was in another kind of coordinates and begins anew")
    if clients:
        changed |= {
            "clients": clients,
            **{key: tuple(keys.get(key, ())) for key in ("ids", "names", "altitudes")},
        }
        notes.insert(0, f"{len(clients):,} sensors")
    if zones:
        changed |= {"zones": zones, "zone_names": tuple(keys.get("no_fly_names", ()))}
        notes.insert(0, f"{len(zones):,} no-fly zones")
    if changed["server"] is None and clients:
        changed["server"] = _middle(clients)
        notes.append("the server is in their middle: drag it to its place")
    return Sites(**changed), "; ".join(notes)


def _middle(places: Sequence[Place]) -> Place:
    first, second = as_array(places).mean(axis=0).tolist()
    if is_geographic(places[0]):
        return LatLon(round(first, 7), round(second, 7))
    return round(first, 2), round(second, 2)


def _kml(name: str, content: bytes) -> Keys:
    kinds = kinds_in(content, name)
    keys: dict[str, Any] = {}
    if "Point" in kinds or not kinds:
        keys |= parse_placemarks(content, name)
    if "Polygon" in kinds:
        keys |= parse_zones(content, name)
    return keys


def _geojson(name: str, text: str, sites: Sites) -> Keys:
    """Points are sensors, polygons are zones; a file may have both."""
    points, polygons = _split(text)
    if polygons is None:
        return _either(lambda geographic: parse_points(text, name, geographic), sites)
    keys: dict[str, Any] = {}
    if points:
        keys |= _either(lambda geographic: parse_points(points, name, geographic), sites)
    zones = _either(lambda geographic: parse_polygons(polygons, name, geographic), sites)
    return {**keys, **zones}


def _split(text: str) -> tuple[str, str | None]:
    """The features with polygons, and the others; None if there are no polygons."""
    try:
        document = json.loads(text)
        features = document.get("features", [document])
        zones = [each for each in features if "Polygon" in (each.get("geometry") or each)["type"]]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return text, None  # its reader says what is wrong
    if not zones:
        return text, None
    others = [each for each in features if each not in zones]
    kind = {"type": "FeatureCollection"}
    return (
        json.dumps({**kind, "features": others}) if others else "",
        json.dumps({**kind, "features": zones}),
    )


def _either(parse: Any, sites: Sites) -> Keys:
    """In the map's own coordinates if it has any; else in degrees, or else in metres."""
    settled = sites.server is not None or sites.clients
    orders = [sites.geographic, not sites.geographic] if settled else [True, False]
    try:
        keys: Keys = parse(orders[0])
    except InputError as error:
        try:
            keys = parse(orders[1])
        except InputError:
            raise error from None
    return keys
