"""The command `report`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flexpress import __version__
from flexpress.cli.app import app
from flexpress.cli.found import out_path
from flexpress.cli.learning import find_modules
from flexpress.cli.terminal import complain, say
from flexpress.errors import InputError

if TYPE_CHECKING:
    from flexpress.scenario import Scenario
    from flexpress.theory.label_mixes import Counts


@app.command()
def report(
    names: Annotated[list[str], typer.Argument(metavar="RUN...", hidden=True)],
    out: Annotated[
        Path | None,
        typer.Option(
            parser=out_path,
            metavar="FILE",
            help="The page; by default report.html in the runs' common folder.",
        ),
    ] = None,
    labels: Annotated[
        bool, typer.Option("--labels", help="Read the data too, and show who has which labels.")
    ] = False,
) -> None:
    """Write a page about runs: one HTML file that works offline, pictures and data beside it.

    RUN is a folder that `flexpress simulate` wrote; several are compared. Runs that are not
    complete are shown as far as they went.
    """
    from flexpress.cli.found_runs import find_runs
    from flexpress.files.provenance import Outputs
    from flexpress.report.page.html import REPORT
    from flexpress.report.page.runs import files_of, write_report
    from flexpress.report.page.shown_runs import common_folder
    from flexpress.simulation.stored_run import load_run

    folders = find_runs(names)
    path = out or shortest(common_folder(folders)) / REPORT
    with Outputs("report", files_of(folders)) as outputs:
        outputs.check(path.parent, (path.name,))  # before the runs are read
        write_report(
            [load_run(folder) for folder in folders],
            path,
            outputs,
            label_counts=read_labels if labels else lambda scenario: None,
            made_by=f"Made by flexpress {__version__}: flexpress report {shlex.join(names)}",
        )
        say(str(path))


def shortest(folder: Path) -> Path:
    """Without the way to the working folder, if it lies below."""
    here = Path.cwd().resolve()
    return folder.relative_to(here) if folder.is_relative_to(here) else folder


def read_labels(scenario: Scenario) -> Counts | None:
    """None, and a line that says why, if the data cannot be had."""
    from flexpress.files.disk import SCENARIO
    from flexpress.learning import make_task

    find_modules(scenario, SCENARIO)
    try:
        return make_task(scenario, tell=complain).label_counts()
    except InputError as error:
        complain(f"without labels: {error}")
        return None
