"""The reproduction at work on the terminal: all runs that are missing, then the page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from flexpress.cli.interrupt import interruptible
from flexpress.cli.run_board import Board, shown
from flexpress.cli.terminal import complain

if TYPE_CHECKING:
    from flexpress.experiments.figures import Figure
    from flexpress.experiments.run import Run
    from flexpress.experiments.setting import Scale
    from flexpress.experiments.study import Study

RUNS, FIGURES, PAGE = "runs", "figures", "report.html"
JOBS = 2


def carry_out(
    figures: Sequence[Figure],
    scale: Scale,
    folder: Path,
    *,
    networks: int,
    seeds: int | None,
    jobs: int | None,
    ray: str | None,
    command: str,
) -> Path | None:
    """The page; None if it was interrupted before all runs were done."""
    from flexpress.experiments.run import COMMAND
    from flexpress.experiments.study import make_study
    from flexpress.files.provenance import Outputs
    from flexpress.workers.cluster import connected

    outputs = Outputs(COMMAND)
    outputs.check(folder, (PAGE,))
    for name in (RUNS, FIGURES):
        outputs.check(folder / name, ())
    with connected(ray, jobs):
        study = make_study(figures, scale, networks=networks, seeds=seeds, tell=complain)
        if not run_missing(study, folder / RUNS, jobs, on_ray=ray is not None):
            return None
    from flexpress.experiments.page import reproduction_page
    from flexpress.report.page.html import write_page

    with outputs:
        outputs.saved.append(folder / RUNS)
        page = reproduction_page(figures, study, folder / RUNS, command=command)
        write_page(page, folder / PAGE, outputs)
    return folder / PAGE


def run_missing(study: Study, folder: Path, jobs: int | None, *, on_ray: bool = False) -> bool:
    """False if it was interrupted; what is done is kept."""
    from flexpress.experiments.parallel import RunProgress
    from flexpress.experiments.run import is_kept

    missing = {key: run for key, run in study.runs.items() if not is_kept(run, folder / key)}
    if missing and not on_ray:
        compile_engine()
    board = Board(study.scale.horizon, len(study.runs), len(study.runs) - len(missing))
    with interruptible() as stop, shown(board, stop.requested) as refresh:

        def on_start(key: str) -> None:
            board.begin(key, label(study.runs[key]))
            refresh()

        def on_progress(progress: RunProgress) -> None:
            board.tell(progress.key, progress.slot, progress.accuracy)
            refresh()

        def on_end(key: str) -> None:
            board.end(key)
            refresh()

        whole = performer(jobs, on_ray=on_ray)(
            missing,
            folder,
            on_start=on_start,
            on_progress=on_progress,
            on_end=on_end,
            should_stop=stop.requested,
        )
    if not whole:
        complain(f"interrupted: {board.line}; start again to go on")
    return whole


def compile_engine() -> None:
    """And say so; else every process of the runs would compile it, in silence."""
    from flexpress.learning import make_learner
    from flexpress.scenario import Scenario

    make_learner(Scenario.preset("paper"), threads=1, tell=complain)


def performer(jobs: int | None, *, on_ray: bool) -> Callable[..., bool]:
    """What runs them: processes here, or the Ray cluster that we are connected to."""
    if on_ray:
        from flexpress.experiments.parallel import run_on_ray

        return partial(run_on_ray, jobs=jobs)
    from flexpress.experiments.parallel import run_in_processes

    return partial(run_in_processes, jobs=jobs or JOBS)


def label(run: Run) -> str:
    """What tells it from the others."""
    from flexpress.experiments.setting import Setting

    setting, usual = run.setting, Setting("sync", "minmax")
    words: list[str] = [setting.algorithm, setting.objective, setting.dataset, setting.partition]
    if setting.clock == "slots":
        words.append("slots")
    if setting.transporters != usual.transporters:
        words.append(f"K = {setting.transporters}")
    if setting.speed != usual.speed:
        words.append(f"{setting.speed:g} m/s")
    if setting.budget is not None and setting.budget != usual.budget:
        words.append(f"{setting.budget / 1e3:g} kJ")
    words.append(f"seed {run.seed}")
    if run.network:
        words.append(f"network {run.network}")
    return " ".join(words)
