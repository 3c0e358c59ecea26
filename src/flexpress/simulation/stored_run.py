"""The reader of run folders: what was run, and its trace as far as it went."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from flexpress.arguments import check_path
from flexpress.errors import InputError
from flexpress.files.disk import PLAN, SCENARIO
from flexpress.files.growing import check_beginning, damaged
from flexpress.files.provenance import is_changed
from flexpress.learning import Vector
from flexpress.planning import Plan, load_plan
from flexpress.scenario import Scenario
from flexpress.simulation.clock import events
from flexpress.simulation.run_files import (
    CHECKPOINT,
    MODEL,
    MODEL_ARRAY,
    load_checkpoint,
    load_header,
)
from flexpress.simulation.run_lines import (
    METRICS,
    TRACE,
    read_events,
    read_metrics,
    with_waiting,
)
from flexpress.simulation.run_names import RUN_NAMES, head_start_of
from flexpress.simulation.timetable import Timetable
from flexpress.simulation.trace import Trace

RunState = Literal["complete", "diverged", "unfinished"]

_BEFORE = {"head_start": 0.0, "preloaded": False}
"""Settings of [run] that runs of earlier versions do not mention, as they were then."""


@dataclass(frozen=True, eq=False)
class StoredRun:
    """A run that was read from its folder. An unfinished one was stopped or is still under way."""

    folder: Path
    scenario: Scenario
    plan: Plan
    trace: Trace
    state: RunState
    earlier: bool = False  # of a version without head starts: its file does not say that it has 0


def load_run(folder: str | Path) -> StoredRun:
    """Read the run in a folder, up to its horizon or to its last checkpoint.

    InputError if the folder holds no run, or if its files were changed since.
    """
    folder = check_path("folder", folder)
    if not is_run(folder):
        raise InputError(f"{folder}: holds no run; `flexpress simulate SCENARIO` makes one")
    scenario, earlier = _read_scenario(folder)
    plan = load_plan(folder / PLAN, scenario)
    timetable = Timetable.of(scenario, plan, scenario.run.algorithm)
    complete = (folder / MODEL).exists()
    state, trace = (_read_complete if complete else _read_checkpoint)(folder, scenario, timetable)
    for name in (SCENARIO, PLAN, METRICS, MODEL) if complete else (SCENARIO, PLAN):
        if is_changed(folder / name):
            raise damaged(folder / name)
    trace = replace(_as_recorded(trace, folder), head_start=head_start_of(scenario))
    return StoredRun(folder, scenario, plan, trace, state, earlier)


def stored_scenario(folder: Path) -> Scenario:
    """The scenario of the run in this folder, as it was flown."""
    return _read_scenario(folder)[0]


def _read_scenario(folder: Path) -> tuple[Scenario, bool]:
    """The scenario, and whether an earlier version wrote it, which knew fewer settings."""
    scenario = Scenario.load(folder / SCENARIO)
    given = scenario.run.model_fields_set
    before = {key: old for key, old in _BEFORE.items() if key not in given}
    return scenario.replace(run=before), bool(before)


def find_runs(folders: Iterable[str | Path]) -> list[Path]:
    """The run folders among these and directly within them: every run once, in their order."""
    found = {run.resolve(): run for folder in folders for run in _runs_in(Path(folder))}
    return list(found.values())


def _runs_in(folder: Path) -> list[Path]:
    """The folder itself if it holds a run, else the runs in it."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; name one that `flexpress simulate` wrote")
    if is_run(folder):
        return [folder]
    runs = sorted((place for place in folder.iterdir() if is_run(place)), key=_order)
    if not runs:
        raise InputError(f"{folder}: holds no run; `flexpress simulate SCENARIO` makes one")
    return runs


def _order(folder: Path) -> tuple[int, str]:
    """Runs of a comparison in their usual order, then other names by the alphabet."""
    names: tuple[str, ...] = RUN_NAMES
    return names.index(folder.name) if folder.name in names else len(names), folder.name


def is_run(folder: Path) -> bool:
    """Whether a run was started in the folder."""
    return (folder / SCENARIO).is_file() and (folder / METRICS).is_file()


def is_begun(folder: Path) -> bool:
    """Whether the folder holds a run that can be resumed."""
    return (folder / CHECKPOINT).exists()


def is_over(folder: Path) -> bool:
    """Whether the run is complete or has diverged, so that there is nothing to resume."""
    if (folder / MODEL).exists():
        return True
    return is_begun(folder) and load_header(folder / CHECKPOINT).diverged


def _read_complete(
    folder: Path, scenario: Scenario, timetable: Timetable
) -> tuple[RunState, Trace]:
    run = scenario.run
    metrics = read_metrics(folder / METRICS)
    if not metrics or metrics[-1].slot != run.horizon:
        end = f"ends at slot {metrics[-1].slot}" if metrics else "has no measurement"
        raise InputError(f"{folder / METRICS}: {end}, and its run ended at slot {run.horizon}")
    num_events = sum(1 for _ in events(timetable, run.horizon, run.eval_every))
    model = _read_model(folder / MODEL)
    return "complete", Trace(
        timetable, run.horizon, run.eval_every, num_events, tuple(metrics), model
    )


def _read_checkpoint(
    folder: Path, scenario: Scenario, timetable: Timetable
) -> tuple[RunState, Trace]:
    """A run without a checkpoint has no events and no model yet."""
    run = scenario.run
    if not is_begun(folder):
        return "unfinished", Trace(timetable, run.horizon, run.eval_every, 0, (), np.empty(0))
    header, arrays = load_checkpoint(folder / CHECKPOINT)
    check_beginning(folder / METRICS, header.metrics_bytes, header.metrics_sha256)
    metrics = tuple(read_metrics(folder / METRICS, header.metrics_bytes))
    if metrics and metrics[-1].slot > run.horizon:
        end = f"ends at slot {metrics[-1].slot}"
        raise InputError(f"{folder / METRICS}: {end}, after the horizon of its run, {run.horizon}")
    state: RunState = "diverged" if header.diverged else "unfinished"
    model = arrays[MODEL_ARRAY]
    return state, Trace(timetable, run.horizon, run.eval_every, header.num_events, metrics, model)


def _as_recorded(trace: Trace, folder: Path) -> Trace:
    """With the events of a mission as they happened; a simulation's are computed."""
    header = load_header(folder / CHECKPOINT) if is_begun(folder) else None
    if header is None or not header.clock:
        return trace
    if is_over(folder) and is_changed(folder / TRACE):
        raise damaged(folder / TRACE)
    check_beginning(folder / TRACE, header.trace_bytes, header.trace_sha256)
    happened = read_events(folder / TRACE, header.trace_bytes)[: header.num_events]
    recorded = tuple(with_waiting(happened) if header.clock == "wall" else happened)
    return replace(trace, num_events=len(recorded), recorded=recorded)


def _read_model(path: Path) -> Vector:
    try:
        model: Vector = np.load(path, allow_pickle=False)
    except (ValueError, OSError, EOFError):
        raise InputError(f"{path}: damaged, or not a model; simulate it again") from None
    model.flags.writeable = False
    return model
