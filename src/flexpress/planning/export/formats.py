"""The formats by name, the function that writes a plan in any of them, and its warnings."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from flexpress.arguments import check_choice
from flexpress.planning.export.csv import write_csv
from flexpress.planning.export.flight_plan import FlightPlan, make_flight_plan
from flexpress.planning.export.geojson import write_geojson
from flexpress.planning.export.gpx import write_gpx
from flexpress.planning.export.kml import write_kml
from flexpress.planning.export.qgc import write_qgc
from flexpress.planning.export.wpl import write_wpl
from flexpress.planning.plan import Plan
from flexpress.planning.plan_file import check_plan
from flexpress.scenario import Scenario
from flexpress.scenario.projection import Coordinate

_WRITERS: Mapping[str, Callable[[FlightPlan], dict[str, str]]] = {
    "qgc": write_qgc,
    "wpl": write_wpl,
    "geojson": write_geojson,
    "kml": write_kml,
    "gpx": write_gpx,
    "csv": write_csv,
}

EXPORT_FORMATS = tuple(_WRITERS)

_FLOWN = ("qgc", "wpl")
"""The formats that an autopilot follows."""


def export_plan(
    scenario: Scenario,
    plan: Plan,
    format: str,
    *,
    origin: Coordinate | None = None,
) -> dict[str, str]:
    """The text of every file of a format, by file name; nothing is written.

    `origin` is where x = 0, y = 0 of a planar scenario lies.
    """
    check_choice("format", format, EXPORT_FORMATS)
    check_plan(scenario, plan)
    return _WRITERS[format](make_flight_plan(scenario, plan, origin=origin))


def export_notes(scenario: Scenario, plan: Plan, format: str) -> list[str]:
    """Warnings to read before flying, one line each."""
    if format not in _FLOWN or scenario.network.no_fly_margin:
        return []
    turning = [k for k, tour in enumerate(plan.transporters, start=1) if tour.corners]
    if not turning:
        return []
    who = "transporter" if len(turning) == 1 else "transporters"
    return [
        f"{who} {', '.join(map(str, turning))}: corners lie on the edge of no-fly zones, where "
        "a geofence trips: set network.no_fly_margin to keep clear of them, and plan again"
    ]
