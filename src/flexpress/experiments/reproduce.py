"""Reproduce the paper: all runs that are missing, then the page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from flexpress.arguments import check_callable, check_path, check_whole, nearest, refusal
from flexpress.callbacks import ShouldStop, Tell, ignore_note, never
from flexpress.errors import InputError
from flexpress.experiments.figures import FIGURES, Figure
from flexpress.experiments.page import reproduction_page
from flexpress.experiments.parallel import RunEvaluation, run_in_processes, run_on_ray
from flexpress.experiments.protocol import Scale, as_paper, protocol
from flexpress.experiments.run import COMMAND, Run, is_kept
from flexpress.experiments.setting import Setting
from flexpress.experiments.study import Study, make_study
from flexpress.experiments.sweeps import SWEEP_NAMES, Sweep, sweeps_of
from flexpress.files.provenance import Outputs
from flexpress.learning import make_learner
from flexpress.report.folder import OUT
from flexpress.report.page.html import FIGURES_FOLDER, REPORT, write_page
from flexpress.scenario import Scenario
from flexpress.simulation.compare import RunProgress, RunsProgress
from flexpress.workers.cluster import connected

_RUNS, _PLANS = "runs", "plans"
_JOBS = 2


OnRuns = Callable[[RunsProgress], None]


def reproduce(
    *,
    figures: Sequence[str] = (),
    seeds: int | None = None,
    networks: int | None = None,
    quick: bool = False,
    jobs: int | None = None,
    ray: str | None = None,
    out: str | Path | None = None,
    on_progress: OnRuns = lambda progress: None,
    should_stop: ShouldStop = never,
    tell: Tell = ignore_note,
) -> Path | None:
    """Run the paper's experiments, and write the page with its figures and claims.

    By default all figures, with the networks and seeds of the protocol in the package (`quick`: its
    quick part), and 2 `jobs` at a time (with `ray` one per core of the cluster), in a folder of
    flexpress-out. One network is the paper's: then there are more seeds, and the sweeps are left
    out unless they are named. Runs that the folder holds are used. Returns the page, or None if
    `should_stop` returned true before all runs were done.
    """
    _check_names(figures)
    for name, number in {"seeds": seeds, "networks": networks, "jobs": jobs}.items():
        if number is not None:
            check_whole(name, number, 1)
    check_callable(on_progress=on_progress, should_stop=should_stop, tell=tell)
    scale = _scale_of(quick, networks)
    chosen, sweeps = _chosen(figures, scale)
    usual = OUT / ("reproduction-quick" if quick else "reproduction")
    folder = usual if out is None else check_path("out", out)
    outputs = _outputs_in(folder)
    with connected(ray, jobs):
        settings = [*_settings_of(chosen), *(each for sweep in sweeps for each in sweep.settings)]
        study = make_study(
            settings,
            scale,
            networks=networks,
            seeds=seeds,
            plans=folder / _PLANS,
            jobs=jobs or _JOBS,
            tell=tell,
        )
        place, on_ray = folder / _RUNS, ray is not None
        if not _run_missing(study, place, jobs, on_progress, should_stop, tell, on_ray=on_ray):
            return None
    with outputs:
        outputs.saved.append(folder / _RUNS)
        command = _command_text(quick, seeds, networks)
        page = reproduction_page(chosen, sweeps, study, folder / _RUNS, command=command)
        write_page(page, folder / REPORT, outputs)
    return folder / REPORT


def _outputs_in(folder: Path) -> Outputs:
    """InputError if something else would be lost there."""
    outputs = Outputs(COMMAND)
    outputs.check(folder, (REPORT,))
    for name in (_RUNS, _PLANS, FIGURES_FOLDER):
        outputs.check(folder / name, ())
    return outputs


def _check_names(names: Sequence[str]) -> None:
    if isinstance(names, str):
        raise refusal("figures", names, "a list of names")
    known = [*(figure.name for figure in FIGURES), *SWEEP_NAMES]
    for name in names:
        if name not in known:
            hint = nearest(name, known)
            raise InputError(f'no figure "{name}"{hint}; there are: {", ".join(known)}')


def _scale_of(quick: bool, networks: int | None) -> Scale:
    its = protocol()
    return its.quick if quick else its.single if networks == 1 else its.full


def _chosen(names: Sequence[str], scale: Scale) -> tuple[tuple[Figure, ...], tuple[Sweep, ...]]:
    """Those of these names, by default all of the scale, in the order of the page.

    A sweep that is named has the points of the full protocol where the scale has none.
    """
    figures = tuple(figure for figure in FIGURES if not names or figure.name in names)
    every = sweeps_of(scale) or (sweeps_of(protocol().full) if names else ())
    return figures, tuple(sweep for sweep in every if not names or sweep.name in names)


def _settings_of(figures: Sequence[Figure]) -> list[Setting]:
    """All lines, in both readings."""
    return [
        line.read_as(reading).setting
        for reading in protocol().readings
        for figure in figures
        for line in figure.lines
    ]


def _command_text(quick: bool, seeds: int | None, networks: int | None) -> str:
    """The command that gives the same numbers again."""
    words = ["flexpress reproduce"]
    if quick:
        words.append("--quick")
    if seeds is not None:
        words.append(f"--seeds {seeds}")
    if networks is not None:
        words.append(f"--networks {networks}")
    return " ".join(words)


@dataclass
class _Progress:
    """Keeps count of the runs for the callback."""

    study: Study
    on_progress: OnRuns
    done: int
    running: dict[str, RunProgress] = field(default_factory=dict)

    def start(self, key: str) -> None:
        self._set(key, 0, None)

    def evaluated(self, run: RunEvaluation) -> None:
        self._set(run.key, run.slot, run.accuracy)

    def end(self, key: str) -> None:
        del self.running[key]
        self.done += 1
        self._report()

    def _set(self, key: str, slot: int, accuracy: float | None) -> None:
        run = self.study.runs[key]
        horizon = run.scenario.run.horizon
        self.running[key] = RunProgress(_run_label(run), slot, horizon, accuracy)
        self._report()

    def _report(self) -> None:
        running = tuple(self.running.values())
        self.on_progress(RunsProgress(self.done, len(self.study.runs), running))


def _run_missing(
    study: Study,
    folder: Path,
    jobs: int | None,
    on_progress: OnRuns,
    should_stop: ShouldStop,
    tell: Tell,
    *,
    on_ray: bool,
) -> bool:
    """Runs that are neither complete nor diverged; False if it was stopped before the end."""
    missing = {key: run for key, run in study.runs.items() if not is_kept(run, folder / key)}
    if missing and not on_ray:
        # Otherwise the process of every run would compile the engine, silently.
        make_learner(Scenario.preset("paper"), threads=1, tell=tell)
    progress = _Progress(study, on_progress, len(study.runs) - len(missing))
    perform: Callable[..., bool] = (
        partial(run_on_ray, jobs=jobs) if on_ray else partial(run_in_processes, jobs=jobs or _JOBS)
    )
    return perform(
        missing,
        folder,
        on_start=progress.start,
        on_progress=progress.evaluated,
        on_end=progress.end,
        should_stop=should_stop,
    )


def _run_label(run: Run) -> str:
    """What distinguishes a run from the others."""
    setting, usual = run.setting, Setting("sync", "minmax")
    words: list[str] = [setting.algorithm, setting.objective, setting.dataset, setting.partition]
    if setting.reading != as_paper():
        words.append(setting.reading.name)
    if setting.remote is not None:
        words.append(f"remote {setting.remote:g} km")
    if setting.transporters != usual.transporters:
        words.append(f"K = {setting.transporters}")
    if setting.speed != usual.speed:
        words.append(f"{setting.speed:g} m/s")
    if setting.budget is not None and setting.budget != usual.budget:
        words.append(f"{setting.budget / 1e3:g} kJ")
    if setting.learning_rate is not None:
        words.append(f"rate {setting.learning_rate:g}")
    if setting.server_rule != usual.server_rule:
        words.append("by landed")
    if setting.head_start:
        words.append("head start")
    words += [f"network {run.network}", f"seed {run.seed}"]
    return " ".join(words)
