"""Where simulations of one command go, and whether they may: before any work is done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from flexpress.errors import InputError

if TYPE_CHECKING:
    from flexpress.planning import Plan
    from flexpress.scenario import Algorithm, Scenario

    Folders = Mapping[Algorithm, Path | None]

CURVES = "curves.png"


def run_folders(folder: Path | None, algorithms: Sequence[Algorithm]) -> Folders:
    """The folder itself is that of a single run; of several, each has its own within it."""
    if folder is None or len(algorithms) == 1:
        return dict.fromkeys(algorithms, folder)
    return {algorithm: folder / algorithm for algorithm in algorithms}


def check_folders(
    scenario: Scenario, folder: Path | None, folders: Folders, *, resume: bool
) -> None:
    """InputError now rather than after the work."""
    from flexpress.scenario.folder import check_folder
    from flexpress.simulation.run_folder import CHECKPOINT, RUN_FILES

    for place in {folder, *folders.values()}:
        if place:
            check_folder(place, (*RUN_FILES, CURVES))
    if folder and len(folders) > 1 and (folder / CHECKPOINT).exists():
        raise InputError(f"{folder}: holds a single run; name another folder for several")
    check_runs(scenario, folders, None, resume=resume)


def check_runs(scenario: Scenario, folders: Folders, plan: Plan | None, *, resume: bool) -> None:
    """InputError if one of the folders holds a run that would be lost, or that is another."""
    from flexpress.simulation.run_folder import check_run

    for algorithm, folder in folders.items():
        if folder:
            check_run(folder, scenario.replace(run={"algorithm": algorithm}), plan, resume=resume)


def plan_of_runs(folders: Folders) -> Path | None:
    """The plan of the runs that have begun, if any."""
    from flexpress.simulation.run_folder import CHECKPOINT

    begun = (place for place in folders.values() if place and (place / CHECKPOINT).exists())
    return next(begun, None)


@contextmanager
def shared_folder(
    scenario: Scenario, plan: Plan, folder: Path | None, folders: Folders
) -> Iterator[None]:
    """Several runs keep there what all of them have in common; a single one has its own folder."""
    from flexpress.planning import plan_to_json
    from flexpress.scenario.folder import PLAN, SCENARIO, write_files
    from flexpress.simulation.sole_use import sole_use

    if folder is None or len(folders) == 1:
        yield
        return
    with sole_use(folder):
        write_files(folder, {SCENARIO: scenario.to_toml(), PLAN: f"{plan_to_json(plan)}\n"})
        yield
