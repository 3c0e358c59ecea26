"""The commands `scenario` and `plan`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import click
import typer

from flexpress.cli.app import app
from flexpress.cli.found import find_scenario, out_path, scenario_files
from flexpress.cli.terminal import complain, console, say
from flexpress.cli.watched import watched_certificate, watched_diagnosis, watched_plan
from flexpress.errors import InfeasibleError

if TYPE_CHECKING:
    from flexpress.scenario import Objective, Scenario, SolverName

# The values of flexpress.scenario.Objective and SolverName, whose module is too slow for --help.
OBJECTIVES = ("minmax", "sws", "total")
SOLVERS = ("search", "carp", "exact")


@app.command()
def scenario(
    preset: Annotated[str | None, typer.Argument(metavar="[PRESET]", hidden=True)] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="Draw other positions, if they are generated.")
    ] = None,
    names: Annotated[bool, typer.Option("--list", help="List the presets.")] = False,
) -> None:
    """List the presets, or print one as TOML.

    The text is ready to be edited: flexpress scenario valley > mine.toml
    """
    from flexpress.report.tables.plan import show_presets
    from flexpress.scenario import Scenario, preset_text

    if preset is None or names:
        show_presets(console(sys.stdout))
        return
    Scenario.preset(preset, seed)  # a text that does not load is not printed
    say(preset_text(preset, seed).rstrip("\n"))


@app.command()
def plan(
    name: Annotated[str, typer.Argument(metavar="SCENARIO", hidden=True)],
    objective: Annotated[
        str | None,
        typer.Option(click_type=click.Choice(OBJECTIVES), help="Objective to minimise."),
    ] = None,
    solver: Annotated[
        str | None, typer.Option(click_type=click.Choice(SOLVERS), help="Solver.")
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(metavar="S", help="Time limit for the solver.")
    ] = None,
    iterations: Annotated[
        int | None, typer.Option(metavar="I", help="Iteration limit (reproducible).")
    ] = None,
    seed: Annotated[int | None, typer.Option(metavar="N", help="Seed of the solver.")] = None,
    starts: Annotated[
        int,
        typer.Option(
            metavar="M",
            help="Number of independent searches; the best plan is kept.",
            show_default=False,  # typer would load rich to show it
        ),
    ] = 1,
    jobs: Annotated[
        int | None, typer.Option(metavar="J", help="Searches at a time; by default one per core.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            parser=out_path,
            metavar="DIR",
            help="Folder for plan.json, map.png and scenario-used.toml; "
            "by default one in flexpress-out, and none with --json.",
        ),
    ] = None,
    certify: Annotated[
        bool, typer.Option("--certify", help="Prove how far the plan is from the optimum.")
    ] = False,
    certify_seconds: Annotated[
        float | None,
        typer.Option(metavar="S", help="Time limit for the proof; implies --certify."),
    ] = None,
    diagnose: Annotated[
        bool,
        typer.Option("--diagnose", help="If no plan fits the budgets, show what would help most."),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the plan as one JSON object, nothing else.")
    ] = False,
) -> None:
    """Plan who flies where: a table, a map and files.

    SCENARIO is a TOML file, or the name of a preset if there is no such file. Options that are
    not given are taken from it. Ctrl-C ends the search with the best plan so far.
    """
    from flexpress.files.provenance import Outputs
    from flexpress.planning import plan_to_json
    from flexpress.planning.solve import check_effort
    from flexpress.report.folder import MAP, PLAN_FILES, default_folder, write_folder
    from flexpress.report.tables.plan import show_plan

    check_effort(seconds, iterations, seed, starts, jobs)
    certify = certify or certify_seconds is not None
    if certify:
        from flexpress.planning.bounds import check_certify

        check_certify(certify_seconds, "certify-seconds")
    given = find_scenario(name)
    chosen = cast("Objective | None", objective) or given.plan.objective
    folder = out if out or as_json else default_folder(given, chosen)
    outputs = Outputs("plan", scenario_files(name))
    if folder:
        outputs.check(folder, PLAN_FILES)
    solver_name = cast("SolverName | None", solver)
    try:
        made = watched_plan(
            given, chosen, solver_name, seconds, iterations, seed, starts=starts, jobs=jobs
        )
    except InfeasibleError as error:
        if not diagnose:
            raise InfeasibleError(f"{error}; --diagnose tells what would help most") from None
        complain(str(error))
        show_diagnosis(given, seed, as_json)
        raise typer.Exit(error.exit_code) from None
    if certify:
        made = watched_certificate(given, made, certify_seconds)
    with outputs:
        try:
            if folder:
                write_folder(given, made, folder, outputs)
        finally:  # a plan that took long to find is shown even if it cannot be saved
            if as_json:
                say(plan_to_json(made))
            else:
                show_plan(console(sys.stdout), given, made)
        if not as_json:
            say(f" map: {folder / MAP if folder else ''}")


def show_diagnosis(given: Scenario, seed: int | None, as_json: bool) -> None:
    """What would help most, as a table or as JSON."""
    from flexpress.report.tables.plan import remedies_to_json, show_remedies

    remedies = watched_diagnosis(given, seed)
    if as_json:
        say(remedies_to_json(remedies))
    else:
        show_remedies(console(sys.stdout), remedies)
