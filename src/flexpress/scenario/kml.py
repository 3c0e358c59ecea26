"""Clients and no-fly zones from KML and KMZ: Placemarks with a Point, or with Polygons.

Files come from anywhere: document types and entities are refused, and sizes are limited before
anything is unpacked.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator
from xml.etree import ElementTree

from flexpress.errors import InputError
from flexpress.scenario.fields import LatLon, Ring, height_or_blank, latitude, longitude, ring
from flexpress.scenario.sensors import client_keys
from flexpress.scenario.validation_errors import show_value

KML = (".kml", ".kmz")

_LARGEST = 50_000_000
"""Bytes of a KML document, also of one that is packed."""

_MOST_MEMBERS = 1_000

_Element = ElementTree.Element


def parse_placemarks(content: bytes, source: str) -> dict[str, object]:
    """The points as the keys `clients`, `ids`, `names`, `altitudes` of `[network]`."""
    clients = [_client(mark, source, n) for n, mark in _marks(content, source, "Point")]
    if not clients:
        raise InputError(f"{source}: no clients; give at least one Placemark with a Point")
    return client_keys(range(1, len(clients) + 1), clients)


def parse_zones(content: bytes, source: str) -> dict[str, object]:
    """The polygons as the keys `no_fly` and `no_fly_names` of `[network]`."""
    zones: list[Ring] = []
    names: list[str] = []
    for number, mark in _marks(content, source, "Polygon"):
        for polygon in _all(mark, "Polygon"):
            zones.append(_zone(polygon, f"{source}: placemark {number}"))
            names.append(_name(mark))
    if not zones:
        raise InputError(f"{source}: no zones; give a Placemark with a Polygon")
    return {"no_fly": zones, "no_fly_names": names} if any(names) else {"no_fly": zones}


def kinds_in(content: bytes, source: str) -> set[str]:
    """Which of Point and Polygon a file has."""
    return {kind for kind in ("Point", "Polygon") if any(_marks(content, source, kind))}


def _marks(content: bytes, source: str, kind: str) -> Iterator[tuple[int, _Element]]:
    """The Placemarks that contain this kind of geometry, counted from 1 among all."""
    root = _parse(_unpacked(content, source), source)
    for number, mark in enumerate(_all(root, "Placemark"), start=1):
        if next(_all(mark, kind), None) is not None:
            yield number, mark


def _unpacked(content: bytes, source: str) -> bytes:
    """The KML itself: the first document of a KMZ, if it is one."""
    if not content.startswith(b"PK"):
        return content
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()[:_MOST_MEMBERS]
            first = next((m for m in members if m.filename.lower().endswith(".kml")), None)
            if first is None:
                raise InputError(f"{source}: no .kml in this archive; export it as KML or KMZ")
            if first.file_size > _LARGEST:
                raise _too_large(source)
            with archive.open(first) as file:
                return file.read(_LARGEST + 1)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, OSError):
        raise InputError(f"{source}: not a readable KMZ; export it anew") from None


def _parse(content: bytes, source: str) -> _Element:
    if len(content) > _LARGEST:
        raise _too_large(source)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{source}: not KML in UTF-8; export it anew") from None
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise InputError(f"{source}: has a document type, which KML does not need; remove it")
    try:
        return ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise InputError(f"{source}: not KML: {error}") from None


def _too_large(source: str) -> InputError:
    return InputError(f"{source}: larger than {_LARGEST:,} bytes; give the places alone")


def _client(mark: _Element, source: str, number: int) -> list[object]:
    """Place, name, altitude."""
    where = f"{source}: placemark {number}"
    point = next(_all(mark, "Point"))
    (place, altitude), *more = _coordinates(point, where)
    if more:
        raise InputError(f"{where}: a Point with {1 + len(more)} places: must have one")
    return [place, _name(mark), altitude]


def _zone(polygon: _Element, where: str) -> Ring:
    if next(_all(polygon, "innerBoundaryIs"), None) is not None:
        raise InputError(f"{where}: a polygon with holes: give the outer ring alone")
    try:
        return ring([place for place, _ in _coordinates(polygon, where)])
    except ValueError as error:
        raise InputError(f"{where}: {error}") from None


def _coordinates(geometry: _Element, where: str) -> list[tuple[LatLon, float | str]]:
    """lon,lat[,altitude], separated by spaces; altitudes only if they are above the sea."""
    texts = (each.text or "" for each in _all(geometry, "coordinates"))
    absolute = any(
        (each.text or "").strip() == "absolute" for each in _all(geometry, "altitudeMode")
    )
    places = [_place(part, where, absolute) for part in " ".join(texts).split()]
    if not places:
        raise InputError(f"{where}: has no coordinates")
    return places


def _place(text: str, where: str, absolute: bool) -> tuple[LatLon, float | str]:
    try:
        lon, lat, *rest = (float(number) for number in text.split(","))
        altitude = height_or_blank(rest[0]) if rest and absolute else ""
        return LatLon(latitude(lat), longitude(lon)), altitude
    except ValueError:
        shown = show_value(text)
        raise InputError(f"{where}: coordinates {shown}: must be lon,lat in degrees") from None


def _name(mark: _Element) -> str:
    """On one line."""
    name = next((each.text or "" for each in mark if _local(each) == "name"), "")
    return " ".join("".join(c if c.isprintable() else " " for c in name).split())


def _all(element: _Element, name: str) -> Iterator[_Element]:
    """All below of this name, in any version of the namespace."""
    return (each for each in element.iter() if _local(each) == name)


def _local(element: _Element) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
