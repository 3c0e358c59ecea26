"""A run in a folder, which survives Ctrl-C and kill -9 and can be resumed.

`scenario-used.toml` and `plan.json` say what was run; `run_files` describes `trace.jsonl`,
`metrics.csv` and `checkpoint`. To resume, these two are cut to the lengths in the checkpoint; the
run then writes the same bytes as one that was never interrupted. `model.npy` is the global model
at the horizon. It exists once the run is complete.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable
from pathlib import Path

import numpy as np

from flexpress.callbacks import ShouldStop, never
from flexpress.errors import DivergedError, InputError
from flexpress.files.disk import PLAN, SCENARIO, check_folder, read_text, remove_drafts
from flexpress.files.growing import REMEDY, check_beginning
from flexpress.files.lock import sole_use
from flexpress.files.provenance import Outputs, add_line, digest, why_not_own
from flexpress.learning import Learner, Vector
from flexpress.planning import Plan, load_plan, plan_to_json
from flexpress.scenario import Scenario
from flexpress.simulation.events import Event
from flexpress.simulation.origin import (
    comparable,
    difference,
    kind_of,
    origin_of,
    what_differs,
)
from flexpress.simulation.run_files import (
    CHECKPOINT,
    MODEL,
    MODEL_ARRAY,
    RUN_FILES,
    Header,
    RunWriter,
    load_checkpoint,
    restore,
)
from flexpress.simulation.run_lines import COLUMNS, METRICS, TRACE, Written, read_metrics
from flexpress.simulation.simulate import Simulation
from flexpress.simulation.stored_run import is_begun, is_over, stored_scenario
from flexpress.simulation.trace import Trace

COMMAND = "simulate"


def run_in_folder(
    simulation: Simulation,
    folder: Path,
    *,
    resume: bool = False,
    command: str = COMMAND,
    on_event: Callable[[Event], None] = lambda event: None,
    should_stop: ShouldStop = never,
) -> Trace:
    """Simulate, and keep everything in the folder, as files of this command.

    With `resume`, a run in the folder continues from its checkpoint.
    """
    with sole_use(folder):
        start = _prepare(simulation, folder, Outputs(command), resume=resume)
        with RunWriter(folder, simulation, start) as writer:
            try:
                play(simulation, writer, on_event, should_stop)
            except DivergedError as error:
                writer.checkpoint(diverged=True)
                note_files(folder, command)
                raise DivergedError(f"{error}; all before is in {folder}", error.trace) from None
            except InputError as error:
                raise InputError(f"{error}{_what_is_saved(folder, writer)}") from None
        note_files(folder, command)
        if simulation.complete:
            save_model(folder, simulation.model, Outputs(command))
    return simulation.trace()


def play(
    simulation: Simulation,
    writer: RunWriter,
    on_event: Callable[[Event], None],
    should_stop: ShouldStop,
) -> None:
    """Run to the horizon, or until `should_stop` returns True."""
    for event in simulation.play(should_stop):
        writer.record(event)
        on_event(event)
    # Not after an exception: it may have come between an event and its line.
    writer.checkpoint()
    if simulation.complete:
        writer.finish()


def _what_is_saved(folder: Path, writer: RunWriter) -> str:
    """For the error message, after a full disk for example."""
    if writer.saved_slot is None:
        return "; nothing of the run is saved"
    return f"; saved up to slot {writer.saved_slot} in {folder}: continue with --resume"


def _prepare(simulation: Simulation, folder: Path, outputs: Outputs, *, resume: bool) -> Header:
    """Check the folder, and bring simulation and files to where the run starts."""
    scenario, plan, learner = simulation.scenario, simulation.plan, simulation.learner
    check_run(folder, scenario, plan, outputs, learner, resume=resume)
    resume = resume and is_begun(folder)
    for name in RUN_FILES:
        remove_drafts(folder / name)
    return (_continue_run if resume else _begin)(simulation, folder, outputs)


def _begin(simulation: Simulation, folder: Path, outputs: Outputs) -> Header:
    """The header of a run in which nothing has happened yet."""
    scenario, plan = simulation.scenario, simulation.plan
    written = begin_files(folder, scenario, plan, outputs)
    return first_header(scenario, plan, simulation.learner, written)


def begin_files(folder: Path, scenario: Scenario, plan: Plan, outputs: Outputs) -> Written:
    """Write the files of a run in which nothing has happened yet."""
    for name in (CHECKPOINT, MODEL, TRACE, METRICS):
        (folder / name).unlink(missing_ok=True)
    outputs.write(folder, [(SCENARIO, scenario.to_toml()), (PLAN, f"{plan_to_json(plan)}\n")])
    outputs.write(folder, [(TRACE, ""), (METRICS, COLUMNS)])
    nothing, columns = (hashlib.sha256(text.encode()).hexdigest() for text in ("", COLUMNS))
    return Written(0, nothing, len(COLUMNS), columns)


def first_header(scenario: Scenario, plan: Plan, learner: Learner, written: Written) -> Header:
    """Of a run that is made of these."""
    origin = origin_of(scenario, plan, learner)
    return Header(kind_of(learner), origin, slot=0, num_events=0, **vars(written))


def _continue_run(simulation: Simulation, folder: Path, outputs: Outputs) -> Header:
    """Restore the state at the checkpoint. The horizon may have changed since."""
    header, arrays = load_checkpoint(folder / CHECKPOINT, last_updates=True)
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
    """InputError if files would be lost, or if the run in the folder cannot be resumed.

    Changes nothing. Pass None for a plan or a learner that has not been made yet.
    """
    if not (resume and is_begun(folder)):
        if is_begun(folder) and not is_over(folder):
            raise InputError(
                f"{folder}: holds a run that is not complete; "
                "continue it with --resume, or name another folder"
            )
        # A run without a checkpoint was killed soon after its start: there is nothing to lose.
        growing = () if is_over(folder) else (TRACE, METRICS)
        outputs.check(folder, [name for name in RUN_FILES if name not in growing], growing)
        return
    check_folder(folder, RUN_FILES)
    _check_files(folder, outputs.command)
    stored = stored_scenario(folder)
    key = difference(comparable(stored), comparable(scenario))
    if key:
        raise InputError(f"{folder}: its run has another {key}; resume it as it was begun")
    if plan and load_plan(folder / PLAN, stored).transporters != plan.transporters:
        raise InputError(f"{folder}: its run has another plan; resume it as it was begun")
    if plan and learner:
        _check_origin(folder, scenario, plan, learner)


def _check_files(folder: Path, command: str) -> None:
    """InputError if another command wrote the files of the run, or if they were changed since.

    After a kill, the growing files may be longer than the checkpoint says.
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


def _check_origin(folder: Path, scenario: Scenario, plan: Plan, learner: Learner) -> None:
    """InputError if the run in the folder was begun with anything else."""
    header, arrays = load_checkpoint(folder / CHECKPOINT)
    kind, models = kind_of(learner), (learner.initial_model(), arrays[MODEL_ARRAY])
    if header.learner != kind:
        raise InputError(
            f"{folder}: its run was trained by {header.learner}, not by {kind}; "
            "resume it with the same --engine, with or without --ray as before"
        )
    ours, theirs = (f"{model.size:,} of {model.dtype}" for model in models)
    if ours != theirs:
        raise InputError(
            f"{folder}: its models have {theirs} parameters, and now they have {ours}; "
            "resume it with the model and the data it was begun with"
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


def note_files(folder: Path, command: str) -> None:
    """Put the digests of the growing files on record: they will not change any more."""
    for name in (TRACE, METRICS, CHECKPOINT):
        add_line(folder / name, command, digest(folder / name))


def save_model(folder: Path, model: Vector, outputs: Outputs) -> None:
    """The model at the horizon: from now on the run is complete."""
    content = io.BytesIO()
    np.save(content, model)
    outputs.write(folder, [(MODEL, content.getvalue())])
