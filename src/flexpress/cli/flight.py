"""The commands `export` and `map`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import click
import typer

from flexpress.cli.app import app
from flexpress.cli.found import find_plan, out_path
from flexpress.cli.terminal import complain, say
from flexpress.errors import InputError

# The values of flexpress.planning.export.EXPORT_FORMATS, whose module is too slow for --help.
FORMATS = ("qgc", "wpl", "geojson", "kml", "gpx", "csv")
PLAN_HELP = "The plan's scenario, if it is not scenario-used.toml beside the plan."


@app.command()
def export(
    name: Annotated[str, typer.Argument(metavar="PLAN", hidden=True)],
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
    out: Annotated[
        Path | None,
        typer.Option(parser=out_path, metavar="DIR", help="Folder; by default the plan's."),
    ] = None,
    scenario: Annotated[str | None, typer.Option(metavar="FILE", help=PLAN_HELP)] = None,
) -> None:
    """Write a plan as missions for ground stations, or as tracks for maps.

    PLAN is a plan.json or the folder it is in. Formats: qgc (QGroundControl .plan) and wpl
    (ArduPilot waypoints), a file for each transporter; geojson, kml, gpx and csv.
    """
    from flexpress.files.provenance import Outputs
    from flexpress.planning.export import export_notes, export_plan, parse_origin

    if not formats:
        raise InputError(f"--format is missing: give one or more of {', '.join(FORMATS)}")
    place = None if origin is None else parse_origin(origin)
    given, plan, inputs = find_plan(name, scenario)
    folder = out or inputs[0].parent
    files: dict[str, str] = {}
    for format in formats:
        files |= export_plan(given, plan, format, origin=place)
    with Outputs("export", inputs) as outputs:
        outputs.check(folder, files)
        for format in formats:
            for note in export_notes(given, plan, format):
                complain(note)
        outputs.write(folder, files.items())
        say("\n".join(str(folder / file) for file in files))


@app.command(name="map")
def html_map(
    name: Annotated[str, typer.Argument(metavar="PLAN", hidden=True)],
    out: Annotated[
        Path | None,
        typer.Option(
            parser=out_path,
            metavar="FILE",
            help="The page; by default map.html beside the plan.",
        ),
    ] = None,
    scenario: Annotated[str | None, typer.Option(metavar="FILE", help=PLAN_HELP)] = None,
) -> None:
    """Write a map of a plan as one HTML file that works offline.

    PLAN is a plan.json or the folder it is in. Pan, zoom, hover; a slider moves the drones.
    """
    from flexpress.files.provenance import Outputs
    from flexpress.report.web_map.html_map import html_map as page

    given, plan, inputs = find_plan(name, scenario)
    path = out or inputs[0].with_name("map.html")
    with Outputs("map", inputs) as outputs:
        outputs.check(path.parent, (path.name,))
        outputs.write(path.parent, [(path.name, page(given, plan))])
        say(str(path))
