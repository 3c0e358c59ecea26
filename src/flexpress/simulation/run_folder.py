"""A run as a folder that survives Ctrl-C and kill -9: what happened, how good, and how to go on.

`scenario-used.toml` and `plan.json` say what was run, `trace.jsonl` has one line an event,
`metrics.csv` one an evaluation. `checkpoint` tells what the run is made of, and how long these two
were when it was written: a run that is taken up again cuts them there, and then writes the very
same bytes as one that was never disturbed. `model.npy` is the global model at the horizon: it is
there when a run is complete.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable
from pathlib import Path

import numpy as np

from flexpress.errors import DivergedError, InputError
from flexpress.files.disk import PLAN, SCENARIO, check_folder, read_text, remove_drafts
from flexpress.files.growing import REMEDY, check_beginning
from flexpress.files.lock import sole_use
from flexpress.files.provenance import Outputs, add_line, digest, why_not_own
from flexpress.learning import Learner, Vector
from flexpress.planning import Plan, load_plan, plan_to_json
from flexpress.scenario import Scenario
from flexpress.simulation.checkpoint import MODEL as MODEL_ARRAY
from flexpress.simulation.checkpoint import Header, load_checkpoint, restore
from flexpress.simulation.events import Event
from flexpress.simulation.origin import (
    comparable,
    difference,
    kind_of,
    origin_of,
    what_differs,
)
from flexpress.simulation.recorder import COLUMNS, METRICS, TRACE, Recorder, read_metrics
from flexpress.simulation.simulate import Simulation
from flexpress.simulation.trace import Trace

CHECKPOINT, MODEL = "checkpoint", "model.npy"
RUN_FILES = (SCENARIO, PLAN, TRACE, METRICS, CHECKPOINT, MODEL)
COMMAND = "simulate"


def run_in_folder(
    simulation: Simulation,
    folder: Path,
    *,
    resume: bool = False,
    command: str = COMMAND,
    on_event: Callable[[Event], None] = lambda event: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Trace:
    """Simulate, and keep everything in the folder, as files of this command.

    With `resume` a run that is there is taken up where its checkpoint was written.
    """
    with sole_use(folder):
        start = prepare(simulation, folder, Outputs(command), resume=resume)
        with Recorder(folder, folder / CHECKPOINT, simulation, start) as recorder:
            try:
                play(simulation, recorder, on_event, should_stop)
            except DivergedError as error:
                recorder.checkpoint(diverged=True)
                note_files(folder, command)
                raise DivergedError(f"{error}; all before is in {folder}", error.trace) from None
            except InputError as error:
                raise InputError(f"{error}{how_to_go_on(folder, recorder)}") from None
        note_files(folder, command)
        if simulation.complete:
            Outputs(command).write(folder, [(MODEL, npy(simulation.model))])
    return simulation.trace()


def play(
    simulation: Simulation,
    recorder: Recorder,
    on_event: Callable[[Event], None],
    should_stop: Callable[[], bool],
) -> None:
    """To the horizon, or until it is asked to stop."""
    for event in simulation.play(should_stop):
        recorder.record(event)
        on_event(event)
    # Not after an exception: an abort may fall between an event and its line.
    recorder.checkpoint()
    if simulation.complete:
        recorder.finish()


def how_to_go_on(folder: Path, recorder: Recorder) -> str:
    """After a full disk, say."""
    if recorder.saved_slot is None:
        return "; nothing of the run is saved"
    return f"; all up to slot {recorder.saved_slot} is saved in {folder}: --resume goes on"


def prepare(simulation: Simulation, folder: Path, outputs: Outputs, *, resume: bool) -> Header:
    """Where the run starts, and how far its files are."""
    scenario, plan, learner = simulation.scenario, simulation.plan, simulation.learner
    check_run(folder, scenario, plan, outputs, learner, resume=resume)
    take_up = resume and is_begun(folder)
    for name in RUN_FILES:
        remove_drafts(folder / name)
    return go_on(simulation, folder, outputs) if take_up else begin(simulation, folder, outputs)


def begin(simulation: Simulation, folder: Path, outputs: Outputs) -> Header:
    """A folder in which nothing has happened yet."""
    for name in (CHECKPOINT, MODEL, TRACE, METRICS):
        (folder / name).unlink(missing_ok=True)
    scenario, plan = simulation.scenario, simulation.plan
    outputs.write(folder, [(SCENARIO, scenario.to_toml()), (PLAN, f"{plan_to_json(plan)}\n")])
    outputs.write(folder, [(TRACE, ""), (METRICS, COLUMNS)])
    nothing, columns = (hashlib.sha256(text.encode()).hexdigest() for text in ("", COLUMNS))
    return Header(
        kind_of(simulation.learner),
        origin_of(scenario, plan, simulation.learner),
        slot=0,
        num_events=0,
        trace_bytes=0,
        trace_sha256=nothing,
        metrics_bytes=len(COLUMNS),
        metrics_sha256=columns,
    )


def go_on(simulation: Simulation, folder: Path, outputs: Outputs) -> Header:
    """The simulation and the files as they were at the checkpoint; the horizon may be another."""
    header, arrays = load_checkpoint(folder / CHECKPOINT)
    restore(simulation, header, arrays)
    simulation.metrics = read_metrics(folder / METRICS, header.metrics_bytes)
    text = simulation.scenario.to_toml()
    if text != read_text(folder / SCENARIO):
        outputs.write(folder, [(SCENARIO, text)])
    (folder / MODEL).unlink(missing_ok=True)
    return header


def check_run(
    folder: Path,
    scenario: Scenario,
    plan: Plan | None,
    outputs: Outputs,
    learner: Learner | None = None,
    *,
    resume: bool,
) -> None:
    """InputError if the folder holds what would be lost, or a run that cannot be gone on with.

    Changes nothing. Plan and learner may be left out as long as there are none.
    """
    if not (resume and is_begun(folder)):
        if is_begun(folder) and not is_over(folder):
            raise InputError(
                f"{folder}: holds a run that is not complete; "
                "go on with it by --resume, or name another folder"
            )
        # Without a checkpoint, a run was killed soon after it began, and leaves nothing to lose.
        growing = () if is_over(folder) else (TRACE, METRICS)
        outputs.check(folder, [name for name in RUN_FILES if name not in growing], growing)
        return
    check_folder(folder, RUN_FILES)
    check_files(folder, outputs.command)
    stored = Scenario.load(folder / SCENARIO)
    key = difference(comparable(stored), comparable(scenario))
    if key:
        raise InputError(f"{folder}: its run has another {key}; resume it as it was begun")
    if plan and load_plan(folder / PLAN, stored).transporters != plan.transporters:
        raise InputError(f"{folder}: its run has another plan; resume it as it was begun")
    if plan and learner:
        check_origin(folder, scenario, plan, learner)


def check_files(folder: Path, command: str) -> None:
    """InputError if another command wrote the files of the run, or somebody changed them since.

    After a kill those that grow may be longer than the checkpoint says, and only that.
    """
    header, _ = load_checkpoint(folder / CHECKPOINT)
    complete = (folder / MODEL).exists()
    for name in RUN_FILES if complete else (SCENARIO, PLAN):
        fault = why_not_own(folder / name, command)
        if fault:
            raise InputError(f"{folder / name}: {fault}; {REMEDY}")
    check_beginning(folder / TRACE, header.trace_bytes, header.trace_sha256)
    check_beginning(folder / METRICS, header.metrics_bytes, header.metrics_sha256)
    read_metrics(folder / METRICS, header.metrics_bytes)


def check_origin(folder: Path, scenario: Scenario, plan: Plan, learner: Learner) -> None:
    """InputError if the run in the folder was begun with anything else."""
    header, arrays = load_checkpoint(folder / CHECKPOINT)
    kind, models = kind_of(learner), (learner.initial_model(), arrays[MODEL_ARRAY])
    if header.learner != kind:
        raise InputError(
            f"{folder}: its run was trained by {header.learner}, not by {kind}; "
            "go on with the same --engine, with or without --ray as before"
        )
    ours, theirs = (f"{model.size:,} of {model.dtype}" for model in models)
    if ours != theirs:
        raise InputError(
            f"{folder}: its models have {theirs} parameters, and now they have {ours}; "
            "go on with the model and the data that it was begun with"
        )
    other = what_differs(header.origin, origin_of(scenario, plan, learner))
    if other:
        raise InputError(
            f"{folder}: its run was made with {other}; "
            "resume it as it was begun, or simulate again into another folder"
        )
    horizon = scenario.run.horizon
    if header.slot > horizon:
        raise InputError(
            f"run.horizon = {horizon}: the run in {folder} is at slot {header.slot} already; "
            "give at least that"
        )


def is_begun(folder: Path) -> bool:
    """Whether there is a run that can be gone on with."""
    return (folder / CHECKPOINT).exists()


def is_over(folder: Path) -> bool:
    """Complete, or diverged: there is nothing to go on with."""
    if (folder / MODEL).exists():
        return True
    return is_begun(folder) and load_checkpoint(folder / CHECKPOINT)[0].diverged


def note_files(folder: Path, command: str) -> None:
    """The files that grew are as they shall stay: put their digests on record."""
    for name in (TRACE, METRICS, CHECKPOINT):
        add_line(folder / name, command, digest(folder / name))


def npy(model: Vector) -> bytes:
    content = io.BytesIO()
    np.save(content, model)
    return content.getvalue()
