"""Where simulations of one command go, and whether they may: before any work is done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from flexpress.errors import InputError

if TYPE_CHECKING:
    from flexpress.files.provenance import Outputs
    from flexpress.learning import Learner
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
    scenario: Scenario,
    folder: Path | None,
    folders: Folders,
    outputs: Outputs,
    plan: Plan | None = None,
    learner: Learner | None = None,
    *,
    resume: bool,
) -> None:
    """InputError now rather than after the work; once more when there are a plan and a learner."""
    from flexpress.files.disk import PLAN, SCENARIO
    from flexpress.simulation.run_files import CHECKPOINT
    from flexpress.simulation.run_folder import check_run

    if folder is None:
        return
    several = len(folders) > 1
    if several and (folder / CHECKPOINT).exists():
        raise InputError(f"{folder}: holds a single run; name another folder for several")
    outputs.check(folder, (SCENARIO, PLAN, CURVES) if several else (CURVES,))
    for algorithm, place in folders.items():
        if place:
            chosen = scenario.replace(run={"algorithm": algorithm})
            check_run(place, chosen, plan, outputs, learner, resume=resume)


def plan_of_runs(folders: Folders) -> Path | None:
    """The plan of the runs that have begun, if any."""
    from flexpress.simulation.run_files import CHECKPOINT

    begun = (place for place in folders.values() if place and (place / CHECKPOINT).exists())
    return next(begun, None)


@contextmanager
def shared_folder(
    scenario: Scenario, plan: Plan, folder: Path | None, folders: Folders, outputs: Outputs
) -> Iterator[None]:
    """Several runs keep there what all of them have in common; a single one has its own folder."""
    from flexpress.files.disk import PLAN, SCENARIO
    from flexpress.files.lock import sole_use
    from flexpress.planning import plan_to_json

    if folder is None or len(folders) == 1:
        yield
        return
    with sole_use(folder):
        files = [(SCENARIO, scenario.to_toml()), (PLAN, f"{plan_to_json(plan)}\n")]
        outputs.write(folder, files)
        outputs.saved.clear()  # a run without its results is nothing yet
        yield
