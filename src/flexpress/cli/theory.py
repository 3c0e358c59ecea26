"""The command `bound`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import click
import typer

from flexpress.cli.app import app
from flexpress.cli.found import find_scenario, stored_plan
from flexpress.cli.learning import ENGINES, find_modules
from flexpress.cli.planning import OBJECTIVES
from flexpress.cli.terminal import complain, console, say
from flexpress.cli.watched import watched_plan

if TYPE_CHECKING:
    from flexpress.learning import Engine
    from flexpress.planning import Plan
    from flexpress.scenario import Objective, Scenario

PLAN_HELP = "A plan.json, or the folder it is in; by default plans of all objectives are made."
TARGET_HELP = "Target for the mean of |grad f|²; by default a tenth of its value at the start."


@app.command()
def bound(
    name: Annotated[str, typer.Argument(metavar="SCENARIO", hidden=True)],
    plan: Annotated[Path | None, typer.Option(metavar="FILE", help=PLAN_HELP)] = None,
    horizon: Annotated[
        int | None,
        typer.Option(metavar="T", help="Number of slots at which to evaluate the bound."),
    ] = None,
    target: Annotated[float | None, typer.Option(metavar="EPS", help=TARGET_HELP)] = None,
    engine: Annotated[
        str,
        typer.Option(
            click_type=click.Choice(ENGINES),
            show_default=False,  # which would come out with a backslash
            help="What computes the gradients; by default auto.",
        ),
    ] = ENGINES[0],
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the outlook as one JSON object, nothing else.")
    ] = False,
) -> None:
    """Show what the paper's theorems promise, and which algorithm to fly.

    SCENARIO is a TOML file, or the name of a preset if there is no such file. The constants of
    the theorems are estimated at its initial model, and at models of a short run. With up to
    40 clients both algorithms are tried for 400 slots, and the better one is advised.
    """
    from flexpress.cli.estimating import fly
    from flexpress.learning import TrainingLoss
    from flexpress.theory import RoundTrips, outlook
    from flexpress.theory.bounds import check_horizon
    from flexpress.theory.rates import check_target

    changes = {} if horizon is None else {"horizon": horizon}
    given = find_scenario(name).replace(run=changes)
    if target is not None:
        check_target(target)
    find_modules(given, name)
    # Before plans are made: what it may complain about should not come after that work.
    loss = TrainingLoss.of(given, engine=cast("Engine", engine), tell=complain)
    plans = chosen_plans(given, plan)
    longest = max((RoundTrips.of(given, each) for each in plans), key=lambda tours: tours.longest)
    check_horizon(longest, given.run.horizon)
    estimates, trials = fly(given, plans, loss, cast("Engine", engine))
    counts = loss.task.label_counts()
    found = outlook(given, plans, estimates.constants, counts, target=target, trials=trials)
    if as_json:
        from flexpress.report.tables.outlook import outlook_to_json

        say(outlook_to_json(given, found, estimates))
        return
    from flexpress.report.tables.outlook import show_outlook

    show_outlook(console(sys.stdout), found, estimates)


def chosen_plans(given: Scenario, path: Path | None) -> list[Plan]:
    """The one in the file or folder, or a new one for each objective."""
    if path:
        return [stored_plan(given, path)]
    objectives = cast("tuple[Objective, ...]", OBJECTIVES)
    return [watched_plan(given, each, keep_interrupted=False) for each in objectives]
