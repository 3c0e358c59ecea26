"""Simulate one algorithm or compare several, in memory or in run folders."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import get_args

from flexpress.arguments import check_all, check_callable, check_choice, check_path
from flexpress.callbacks import ShouldStop, Tell, ignore_note, never
from flexpress.errors import DivergedError, InputError
from flexpress.files.disk import PLAN, SCENARIO
from flexpress.files.lock import sole_use
from flexpress.files.provenance import Outputs
from flexpress.learning import Engine, Learner, Vector, make_learner
from flexpress.learning.job import check_learner, first_model
from flexpress.learning.on_ray import RayLearner
from flexpress.planning import Plan, load_plan, make_plan, plan_to_json
from flexpress.planning.plan_file import check_plan
from flexpress.planning.progress import OnProgress, ignore_progress
from flexpress.scenario import Algorithm, Scenario, check_scenario
from flexpress.simulation.events import Event, Update
from flexpress.simulation.head_start import memory_note
from flexpress.simulation.run_files import CHECKPOINT
from flexpress.simulation.run_folder import COMMAND, check_run, run_in_folder
from flexpress.simulation.run_names import RunName, compared_runs, head_start_of
from flexpress.simulation.simulate import Simulation, run
from flexpress.simulation.stored_run import is_begun
from flexpress.simulation.trace import Trace

_ALGORITHMS: tuple[Algorithm, ...] = get_args(Algorithm)

OnUpdate = Callable[[int, Vector], None]


@dataclass(frozen=True)
class RunProgress:
    """How far a simulation is."""

    name: str  # a RunName, or what distinguishes it from the other runs
    slot: int
    horizon: int
    accuracy: float | None  # of the last evaluation


@dataclass(frozen=True)
class RunsProgress:
    """How far many simulations are."""

    done: int  # runs that are over, including those of an earlier start
    total: int  # runs
    running: tuple[RunProgress, ...]


OnRun = Callable[[RunProgress], None]


def ignore_run(progress: RunProgress) -> None:
    """The default: no callback."""


def simulate(
    scenario: Scenario,
    plan: Plan | None = None,
    learner: Learner | None = None,
    *,
    algorithm: Algorithm | None = None,
    horizon: int | None = None,
    eval_every: int | None = None,
    head_start: float | None = None,
    preloaded: bool | None = None,
    engine: Engine = "auto",
    ray: str | None = None,
    out: str | Path | None = None,
    resume: bool = False,
    on_update: OnUpdate | None = None,
    on_progress: OnRun = ignore_run,
    on_planning: OnProgress = ignore_progress,
    should_stop: ShouldStop = never,
    tell: Tell = ignore_note,
) -> Trace:
    """Carry models along the plan up to the horizon; the scenario's [run] has the defaults.

    Without a plan, one is made as [plan] says; without a learner, `engine` and `ray` choose one.
    With `out`, the run is kept in this folder, and `resume` continues the run that it holds.
    `on_update(slot, model)` is called at slot 0 and after each change of the global model. When
    `should_stop` returns true, the run ends early. DivergedError if the loss is no longer finite;
    its `trace` reaches up to there.
    """
    scenario = _changed(
        scenario,
        algorithm=algorithm,
        horizon=horizon,
        eval_every=eval_every,
        head_start=head_start,
        preloaded=preloaded,
    )
    if on_update is not None:
        check_callable(on_update=on_update)
    callbacks = _Callbacks(on_progress, on_planning, should_stop, tell, on_update)
    single = compared_runs(scenario, [scenario.run.algorithm])
    runs = _Runs(scenario, single, _folder(out), Outputs(COMMAND), resume)
    with _prepared(runs, plan, learner, engine, ray, callbacks) as (chosen, trainer):
        (flown,) = single.values()
        simulation = Simulation(flown, chosen, trainer)
        return _run(simulation, runs.folder, callbacks, resume=resume)


def compare(
    scenario: Scenario,
    plan: Plan | None = None,
    learner: Learner | None = None,
    *,
    algorithms: Sequence[Algorithm] | None = None,
    horizon: int | None = None,
    eval_every: int | None = None,
    head_start: float | None = None,
    preloaded: bool | None = None,
    engine: Engine = "auto",
    ray: str | None = None,
    out: str | Path | None = None,
    resume: bool = False,
    inputs: Iterable[Path] = (),
    on_plan: Callable[[Plan], None] = lambda plan: None,
    on_progress: OnRun = ignore_run,
    on_planning: OnProgress = ignore_progress,
    should_stop: ShouldStop = never,
    tell: Tell = ignore_note,
) -> dict[RunName, Trace]:
    """Simulate several runs on one plan, with the same data and seed.

    These algorithms with the scenario's head start; by default FedEx-Sync and FedEx-Async as in the
    paper (`sync`, `async`), both with a head start (`sync-head-start`, `async-head-start`), and an
    ideal link (`direct`).
    With `out`, each run is kept in a folder of its name there; a single one in `out` itself. The
    `inputs` are files that must not be replaced. `on_plan` is called with the plan. If a run
    diverges, `tell` is called with the reason, and the others are simulated all the same.
    """
    scenario = _changed(
        scenario,
        horizon=horizon,
        eval_every=eval_every,
        head_start=head_start,
        preloaded=preloaded,
    )
    if algorithms is not None:
        check_all("algorithms", algorithms, str, f"name some of {', '.join(_ALGORITHMS)}")
        algorithms = [check_choice("algorithms", each, _ALGORITHMS) for each in algorithms]
    check_callable(on_plan=on_plan)
    callbacks = _Callbacks(on_progress, on_planning, should_stop, tell)
    outputs = Outputs(COMMAND, inputs)
    several = compared_runs(scenario, algorithms)
    runs = _Runs(scenario, several, _folder(out), outputs, resume)
    traces: dict[RunName, Trace] = {}
    with (
        _prepared(runs, plan, learner, engine, ray, callbacks) as (chosen, trainer),
        outputs,
        runs.shared_folder(chosen),
    ):
        on_plan(chosen)
        for name, place in runs.folders.items():
            # A function, so that the updates of one run are gone before the next begins.
            traces[name], over = _one_of_several(
                several[name], chosen, trainer, place, callbacks, resume=resume
            )
            if place and over:
                outputs.saved.append(place)
            if should_stop():
                break
    return traces


def _one_of_several(
    scenario: Scenario,
    plan: Plan,
    learner: Learner,
    place: Path | None,
    callbacks: _Callbacks,
    *,
    resume: bool,
) -> tuple[Trace, bool]:
    """The trace, and whether the run is over: complete, or diverged."""
    simulation = Simulation(scenario, plan, learner)
    try:
        _run(simulation, place, callbacks, resume=resume)
    except DivergedError as error:
        callbacks.tell(str(error))
        return simulation.trace(), True
    return simulation.trace(), simulation.complete


def run_folders(folder: Path | None, names: Collection[RunName]) -> Mapping[RunName, Path | None]:
    """A single run is kept in the folder itself; each of several in a folder within it."""
    if folder is None or len(names) == 1:
        return dict.fromkeys(names, folder)
    return {name: folder / name for name in names}


@dataclass(frozen=True)
class _Callbacks:
    on_progress: OnRun
    on_planning: OnProgress
    should_stop: ShouldStop
    tell: Tell
    on_update: OnUpdate | None = None

    def __post_init__(self) -> None:
        check_callable(
            on_progress=self.on_progress,
            on_planning=self.on_planning,
            should_stop=self.should_stop,
            tell=self.tell,
        )


@dataclass(frozen=True)
class _Runs:
    """The runs of one call, and where they are kept."""

    scenario: Scenario
    runs: Mapping[RunName, Scenario]
    folder: Path | None
    outputs: Outputs
    resume: bool

    @property
    def folders(self) -> Mapping[RunName, Path | None]:
        return run_folders(self.folder, self.runs)

    def check(self, plan: Plan | None, learner: Learner | None) -> None:
        """InputError now rather than after the work."""
        if self.folder is None:
            if self.resume:
                raise InputError("resume is given without out; name the folder of the run")
            return
        if len(self.runs) > 1:
            if (self.folder / CHECKPOINT).exists():
                raise InputError(
                    f"{self.folder}: holds a single run; name another folder for several"
                )
            self.outputs.check(self.folder, (SCENARIO, PLAN))
        for name, place in self.folders.items():
            assert place is not None
            check_run(place, self.runs[name], plan, self.outputs, learner, resume=self.resume)

    def tell_of_memory(self, learner: Learner, tell: Tell) -> None:
        """A head start is the default, and for many clients or a large model it is no trifle."""
        gamma = max(map(head_start_of, self.runs.values()))
        if gamma:
            note = memory_note(gamma, self.scenario.num_clients, first_model(learner))
            if note:
                tell(note)

    def stored_plan(self) -> Plan | None:
        """The plan of a run that is to be resumed."""
        begun = (place for place in self.folders.values() if place and is_begun(place))
        place = next(begun, None) if self.resume else None
        return load_plan(place / PLAN, self.scenario) if place else None

    @contextmanager
    def shared_folder(self, plan: Plan) -> Iterator[None]:
        """Several runs keep their scenario and plan in the folder that they share."""
        if self.folder is None or len(self.runs) == 1:
            yield
            return
        with sole_use(self.folder):
            files = [(SCENARIO, self.scenario.to_toml()), (PLAN, f"{plan_to_json(plan)}\n")]
            self.outputs.write(self.folder, files)
            self.outputs.saved.clear()  # without results they are worth nothing
            yield


@contextmanager
def _prepared(
    runs: _Runs,
    plan: Plan | None,
    learner: Learner | None,
    engine: Engine,
    ray: str | None,
    callbacks: _Callbacks,
) -> Iterator[tuple[Plan, Learner]]:
    """The plan and the learner; whatever may be refused is refused before they are made."""
    if plan is not None:
        check_plan(runs.scenario, plan)
    if learner is not None:
        check_learner(learner)
    runs.check(plan, learner)
    chosen = runs.stored_plan() if plan is None else plan
    with _trainer(runs.scenario, learner, engine, ray, callbacks.tell) as trainer:
        if chosen is None:
            chosen = make_plan(
                runs.scenario,
                on_progress=callbacks.on_planning,
                should_stop=callbacks.should_stop,
            )
        runs.check(chosen, trainer)
        runs.tell_of_memory(trainer, callbacks.tell)
        yield chosen, trainer


@contextmanager
def _trainer(
    scenario: Scenario, learner: Learner | None, engine: Engine, ray: str | None, tell: Tell
) -> Iterator[Learner]:
    """The learner that is given, or else the scenario's, here or on a Ray cluster."""
    if learner is not None:
        if ray is not None or engine != "auto":
            option = "engine" if ray is None else "ray"
            raise InputError(f"learner and {option} are both given; give one of them")
        yield learner
    elif ray is None:
        yield make_learner(scenario, engine=engine, tell=tell)
    else:
        with RayLearner(scenario, address=ray, engine=engine, tell=tell) as trainer:
            yield trainer


def _run(
    simulation: Simulation, folder: Path | None, callbacks: _Callbacks, *, resume: bool
) -> Trace:
    on_update, on_progress = callbacks.on_update, callbacks.on_progress

    def on_event(event: Event) -> None:
        if on_update and isinstance(event, Update):
            on_update(event.slot, simulation.model)
        on_progress(_progress_of(simulation))

    if on_update:
        on_update(0, simulation.model)
    on_progress(_progress_of(simulation))
    work = partial(run_in_folder, folder=folder, resume=resume) if folder else run
    return work(simulation, on_event=on_event, should_stop=callbacks.should_stop)


def _progress_of(simulation: Simulation) -> RunProgress:
    horizon, metrics = simulation.scenario.run.horizon, simulation.metrics
    accuracy = metrics[-1].accuracy if metrics else None
    return RunProgress(simulation.name, simulation.slot, horizon, accuracy)


def _changed(scenario: Scenario, **changes: object) -> Scenario:
    """The scenario with those settings of [run] that are given."""
    check_scenario(scenario)
    given = {key: value for key, value in changes.items() if value is not None}
    return scenario.replace(run=given)


def _folder(out: str | Path | None) -> Path | None:
    return None if out is None else check_path("out", out)
