"""KML 2.2 for Google Earth and others: a folder for each transporter, in its colour on the map."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element

from flexpress.planning.colours import NO_FLY
from flexpress.planning.export.elements import add, document
from flexpress.planning.export.flight import Flight, Mission
from flexpress.planning.export.origin import DECIMALS
from flexpress.scenario.projection import Coordinate

NAMESPACE = "http://www.opengis.net/kml/2.2"
SOLID, HALF = "ff", "80"  # how opaque

Level = tuple[str, float]
"""KML's altitude mode, and metres."""

ON_THE_GROUND: Level = ("relativeToGround", 0)


def write_kml(flight: Flight) -> dict[str, str]:
    root = Element("kml", xmlns=NAMESPACE)
    page = add(root, "Document")
    add(page, "name", flight.name)
    for mission in flight.missions:
        add_style(page, mission)
    zone_style = add(page, "Style", id="no-fly")
    add(add(zone_style, "LineStyle"), "color", kml_colour(NO_FLY))
    add(add(zone_style, "PolyStyle"), "color", kml_colour(NO_FLY, HALF))
    add_point(page, "server", flight.home, ON_THE_GROUND)
    for mission in flight.missions:
        add_tour(page, flight, mission)
    if flight.no_fly:
        add_zones(page, flight)
    return {"plan.kml": document(root)}


def add_style(page: Element, mission: Mission) -> None:
    style = add(page, "Style", id=style_of(mission))
    colour = kml_colour(mission.colour)
    add(add(style, "IconStyle"), "color", colour)
    line = add(style, "LineStyle")
    add(line, "color", colour)
    add(line, "width", 3)


def add_tour(page: Element, flight: Flight, mission: Mission) -> None:
    folder = add(page, "Folder")
    add(folder, "name", f"Transporter {mission.transporter}")
    mark = add(folder, "Placemark")
    add(mark, "name", f"Tour of transporter {mission.transporter}")
    add(mark, "description", summary(mission))
    add(mark, "styleUrl", f"#{style_of(mission)}")
    mode, metres = level(flight)
    line = add(mark, "LineString")
    add(line, "altitudeMode", mode)
    add(line, "coordinates", coordinates(flight.path(mission), metres))
    for visit in mission.visits:
        text = f"client {visit.client}, stop {visit.order}, {visit.arrival:.1f} s after take-off"
        add_point(folder, visit.name, visit.place, level(flight), text, style_of(mission))


def level(flight: Flight) -> Level:
    """Above sea level where that is known, since flights do not follow the ground."""
    if flight.home_altitude is None:
        return "relativeToGround", flight.altitude
    return "absolute", flight.home_altitude + flight.altitude


def add_point(
    parent: Element, name: str, place: Coordinate, level: Level, text: str = "", style: str = ""
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
    add(point, "coordinates", coordinates([place], metres))


def add_zones(page: Element, flight: Flight) -> None:
    """Walls from the ground to the flight altitude."""
    mode, metres = level(flight)
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
        add(ring, "coordinates", coordinates([*zone, zone[0]], metres))


def summary(mission: Mission) -> str:
    tour = mission.tour
    return (
        f"{len(tour.clients)} clients, {tour.length:.1f} m, {tour.round_trip:.1f} s, "
        f"{tour.energy:.1f} J"
    )


def coordinates(places: Sequence[Coordinate], altitude: float) -> str:
    return " ".join(
        f"{longitude:.{DECIMALS}f},{latitude:.{DECIMALS}f},{altitude:g}"
        for latitude, longitude in places
    )


def style_of(mission: Mission) -> str:
    return f"transporter-{mission.transporter}"


def kml_colour(colour: str, opacity: str = SOLID) -> str:
    """From "#rrggbb": KML wants opacity, blue, green, red."""
    red, green, blue = (colour[j : j + 2].lower() for j in (1, 3, 5))
    return opacity + blue + green + red
