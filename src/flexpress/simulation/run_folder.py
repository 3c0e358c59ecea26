"""A run as a folder that survives Ctrl-C and kill -9: what happened, how good, and how to go on.

`scenario-used.toml` and `plan.json` say what was run, `trace.jsonl` has one line an event,
`metrics.csv` one an evaluation. `checkpoint` tells how long these two were when it was written:
a run that is taken up again cuts them there, and then writes the very same bytes as one that was
never disturbed. `model.npy` is the global model at the horizon: it is there when a run is complete.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from flexpress.errors import DivergedError, InputError
from flexpress.learning import Learner
from flexpress.learning.summing import SummingLearner
from flexpress.planning import Plan, load_plan, plan_to_json
from flexpress.scenario import Scenario
from flexpress.scenario.files import write_file
from flexpress.scenario.folder import PLAN, SCENARIO, write_files
from flexpress.simulation.checkpoint import MODEL as MODEL_ARRAY
from flexpress.simulation.checkpoint import Header, load_checkpoint, restore
from flexpress.simulation.events import Event
from flexpress.simulation.recorder import COLUMNS, METRICS, TRACE, Recorder, read_metrics
from flexpress.simulation.simulate import Simulation
from flexpress.simulation.sole_use import sole_use
from flexpress.simulation.trace import Trace

CHECKPOINT, MODEL = "checkpoint", "model.npy"
RUN_FILES = (SCENARIO, PLAN, TRACE, METRICS, CHECKPOINT, MODEL)


def run_in_folder(
    simulation: Simulation,
    folder: Path,
    *,
    resume: bool = False,
    on_event: Callable[[Event], None] = lambda event: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Trace:
    """Simulate, and keep everything in the folder.

    With `resume` a run that is there is taken up where its checkpoint was written.
    """
    with sole_use(folder):
        start = prepare(simulation, folder, resume=resume)
        with Recorder(folder, folder / CHECKPOINT, simulation, start) as recorder:
            try:
                for event in simulation.play(should_stop):
                    recorder.record(event)
                    on_event(event)
                # Not after an exception: an abort may fall between an event and its line.
                recorder.checkpoint()
                if simulation.complete:
                    recorder.finish()
                    write_model(folder / MODEL, simulation)
            except DivergedError as error:
                recorder.checkpoint(diverged=True)
                raise DivergedError(f"{error}; all before is in {folder}", error.trace) from None
    return simulation.trace()


def prepare(simulation: Simulation, folder: Path, *, resume: bool) -> Header:
    """Where the run starts, and how far its files are."""
    scenario, plan = simulation.scenario, simulation.plan
    check_run(folder, scenario, plan, resume=resume)
    for draft in folder.glob(".*.*.part"):  # of a process that was killed while it wrote
        draft.unlink()
    take_up = resume and (folder / CHECKPOINT).exists()
    start = go_on(simulation, folder) if take_up else begin(simulation, folder)
    write_files(folder, {SCENARIO: scenario.to_toml(), PLAN: f"{plan_to_json(plan)}\n"})
    return start


def begin(simulation: Simulation, folder: Path) -> Header:
    """A folder in which nothing has happened yet."""
    for name in (CHECKPOINT, MODEL):
        (folder / name).unlink(missing_ok=True)
    write_files(folder, {TRACE: "", METRICS: COLUMNS})
    learner = kind_of(simulation.learner)
    return Header(learner, slot=0, num_events=0, trace_bytes=0, metrics_bytes=len(COLUMNS))


def go_on(simulation: Simulation, folder: Path) -> Header:
    """The simulation and the files as they were at the checkpoint."""
    header, arrays = load_checkpoint(folder / CHECKPOINT)
    learner = kind_of(simulation.learner)
    if header.learner != learner:
        raise InputError(
            f"{folder}: its run was trained by {header.learner}, not by {learner}; "
            "go on with the same --engine, with or without --ray as before"
        )
    ours, theirs = (f"{x.size:,} of {x.dtype}" for x in (simulation.model, arrays[MODEL_ARRAY]))
    if ours != theirs:
        raise InputError(
            f"{folder}: its models have {theirs} parameters, and now they have {ours}; "
            "go on with the model and the data that it was begun with"
        )
    horizon = simulation.scenario.run.horizon
    if header.slot > horizon:
        raise InputError(
            f"run.horizon = {horizon}: the run in {folder} is at slot {header.slot} already; "
            "give at least that"
        )
    restore(simulation, header, arrays)
    (folder / MODEL).unlink(missing_ok=True)
    simulation.metrics = read_metrics(folder / METRICS, header.metrics_bytes)
    return header


def kind_of(learner: Learner) -> str:
    """What must be the same for the same bytes."""
    return learner.kind if isinstance(learner, SummingLearner) else type(learner).__name__


def check_run(folder: Path, scenario: Scenario, plan: Plan | None, *, resume: bool) -> None:
    """InputError if the folder holds a run that would be lost, or that cannot be gone on with."""
    begun = (folder / CHECKPOINT).exists()
    if not resume:
        if begun and not is_over(folder):
            raise InputError(
                f"{folder}: holds a run that is not complete; "
                "go on with it by --resume, or name another folder"
            )
        return
    if not begun:
        return
    stored = Scenario.load(folder / SCENARIO)
    key = difference(comparable(stored), comparable(scenario))
    if key:
        raise InputError(f"{folder}: its run has another {key}; resume it as it was begun")
    if plan and load_plan(folder / PLAN, stored).transporters != plan.transporters:
        raise InputError(f"{folder}: its run has another plan; resume it as it was begun")


def is_over(folder: Path) -> bool:
    """Complete, or diverged: there is nothing to go on with."""
    return (folder / MODEL).exists() or load_checkpoint(folder / CHECKPOINT)[0].diverged


def comparable(scenario: Scenario) -> Mapping[str, object]:
    """All but how long it runs, and where its data lie."""
    return scenario.replace(run={"horizon": None}, learning={"data_dir": None}).to_dict()


def difference(one: Mapping[str, object], other: Mapping[str, object]) -> str:
    """The first key, dotted, in which two nested mappings differ; or nothing."""
    for key in [*one, *(key for key in other if key not in one)]:
        ours, theirs = one.get(key), other.get(key)
        if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
            inner = difference(ours, theirs)
            if inner:
                return f"{key}.{inner}"
        elif ours != theirs:
            return key
    return ""


def write_model(path: Path, simulation: Simulation) -> None:
    content = io.BytesIO()
    np.save(content, simulation.model)
    write_file(path, content.getvalue())
