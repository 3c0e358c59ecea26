"""GeoJSON (RFC 7946) for maps and geographic information systems: longitude first.

Colours are those of the map, under the names that geojson.io, GitHub and QGIS know (simplestyle).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from flexpress.planning.colours import NO_FLY
from flexpress.planning.export.flight_plan import FlightPlan, Mission, Stop
from flexpress.scenario.projection import Coordinate


def write_geojson(flight: FlightPlan) -> dict[str, str]:
    collection = {"type": "FeatureCollection", "features": list(_features(flight))}
    return {"plan.geojson": json.dumps(collection, indent=1, ensure_ascii=False) + "\n"}


def _features(flight: FlightPlan) -> Iterator[dict[str, object]]:
    yield _feature("Point", _position(flight.home), kind="server", name="server")
    for zone, name in zip(flight.no_fly, flight.no_fly_names, strict=True):
        named = {"name": name} if name else {}
        colours = {"stroke": NO_FLY, "fill": NO_FLY}
        ring = _positions([*zone, zone[0]])
        yield _feature("Polygon", [ring], kind="no-fly zone", **named, **colours)
    for mission in flight.missions:
        yield _tour(flight, mission)
        for stop in mission.stops:
            yield _client(flight, mission, stop)


def _tour(flight: FlightPlan, mission: Mission) -> dict[str, object]:
    return _feature(
        "LineString",
        _positions(flight.path(mission)),
        kind="tour",
        transporter=mission.transporter,
        clients=len(mission.stops),
        speed=mission.speed,
        altitude=flight.altitude,
        length=mission.tour.length,
        round_trip=mission.tour.round_trip,
        energy=mission.tour.energy,
        stroke=mission.colour,
    )


def _client(flight: FlightPlan, mission: Mission, stop: Stop) -> dict[str, object]:
    return _feature(
        "Point",
        _position(stop.place),
        kind="client",
        id=stop.client,
        name=stop.name,
        transporter=mission.transporter,
        order=stop.order,
        arrival=stop.arrival,
        hold=flight.hold,
        **{"marker-color": mission.colour},
    )


def _feature(geometry: str, coordinates: object, **properties: object) -> dict[str, object]:
    return {
        "type": "Feature",
        "geometry": {"type": geometry, "coordinates": coordinates},
        "properties": properties,
    }


def _positions(places: Sequence[Coordinate]) -> list[list[float]]:
    return [_position(place) for place in places]


def _position(place: Coordinate) -> list[float]:
    latitude, longitude = place
    return [longitude, latitude]
