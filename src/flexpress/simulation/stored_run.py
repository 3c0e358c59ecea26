"""A run folder read back: what was run, and its trace as far as it went."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from flexpress.arguments import check_path
from flexpress.errors import InputError
from flexpress.files.disk import PLAN, SCENARIO, read_bytes
from flexpress.files.growing import check_beginning, damaged
from flexpress.files.provenance import is_changed
from flexpress.learning import Vector
from flexpress.planning import Plan, load_plan
from flexpress.scenario import Scenario
from flexpress.simulation.checkpoint import MODEL as MODEL_ARRAY
from flexpress.simulation.checkpoint import load_checkpoint
from flexpress.simulation.clock import events
from flexpress.simulation.recorder import METRICS, read_metrics
from flexpress.simulation.run_folder import CHECKPOINT, MODEL
from flexpress.simulation.timetable import Timetable
from flexpress.simulation.trace import Measurement, Trace

State = Literal["complete", "diverged", "unfinished"]


@dataclass(frozen=True, eq=False)
class StoredRun:
    """Unfinished: it was stopped, or is still under way."""

    folder: Path
    scenario: Scenario
    plan: Plan
    trace: Trace
    state: State


def load_run(folder: str | Path) -> StoredRun:
    """The run that a folder holds, up to its horizon or to its last checkpoint.

    InputError if there is none, or if its files are not as the run had written them.
    """
    folder = check_path("folder", folder)
    if not is_run(folder):
        raise InputError(f"{folder}: holds no run; `flexpress simulate SCENARIO` makes one")
    scenario = Scenario.load(folder / SCENARIO)
    plan = load_plan(folder / PLAN, scenario)
    state, num_events, metrics, model = read_outcome(folder, scenario, plan)
    for name in (SCENARIO, PLAN, METRICS, MODEL) if state == "complete" else (SCENARIO, PLAN):
        if is_changed(folder / name):
            raise damaged(folder / name)
    run = scenario.run
    timetable = Timetable.of(scenario, plan, run.algorithm)
    trace = Trace(timetable, run.horizon, run.eval_every, num_events, tuple(metrics), model)
    return StoredRun(folder, scenario, plan, trace, state)


def is_run(folder: Path) -> bool:
    """Whether a run was begun there."""
    return (folder / SCENARIO).is_file() and (folder / METRICS).is_file()


Outcome = tuple[State, int, list[Measurement], Vector]
"""State, number of events, measurements, global model."""


def read_outcome(folder: Path, scenario: Scenario, plan: Plan) -> Outcome:
    """Of a run that has no checkpoint yet, nothing is known: there is no model in it."""
    if (folder / MODEL).exists():
        return read_complete(folder, scenario, plan)
    if not (folder / CHECKPOINT).exists():
        return "unfinished", 0, [], np.empty(0)
    header, arrays = load_checkpoint(folder / CHECKPOINT)
    check_beginning(folder / METRICS, header.metrics_bytes, header.metrics_sha256)
    metrics = read_metrics(folder / METRICS, header.metrics_bytes)
    state: State = "diverged" if header.diverged else "unfinished"
    return state, header.num_events, metrics, arrays[MODEL_ARRAY]


def read_complete(folder: Path, scenario: Scenario, plan: Plan) -> Outcome:
    """Everything up to the horizon has happened."""
    run, path = scenario.run, folder / METRICS
    metrics = read_metrics(path, len(read_bytes(path)))
    if not metrics or metrics[-1].slot != run.horizon:
        raise InputError(f"{path}: does not reach slot {run.horizon}, where its run ended")
    timetable = Timetable.of(scenario, plan, run.algorithm)
    num_events = sum(1 for _ in events(timetable, run.horizon, run.eval_every))
    return "complete", num_events, metrics, read_model(folder / MODEL)


def read_model(path: Path) -> Vector:
    try:
        model: Vector = np.load(path, allow_pickle=False)
    except (ValueError, OSError, EOFError):
        raise InputError(f"{path}: damaged, or not a model; simulate it again") from None
    model.flags.writeable = False
    return model
