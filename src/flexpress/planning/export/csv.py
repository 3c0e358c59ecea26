"""CSV for spreadsheets and scripts: one row a stop, all transporters in one table."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from flexpress.planning.export.flight import Flight, Mission, Visit
from flexpress.planning.export.origin import DECIMALS
from flexpress.scenario.projection import Coordinate

COLUMNS = (
    "transporter",
    "order",
    "kind",
    "id",
    "name",
    "latitude",
    "longitude",
    "altitude",
    "arrival",
    "departure",
    "hold",
    "leg",
    "energy",
)

Row = dict[str, object]


def write_csv(flight: Flight) -> dict[str, str]:
    table = io.StringIO()
    writer = csv.DictWriter(table, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for mission in flight.missions:
        writer.writerows(rows(flight, mission))
    return {"plan.csv": table.getvalue()}


def rows(flight: Flight, mission: Mission) -> Iterator[Row]:
    """What does not apply to a row stays empty."""
    tour, last = mission.tour, len(mission.visits) + 1
    common = {"transporter": mission.transporter, "altitude": flight.altitude}
    home = common | degrees(flight.home) | {"name": "server"}
    yield home | {"order": 0, "kind": "take-off", "departure": 0, "energy": 0}
    for point in mission.waypoints:
        place = common | degrees(point.place)
        if isinstance(point, Visit):
            yield place | client(point, flight.hold)
        else:
            yield place | {"kind": "corner"}
    yield (
        home
        | {"order": last, "kind": "return"}
        | figures(arrival=tour.round_trip, leg=mission.way_home, energy=tour.energy)
    )


def client(visit: Visit, hold: float) -> Row:
    return {
        "order": visit.order,
        "kind": "client",
        "id": visit.client,
        "name": visit.name,
        **figures(
            arrival=visit.arrival,
            departure=visit.arrival + hold,
            hold=hold,
            leg=visit.leg,
            energy=visit.energy,
        ),
    }


def degrees(place: Coordinate) -> Row:
    latitude, longitude = place
    return {"latitude": f"{latitude:.{DECIMALS}f}", "longitude": f"{longitude:.{DECIMALS}f}"}


def figures(**values: float) -> Row:
    """To the millisecond, millimetre, millijoule."""
    return {name: f"{value:.3f}" for name, value in values.items()}
