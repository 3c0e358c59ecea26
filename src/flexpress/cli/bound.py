"""The command `bound`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, cast

import click
import typer

import flexpress
from flexpress.cli.arguments import find_modules, find_scenario, stored_plan
from flexpress.cli.options import ENGINES, Json, ScenarioName
from flexpress.cli.progress import watched
from flexpress.cli.terminal import complain, say, show

_PLAN_HELP = "A plan.json, or the folder it is in; by default plans of all objectives are made."
_TARGET_HELP = "Target for the mean of |grad f|²; by default a tenth of its value at the start."

_HEAD_START_HELP = "Head start of the clients, 0 to 1; 0 as in the paper."


def bound(
    name: ScenarioName,
    plan: Annotated[Path | None, typer.Option(metavar="FILE", help=_PLAN_HELP)] = None,
    horizon: Annotated[
        int | None,
        typer.Option(metavar="T", help="Number of slots at which to evaluate the bound."),
    ] = None,
    target: Annotated[float | None, typer.Option(metavar="EPS", help=_TARGET_HELP)] = None,
    head_start: Annotated[
        float | None, typer.Option(metavar="GAMMA", help=_HEAD_START_HELP)
    ] = None,
    engine: Annotated[
        str,
        typer.Option(
            click_type=click.Choice(ENGINES),
            show_default=False,  # typer would print it with a backslash
            help="What computes the gradients; by default auto.",
        ),
    ] = ENGINES[0],
    as_json: Json = False,
) -> None:
    """Show what the theorems promise, and which algorithm to fly.

    SCENARIO is a TOML file, or the name of a preset if there is no such file. The constants of
    the theorems are estimated at its initial model, and at models of a short run. With up to
    40 clients both algorithms are tried for 400 slots, and the better one is advised; it is also
    tried with a head start, or without if the scenario has one.
    """
    given = find_scenario(name)
    find_modules(given, name)
    flown = stored_plan(given, plan)
    with watched("bound") as screen:
        found = flexpress.bound(
            given,
            None if flown is None else [flown],
            horizon=horizon,
            target=target,
            head_start=head_start,
            engine=cast("flexpress.learning.Engine", engine),
            on_progress=screen.trying,
            on_planning=screen.planning,
            tell=complain,
        )
    if as_json:
        say(flexpress.report.outlook_to_json(given, found.outlook, found.estimates))
    else:
        show(flexpress.report.show_outlook, found.outlook, found.estimates)
