"""The command `report`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

import flexpress
from flexpress.cli.arguments import find_modules
from flexpress.cli.options import out_option
from flexpress.cli.terminal import complain, say
from flexpress.errors import InputError

_OUT_HELP = "The page; by default report.html in the runs' common folder."


def report(
    names: Annotated[list[str], typer.Argument(metavar="RUN...", hidden=True)],
    out: Annotated[Path | None, out_option("FILE", _OUT_HELP)] = None,
    labels: Annotated[
        bool, typer.Option("--labels", help="Read the data too, and show who has which labels.")
    ] = False,
) -> None:
    """Write a page about runs: one HTML file that works offline, pictures and data beside it.

    RUN is a folder that `flexpress simulate` wrote; several are compared. Runs that are not
    complete are shown as far as they went.
    """
    folders = flexpress.simulation.find_runs(names)
    path = out or _shortest(flexpress.report.common_folder(folders)) / flexpress.report.REPORT
    with flexpress.files.Outputs("report", flexpress.report.files_of(folders)) as outputs:
        outputs.check(path.parent, (path.name,))  # before the runs are read
        flexpress.report.write_report(
            [flexpress.load_run(folder) for folder in folders],
            path,
            outputs,
            label_counts=_label_counts if labels else lambda scenario: None,
            made_by=f"Made by flexpress {flexpress.__version__}: "
            f"flexpress report {shlex.join(names)}",
        )
        say(str(path))


def _shortest(folder: Path) -> Path:
    """Relative to the working folder, if it lies below."""
    here = Path.cwd().resolve()
    return folder.relative_to(here) if folder.is_relative_to(here) else folder


def _label_counts(scenario: flexpress.Scenario) -> flexpress.arrays.IntArray | None:
    """None, and a line with the reason, if the data cannot be loaded."""
    find_modules(scenario, flexpress.files.SCENARIO)
    try:
        return flexpress.learning.make_task(scenario, tell=complain).label_counts()
    except InputError as error:
        complain(f"without labels: {error}")
        return None
