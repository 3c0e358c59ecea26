"""GPX 1.1 for navigation devices: a route for each transporter."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from flexpress.planning.export.elements import add, document
from flexpress.planning.export.flight import Flight, Mission, Visit
from flexpress.planning.export.origin import DECIMALS
from flexpress.scenario.projection import Coordinate

NAMESPACE = "http://www.topografix.com/GPX/1/1"


def write_gpx(flight: Flight) -> dict[str, str]:
    root = Element("gpx", version="1.1", creator="flexpress", xmlns=NAMESPACE)
    add(add(root, "metadata"), "name", flight.name)
    for mission in flight.missions:
        add_route(root, flight, mission)
    return {"plan.gpx": document(root)}


def add_route(root: Element, flight: Flight, mission: Mission) -> None:
    route = add(root, "rte")
    add(route, "name", f"Transporter {mission.transporter}")
    add(route, "number", mission.transporter)
    add_point(route, flight, flight.home, "server", "take-off")
    for point in mission.waypoints:
        if isinstance(point, Visit):
            text = f"stop {point.order}, {point.arrival:.1f} s after take-off"
            add_point(route, flight, point.place, point.name, "client", text)
        else:
            add_point(route, flight, point.place, "", "corner")
    add_point(route, flight, flight.home, "server", "return")


def add_point(
    route: Element, flight: Flight, place: Coordinate, name: str, kind: str, text: str = ""
) -> None:
    """Elevations of GPX are above sea level: left out where that is unknown."""
    latitude, longitude = (f"{degrees:.{DECIMALS}f}" for degrees in place)
    point = add(route, "rtept", lat=latitude, lon=longitude)
    if flight.home_altitude is not None:
        add(point, "ele", flight.home_altitude + flight.altitude)
    if name:
        add(point, "name", name)
    if text:
        add(point, "desc", text)
    add(point, "type", kind)
