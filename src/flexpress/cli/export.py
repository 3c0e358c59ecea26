"""The command `export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import click
import typer

import flexpress
from flexpress.cli.arguments import find_plan
from flexpress.cli.options import FORMATS, PlanName, PlanScenario, out_option
from flexpress.cli.terminal import complain, say
from flexpress.errors import InputError


def export(
    name: PlanName,
    formats: Annotated[
        list[str] | None,
        typer.Option(
            "--format", click_type=click.Choice(FORMATS), help="Format to write; may be repeated."
        ),
    ] = None,
    origin: Annotated[
        str | None,
        typer.Option(metavar="LAT,LON", help="Where x = 0, y = 0 of a scenario in metres lies."),
    ] = None,
    out: Annotated[Path | None, out_option("DIR", "Folder; by default the plan's.")] = None,
    scenario: PlanScenario = None,
) -> None:
    """Write a plan as missions for ground stations, or as tracks for maps.

    PLAN is a plan.json or the folder it is in. Formats: qgc (QGroundControl .plan) and wpl
    (ArduPilot waypoints), a file for each transporter; geojson, kml, gpx and csv.
    """
    if not formats:
        raise InputError(f"--format is missing: give one or more of {', '.join(FORMATS)}")
    place = None if origin is None else flexpress.planning.parse_origin(origin)
    given, plan, inputs = find_plan(name, scenario)
    folder = out or inputs[0].parent
    files: dict[str, str] = {}
    for format in formats:
        files |= flexpress.export_plan(given, plan, format, origin=place)
    with flexpress.files.Outputs("export", inputs) as outputs:
        outputs.check(folder, files)
        for format in formats:
            for note in flexpress.planning.export_notes(given, plan, format):
                complain(note)
        outputs.write(folder, files.items())
        say("\n".join(str(folder / file) for file in files))
