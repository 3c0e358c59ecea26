"""The command `plan`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, cast

import click
import typer

import flexpress
from flexpress.cli.arguments import find_scenario, scenario_files
from flexpress.cli.options import OBJECTIVES, ROUND_TRIPS, SOLVERS, Json, ScenarioName, out_option
from flexpress.cli.progress import best_cost, watched
from flexpress.cli.terminal import complain, say, show
from flexpress.errors import InfeasibleError

_OUT_HELP = (
    "Folder for plan.json, map.png and scenario-used.toml; "
    "by default one in flexpress-out, and none with --json."
)


def plan(
    name: ScenarioName,
    objective: Annotated[
        str | None,
        typer.Option(click_type=click.Choice(OBJECTIVES), help="Objective to minimise."),
    ] = None,
    round_trips: Annotated[
        str | None,
        typer.Option(
            click_type=click.Choice(ROUND_TRIPS),
            help="What the objective counts: seconds, or whole slots as in the paper.",
        ),
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
    out: Annotated[Path | None, out_option("DIR", _OUT_HELP)] = None,
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
    as_json: Json = False,
) -> None:
    """Plan who flies where: a table, a map and files.

    SCENARIO is a TOML file, or the name of a preset if there is no such file. Options that are
    not given are taken from it. Ctrl-C ends the search with the best plan so far.
    """
    flexpress.planning.check_effort(seconds, iterations, seed, starts, jobs)
    certify = certify or certify_seconds is not None
    if certify:
        flexpress.planning.check_certify(certify_seconds, "certify-seconds")
    given = find_scenario(name)
    chosen = cast("flexpress.scenario.Objective | None", objective) or given.plan.objective
    unit = cast("flexpress.scenario.RoundTripUnit | None", round_trips) or given.plan.round_trips
    kind = f"{chosen}-slots" if unit == "slots" else chosen
    folder = out if out or as_json else flexpress.report.default_folder(given, kind)
    outputs = flexpress.files.Outputs("plan", scenario_files(name))
    if folder:
        outputs.check(folder, flexpress.report.PLAN_FILES)
    try:
        with watched(solver or given.plan.solver, best_cost(chosen, unit), keep=True) as screen:
            made = flexpress.make_plan(
                given,
                objective=chosen,
                round_trips=unit,
                solver=cast("flexpress.scenario.SolverName | None", solver),
                seconds=seconds,
                iterations=iterations,
                seed=seed,
                starts=starts,
                jobs=jobs,
                on_progress=screen.planning,
                should_stop=screen.should_stop,
            )
    except InfeasibleError as error:
        if screen.should_stop():
            raise KeyboardInterrupt from None
        if not diagnose:
            raise InfeasibleError(f"{error}; --diagnose shows what would help most") from None
        complain(str(error))
        _show_diagnosis(given, seed, as_json)
        raise typer.Exit(error.exit_code) from None
    if screen.should_stop():
        complain("interrupted: best plan so far")
    if certify:
        made = _certified(given, made, certify_seconds)
    with outputs:
        try:
            if folder:
                flexpress.report.write_folder(given, made, folder, outputs)
        finally:  # a plan that took long to find is shown even if it cannot be saved
            if as_json:
                say(flexpress.planning.plan_to_json(made))
            else:
                show(flexpress.report.show_plan, given, made)
        if not as_json:
            say(f" map: {folder / flexpress.report.MAP if folder else ''}")


def _certified(
    given: flexpress.Scenario, made: flexpress.Plan, seconds: float | None
) -> flexpress.Plan:
    """The plan with the best bound so far, also after Ctrl-C."""

    def bound_text(bound: float | None) -> str:
        text = flexpress.report.cost_text
        return "" if bound is None else f"at least {text(made.objective, bound, made.round_trips)}"

    with watched("certify", bound_text, keep=True) as screen:
        certified = flexpress.certify_plan(
            given,
            made,
            seconds=seconds,
            on_progress=screen.planning,
            should_stop=screen.should_stop,
        )
    if screen.should_stop():
        complain("interrupted: best bound so far")
    return certified


def _show_diagnosis(given: flexpress.Scenario, seed: int | None, as_json: bool) -> None:
    """What would help most, as a table or as JSON; after Ctrl-C what was found so far."""
    with watched("diagnose", keep=True) as screen:
        remedies = flexpress.diagnose(
            given,
            seed=given.seed if seed is None else seed,
            on_progress=screen.planning,
            should_stop=screen.should_stop,
        )
    if as_json:
        say(flexpress.report.remedies_to_json(remedies))
    else:
        show(flexpress.report.show_remedies, remedies)
