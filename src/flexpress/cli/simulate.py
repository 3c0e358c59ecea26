"""The command `simulate`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, cast

import click
import typer

import flexpress
from flexpress.cli.arguments import find_modules, find_scenario, inputs_of, stored_plan
from flexpress.cli.interrupt import INTERRUPTED
from flexpress.cli.options import (
    ALGORITHMS,
    ENGINES,
    EngineName,
    Json,
    PlanFile,
    ScenarioName,
    out_option,
)
from flexpress.cli.progress import Screen, best_cost, watched
from flexpress.cli.terminal import complain, say, show
from flexpress.errors import DivergedError, InputError

_ALL = "all"
_CURVES = "curves.png"
_ALGORITHM_HELP = "Algorithm; repeat it to compare several. all: also with and without head start."
_HEAD_START_HELP = "Clients start from the model minus G x their last update; 0 as in the paper."
_PRELOADED_HELP = "Whether clients have the first model on board from slot 0."
_OUT_HELP = "Folder of the run; by default one in flexpress-out, and none with --json."


def simulate(
    name: ScenarioName,
    algorithms: Annotated[
        list[str] | None,
        typer.Option(
            "--algorithm",
            click_type=click.Choice((*ALGORITHMS, _ALL)),
            help=_ALGORITHM_HELP,
        ),
    ] = None,
    plan: PlanFile = None,
    horizon: Annotated[int | None, typer.Option(metavar="T", help="Slots to simulate.")] = None,
    engine: EngineName = ENGINES[0],
    ray: Annotated[
        str | None,
        typer.Option(
            "--ray", metavar="ADDRESS", help="Train on the Ray cluster at this address, or local."
        ),
    ] = None,
    eval_every: Annotated[
        int | None, typer.Option(metavar="E", help="Slots from one evaluation to the next.")
    ] = None,
    head_start: Annotated[float | None, typer.Option(metavar="G", help=_HEAD_START_HELP)] = None,
    preloaded: Annotated[
        bool | None, typer.Option("--preloaded/--no-preloaded", help=_PRELOADED_HELP)
    ] = None,
    out: Annotated[Path | None, out_option("DIR", _OUT_HELP)] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the run that the folder holds.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Simulate federated learning along a plan.

    SCENARIO is a TOML file, or the name of a preset if there is no such file. Options that are
    not given are taken from it. Ctrl-C ends the run; --resume continues it.
    """
    changes = {
        "horizon": horizon,
        "eval_every": eval_every,
        "head_start": head_start,
        "preloaded": preloaded,
    }
    given = find_scenario(name).replace(
        run={key: value for key, value in changes.items() if value is not None}
    )
    chosen = _chosen(given, algorithms or [])
    names = list(flexpress.simulation.compared_runs(given, chosen))
    folder = out if out or as_json else _default_folder(given, chosen)
    if resume and folder is None:
        raise InputError("--resume with --json needs --out: the folder of the run to resume")
    find_modules(given, name)
    # A run that is resumed may well be described by its own files.
    inputs = [] if resume else inputs_of(name, plan)
    outputs = flexpress.files.Outputs("simulate", inputs)
    if folder:
        outputs.check(folder, (_CURVES,))
    plans: list[flexpress.Plan] = []
    with (
        watched(
            given.plan.solver, best_cost(given.plan.objective, given.plan.round_trips)
        ) as screen,
        _aborts(screen, folder),
    ):
        traces = flexpress.compare(
            given,
            stored_plan(given, plan),
            algorithms=chosen,
            engine=cast("flexpress.learning.Engine", engine),
            ray=ray,
            out=folder,
            resume=resume,
            inputs=inputs,
            on_plan=plans.append,
            on_progress=screen.running,
            on_planning=screen.planning,
            should_stop=screen.should_stop,
            tell=complain,
        )
    exit_code = _exit_code(traces, names, screen, folder)
    with outputs:
        if folder:
            places = flexpress.simulation.run_folders(folder, names).items()
            outputs.saved += [place for each, place in places if place and each in traces]
            outputs.write(folder, [(_CURVES, flexpress.report.curves_png(traces, _title(given)))])
        if as_json:
            say(flexpress.report.runs_to_json(given, plans[0], traces))
        else:
            show(flexpress.report.show_runs, given, plans[0], traces)
            say(f" curves: {folder / _CURVES if folder else ''}")
    if exit_code:
        raise typer.Exit(exit_code)


def _chosen(
    given: flexpress.Scenario, names: list[str]
) -> list[flexpress.scenario.Algorithm] | None:
    """Each once, in the order in which they are named; None for all."""
    if _ALL in names:
        return None
    chosen = dict.fromkeys(names or [given.run.algorithm])
    return cast("list[flexpress.scenario.Algorithm]", list(chosen))


def _default_folder(
    given: flexpress.Scenario, chosen: list[flexpress.scenario.Algorithm] | None
) -> Path:
    return flexpress.report.default_folder(given, "-".join(chosen or ALGORITHMS))


@contextmanager
def _aborts(screen: Screen, folder: Path | None) -> Iterator[None]:
    """A second Ctrl-C ends the command; what the last checkpoint holds is kept."""
    try:
        yield
    except KeyboardInterrupt:
        run = screen.run
        if run is None:  # before the first run
            raise
        how = "; --resume continues from its last checkpoint" if folder else ""
        complain(f"{run.name}: aborted at slot {run.slot}{how}")
        raise typer.Exit(INTERRUPTED) from None


def _exit_code(
    traces: Mapping[flexpress.simulation.RunName, flexpress.Trace],
    names: Sequence[flexpress.simulation.RunName],
    screen: Screen,
    folder: Path | None,
) -> int:
    """130 and a line if a run was interrupted; 4 if one diverged, which was reported before."""
    *_, (last, trace) = traces.items()
    if screen.should_stop() and not (trace.complete and len(traces) == len(names)):
        how = "; --resume continues it" if folder else ""
        slot = screen.run.slot if screen.run else 0
        complain(f"{last}: interrupted at slot {slot}{how}")
        return INTERRUPTED
    return 0 if all(trace.complete for trace in traces.values()) else DivergedError.exit_code


def _title(given: flexpress.Scenario) -> str:
    learning = given.learning
    return f"{given.name}: {learning.model} on {learning.dataset}, {learning.partition}"
