"""The formats by name, and the one function that writes a plan in any of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from flexpress.arguments import check_choice
from flexpress.planning.export.csv import write_csv
from flexpress.planning.export.flight import Flight, make_flight
from flexpress.planning.export.geojson import write_geojson
from flexpress.planning.export.gpx import write_gpx
from flexpress.planning.export.kml import write_kml
from flexpress.planning.export.qgc import write_qgc
from flexpress.planning.export.wpl import write_wpl
from flexpress.planning.plan import Plan
from flexpress.planning.plan_file import check_plan
from flexpress.scenario import Scenario
from flexpress.scenario.projection import Coordinate

WRITERS: Mapping[str, Callable[[Flight], dict[str, str]]] = {
    "qgc": write_qgc,
    "wpl": write_wpl,
    "geojson": write_geojson,
    "kml": write_kml,
    "gpx": write_gpx,
    "csv": write_csv,
}

EXPORT_FORMATS = tuple(WRITERS)


def export_plan(
    scenario: Scenario,
    plan: Plan,
    format: str,
    *,
    origin: Coordinate | None = None,
) -> dict[str, str]:
    """The text of every file of a format, by its name; nothing is written.

    `origin` is where x = 0, y = 0 of a planar scenario lies.
    """
    check_choice("format", format, EXPORT_FORMATS)
    check_plan(scenario, plan)
    return WRITERS[format](make_flight(scenario, plan, origin=origin))
