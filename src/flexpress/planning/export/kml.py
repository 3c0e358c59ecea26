"""KML 2.2 for Google Earth and others: a folder for each transporter, in its colour on the map."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element

from flexpress.planning.colours import NO_FLY
from flexpress.planning.export.elements import add, document
from flexpress.planning.export.flight_plan import DECIMALS, FlightPlan, Mission
from flexpress.scenario.projection import Coordinate

_NAMESPACE = "http://www.opengis.net/kml/2.2"
_SOLID, _HALF = "ff", "80"  # how opaque

_Level = tuple[str, float]
"""KML's altitude mode, and metres."""

_ON_THE_GROUND: _Level = ("relativeToGround", 0)


def write_kml(flight: FlightPlan) -> dict[str, str]:
    root = Element("kml", xmlns=_NAMESPACE)
    page = add(root, "Document")
    add(page, "name", flight.name)
    for mission in flight.missions:
        _add_style(page, mission)
    zone_style = add(page, "Style", id="no-fly")
    add(add(zone_style, "LineStyle"), "color", _kml_colour(NO_FLY))
    add(add(zone_style, "PolyStyle"), "color", _kml_colour(NO_FLY, _HALF))
    _add_point(page, "server", flight.home, _ON_THE_GROUND)
    for mission in flight.missions:
        _add_tour(page, flight, mission)
    if flight.no_fly:
        _add_zones(page, flight)
    return {"plan.kml": document(root)}


def _add_style(page: Element, mission: Mission) -> None:
    style = add(page, "Style", id=_style_of(mission))
    colour = _kml_colour(mission.colour)
    add(add(style, "IconStyle"), "color", colour)
    line = add(style, "LineStyle")
    add(line, "color", colour)
    add(line, "width", 3)


def _add_tour(page: Element, flight: FlightPlan, mission: Mission) -> None:
    folder = add(page, "Folder")
    add(folder, "name", f"Transporter {mission.transporter}")
    mark = add(folder, "Placemark")
    add(mark, "name", f"Tour of transporter {mission.transporter}")
    add(mark, "description", _summary(mission))
    add(mark, "styleUrl", f"#{_style_of(mission)}")
    mode, metres = _level(flight)
    line = add(mark, "LineString")
    add(line, "altitudeMode", mode)
    add(line, "coordinates", _coordinates(flight.path(mission), metres))
    for stop in mission.stops:
        text = f"client {stop.client}, stop {stop.order}, {stop.arrival:.1f} s after take-off"
        _add_point(folder, stop.name, stop.place, _level(flight), text, _style_of(mission))


def _level(flight: FlightPlan) -> _Level:
    """Above sea level where that is known, since flights do not follow the ground."""
    if flight.home_altitude is None:
        return "relativeToGround", flight.altitude
    return "absolute", flight.home_altitude + flight.altitude


def _add_point(
    parent: Element, name: str, place: Coordinate, level: _Level, text: str = "", style: str = ""
) -> None:
    mode, metres = level
    mark = add(parent, "Placemark")
    add(mark, "name", name)
    if text:
        add(mark, "description", text)
    if style:
        add(mark, "styleUrl", f"#{style}")
    point = add(mark, "Point")
    add(point, "altitudeMode", mode)
    add(point, "coordinates", _coordinates([place], metres))


def _add_zones(page: Element, flight: FlightPlan) -> None:
    """Walls from the ground to the flight altitude."""
    mode, metres = _level(flight)
    folder = add(page, "Folder")
    add(folder, "name", "No-fly zones")
    zones = zip(flight.no_fly, flight.no_fly_names, strict=True)
    for number, (zone, name) in enumerate(zones, start=1):
        mark = add(folder, "Placemark")
        add(mark, "name", name or f"No-fly zone {number}")
        add(mark, "styleUrl", "#no-fly")
        polygon = add(mark, "Polygon")
        add(polygon, "extrude", 1)
        add(polygon, "altitudeMode", mode)
        ring = add(add(polygon, "outerBoundaryIs"), "LinearRing")
        add(ring, "coordinates", _coordinates([*zone, zone[0]], metres))


def _summary(mission: Mission) -> str:
    tour = mission.tour
    return (
        f"{len(tour.clients)} clients, {tour.length:.1f} m, {tour.round_trip:.1f} s, "
        f"{tour.energy:.1f} J"
    )


def _coordinates(places: Sequence[Coordinate], altitude: float) -> str:
    return " ".join(
        f"{longitude:.{DECIMALS}f},{latitude:.{DECIMALS}f},{altitude:g}"
        for latitude, longitude in places
    )


def _style_of(mission: Mission) -> str:
    return f"transporter-{mission.transporter}"


def _kml_colour(colour: str, opacity: str = _SOLID) -> str:
    """From "#rrggbb": KML wants opacity, blue, green, red."""
    red, green, blue = (colour[j : j + 2].lower() for j in (1, 3, 5))
    return opacity + blue + green + red
