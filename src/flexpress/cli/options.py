"""Options and arguments that several commands share.

Arguments are explained in the text above the options: some versions of click lose their help.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import click
import typer
from typer.models import OptionInfo

from flexpress.errors import InputError

# The values of Objective, RoundTripUnit, SolverName, Algorithm, Engine and EXPORT_FORMATS, which
# are too slow to load for --help.
OBJECTIVES = ("minmax", "sws", "total")
ROUND_TRIPS = ("seconds", "slots")
SOLVERS = ("search", "carp", "exact")
ALGORITHMS = ("sync", "async", "direct")
ENGINES = ("auto", "fast", "torch")
FORMATS = ("qgc", "wpl", "geojson", "kml", "gpx", "csv")


def _out_path(text: str) -> Path:
    """Where to write; an empty text would mean the working folder."""
    if not text:
        raise InputError("--out '': is empty; name a place, or omit --out")
    return Path(text)


def out_option(metavar: str, help: str) -> OptionInfo:
    option: OptionInfo = typer.Option(parser=_out_path, metavar=metavar, help=help)
    return option


ScenarioName = Annotated[str, typer.Argument(metavar="SCENARIO", hidden=True)]
PlanName = Annotated[str, typer.Argument(metavar="PLAN", hidden=True)]
PlanScenario = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="The plan's scenario, if it is not scenario-used.toml beside the plan."
    ),
]
PlanFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="A plan.json, or the folder it is in; by default one is made as [plan] says.",
    ),
]
EngineName = Annotated[
    str,
    typer.Option(
        click_type=click.Choice(ENGINES),
        show_default=False,  # typer would print it with a backslash
        help="What trains the models; by default auto.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object, nothing else.")]
