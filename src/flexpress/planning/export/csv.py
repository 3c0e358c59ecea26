"""CSV for spreadsheets and scripts: one row per stop, all transporters in one table."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from flexpress.planning.export.flight_plan import DECIMALS, FlightPlan, Mission, Stop
from flexpress.scenario.projection import Coordinate

_COLUMNS = (
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

_Row = dict[str, object]


def write_csv(flight: FlightPlan) -> dict[str, str]:
    table = io.StringIO()
    writer = csv.DictWriter(table, _COLUMNS, lineterminator="\n")
    writer.writeheader()
    for mission in flight.missions:
        writer.writerows(_rows(flight, mission))
    return {"plan.csv": table.getvalue()}


def _rows(flight: FlightPlan, mission: Mission) -> Iterator[_Row]:
    """What does not apply to a row stays empty."""
    tour, last = mission.tour, len(mission.stops) + 1
    common = {"transporter": mission.transporter, "altitude": flight.altitude}
    home = common | _degrees(flight.home) | {"name": "server"}
    yield home | {"order": 0, "kind": "take-off", "departure": 0, "energy": 0}
    for point in mission.waypoints:
        place = common | _degrees(point.place)
        if isinstance(point, Stop):
            yield place | _client(point, flight.hold)
        else:
            yield place | {"kind": "corner"}
    yield (
        home
        | {"order": last, "kind": "return"}
        | _figures(arrival=tour.round_trip, leg=mission.way_home, energy=tour.energy)
    )


def _client(stop: Stop, hold: float) -> _Row:
    return {
        "order": stop.order,
        "kind": "client",
        "id": stop.client,
        "name": stop.name,
        **_figures(
            arrival=stop.arrival,
            departure=stop.arrival + hold,
            hold=hold,
            leg=stop.leg,
            energy=stop.energy,
        ),
    }


def _degrees(place: Coordinate) -> _Row:
    latitude, longitude = place
    return {"latitude": f"{latitude:.{DECIMALS}f}", "longitude": f"{longitude:.{DECIMALS}f}"}


def _figures(**values: float) -> _Row:
    """To the millisecond, millimetre, millijoule."""
    return {name: f"{value:.3f}" for name, value in values.items()}
