"""The commands `simulate` and `data`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import click
import typer

from flexpress.cli.app import app
from flexpress.cli.found import find_scenario, out_path, plan_files, scenario_files
from flexpress.cli.terminal import complain, console, say
from flexpress.errors import InputError

if TYPE_CHECKING:
    from flexpress.learning import Engine
    from flexpress.scenario import Algorithm, Scenario

# The values of flexpress.scenario.Algorithm, whose module is too slow for --help.
ALGORITHMS = ("sync", "async", "direct")
ALL = "all"
DATA = "data.png"
# And those of flexpress.learning.Engine.
ENGINES = ("auto", "fast", "torch")

PLAN_HELP = "A plan.json, or the folder it is in; by default one is made as [plan] says."


@app.command()
def simulate(
    name: Annotated[str, typer.Argument(metavar="SCENARIO", hidden=True)],
    algorithms: Annotated[
        list[str] | None,
        typer.Option(
            "--algorithm",
            click_type=click.Choice((*ALGORITHMS, ALL)),
            help="Algorithm; repeat the option to compare several.",
        ),
    ] = None,
    plan: Annotated[Path | None, typer.Option(metavar="FILE", help=PLAN_HELP)] = None,
    horizon: Annotated[int | None, typer.Option(metavar="T", help="Slots to simulate.")] = None,
    engine: Annotated[
        str,
        typer.Option(
            click_type=click.Choice(ENGINES),
            show_default=False,  # which would come out with a backslash
            help="What trains the models; by default auto.",
        ),
    ] = ENGINES[0],
    ray: Annotated[
        str | None,
        typer.Option(
            "--ray", metavar="ADDRESS", help="Train on the Ray cluster at this address, or local."
        ),
    ] = None,
    eval_every: Annotated[
        int | None, typer.Option(metavar="E", help="Slots from one evaluation to the next.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            parser=out_path,
            metavar="DIR",
            help="Folder of the run; by default one in flexpress-out, and none with --json.",
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the run that the folder holds.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the outcome as one JSON object, nothing else.")
    ] = False,
) -> None:
    """Simulate federated learning along a plan.

    SCENARIO is a TOML file, or the name of a preset if there is no such file. Options that are
    not given are taken from it. Ctrl-C ends the run; --resume continues it.
    """
    from flexpress.cli.run import run_all
    from flexpress.cli.run_folders import CURVES
    from flexpress.files.provenance import Outputs

    changes = {"horizon": horizon, "eval_every": eval_every}
    given = find_scenario(name).replace(
        run={key: value for key, value in changes.items() if value is not None}
    )
    chosen = chosen_algorithms(given, algorithms or [])
    folder = out if out or as_json else run_folder_of(given, chosen)
    if resume and folder is None:
        raise InputError("--resume with --json needs --out: the folder of the run to go on with")
    find_modules(given, name)
    # A run that is gone on with may well be described by its own files.
    with Outputs("simulate", [] if resume else [*scenario_files(name), *plan_files(plan)]) as saved:
        outcome = run_all(
            given,
            chosen,
            folder,
            saved,
            plan_path=plan,
            engine=cast("Engine", engine),
            ray=ray,
            resume=resume,
        )
        if as_json:
            from flexpress.report.tables.runs import runs_to_json

            say(runs_to_json(given, outcome.plan, outcome.traces))
        else:
            from flexpress.report.tables.runs import show_runs

            show_runs(console(sys.stdout), given, outcome.plan, outcome.traces)
            say(f" curves: {folder / CURVES if folder else ''}")
    if outcome.exit_code:
        raise typer.Exit(outcome.exit_code)


def chosen_algorithms(given: Scenario, names: list[str]) -> list[Algorithm]:
    """Each once, in the order in which they are named."""
    if ALL in names:
        names = list(ALGORITHMS)
    return cast("list[Algorithm]", list(dict.fromkeys(names)) or [given.run.algorithm])


def run_folder_of(given: Scenario, chosen: list[Algorithm]) -> Path:
    from flexpress.report.folder import default_folder

    return default_folder(given, "-".join(chosen))


def find_modules(given: Scenario, name: str) -> None:
    """The user's own modules are looked for where the scenario is, and in the working folder.

    Only if there are any: a file there may have the name of a module that Python itself needs.
    """
    if not any(":" in function for function in (given.learning.dataset, given.learning.model)):
        return
    for folder in (str(Path(name).resolve().parent), str(Path.cwd())):
        if folder not in sys.path:
            sys.path.insert(0, folder)


@app.command()
def data(
    name: Annotated[str, typer.Argument(metavar="SCENARIO", hidden=True)],
    plan: Annotated[Path | None, typer.Option(metavar="FILE", help=PLAN_HELP)] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            parser=out_path,
            metavar="DIR",
            help="Folder for data.png; by default one in flexpress-out.",
        ),
    ] = None,
) -> None:
    """Draw which labels every client has, and those of each transporter's clients together.

    SCENARIO is a TOML file, or the name of a preset if there is no such file.
    """
    from flexpress.cli.run import choose_plan
    from flexpress.files.provenance import Outputs
    from flexpress.learning import make_task
    from flexpress.report.figures.label_mix import label_mix_png
    from flexpress.report.folder import default_folder
    from flexpress.report.tables.labels import show_label_mix

    given = find_scenario(name)
    folder = out or default_folder(given, "data")
    outputs = Outputs("data", [*scenario_files(name), *plan_files(plan)])
    outputs.check(folder, (DATA,))
    find_modules(given, name)
    counts = make_task(given, tell=complain).label_counts()
    chosen = choose_plan(given, plan)
    learning = given.learning
    title = f"{given.name}: {learning.dataset}, {learning.partition}"
    with outputs:
        outputs.write(folder, [(DATA, label_mix_png(given, chosen, counts, title))])
        show_label_mix(console(sys.stdout), given, chosen, counts)
        say(f" picture: {folder / DATA}")
