"""GPX 1.1 for navigation devices: one route per transporter."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from flexpress.planning.export.elements import add, document
from flexpress.planning.export.flight_plan import DECIMALS, FlightPlan, Mission, Stop
from flexpress.scenario.projection import Coordinate

_NAMESPACE = "http://www.topografix.com/GPX/1/1"


def write_gpx(flight: FlightPlan) -> dict[str, str]:
    root = Element("gpx", version="1.1", creator="flexpress", xmlns=_NAMESPACE)
    add(add(root, "metadata"), "name", flight.name)
    for mission in flight.missions:
        _add_route(root, flight, mission)
    return {"plan.gpx": document(root)}


def _add_route(root: Element, flight: FlightPlan, mission: Mission) -> None:
    route = add(root, "rte")
    add(route, "name", f"Transporter {mission.transporter}")
    add(route, "number", mission.transporter)
    _add_point(route, flight, flight.home, "server", "take-off")
    for point in mission.waypoints:
        if isinstance(point, Stop):
            text = f"stop {point.order}, {point.arrival:.1f} s after take-off"
            _add_point(route, flight, point.place, point.name, "client", text)
        else:
            _add_point(route, flight, point.place, "", "corner")
    _add_point(route, flight, flight.home, "server", "return")


def _add_point(
    route: Element, flight: FlightPlan, place: Coordinate, name: str, kind: str, text: str = ""
) -> None:
    """Elevations of GPX are above sea level: omitted if that is unknown."""
    latitude, longitude = (f"{degrees:.{DECIMALS}f}" for degrees in place)
    point = add(route, "rtept", lat=latitude, lon=longitude)
    if flight.home_altitude is not None:
        add(point, "ele", flight.home_altitude + flight.altitude)
    if name:
        add(point, "name", name)
    if text:
        add(point, "desc", text)
    add(point, "type", kind)
