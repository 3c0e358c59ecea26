"""GeoJSON (RFC 7946) for maps and geographic information systems: longitude first.

Colours are those of the map, under the names that geojson.io, GitHub and QGIS know (simplestyle).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from flexpress.planning.colours import NO_FLY
from flexpress.planning.export.flight import Flight, Mission, Visit
from flexpress.scenario.projection import Coordinate


def write_geojson(flight: Flight) -> dict[str, str]:
    collection = {"type": "FeatureCollection", "features": list(features(flight))}
    return {"plan.geojson": json.dumps(collection, indent=1, ensure_ascii=False) + "\n"}


def features(flight: Flight) -> Iterator[dict[str, object]]:
    yield feature("Point", position(flight.home), kind="server", name="server")
    for zone, name in zip(flight.no_fly, flight.no_fly_names, strict=True):
        named = {"name": name} if name else {}
        colours = {"stroke": NO_FLY, "fill": NO_FLY}
        ring = positions([*zone, zone[0]])
        yield feature("Polygon", [ring], kind="no-fly zone", **named, **colours)
    for mission in flight.missions:
        yield tour(flight, mission)
        for visit in mission.visits:
            yield client(flight, mission, visit)


def tour(flight: Flight, mission: Mission) -> dict[str, object]:
    return feature(
        "LineString",
        positions(flight.path(mission)),
        kind="tour",
        transporter=mission.transporter,
        clients=len(mission.visits),
        speed=mission.speed,
        altitude=flight.altitude,
        length=mission.tour.length,
        round_trip=mission.tour.round_trip,
        energy=mission.tour.energy,
        stroke=mission.colour,
    )


def client(flight: Flight, mission: Mission, visit: Visit) -> dict[str, object]:
    return feature(
        "Point",
        position(visit.place),
        kind="client",
        id=visit.client,
        name=visit.name,
        transporter=mission.transporter,
        order=visit.order,
        arrival=visit.arrival,
        hold=flight.hold,
        **{"marker-color": mission.colour},
    )


def feature(geometry: str, coordinates: object, **properties: object) -> dict[str, object]:
    return {
        "type": "Feature",
        "geometry": {"type": geometry, "coordinates": coordinates},
        "properties": properties,
    }


def positions(places: Sequence[Coordinate]) -> list[list[float]]:
    return [position(place) for place in places]


def position(place: Coordinate) -> list[float]:
    latitude, longitude = place
    return [longitude, latitude]
