"""The run folder of a mission: the files of `simulate`, written by the server as it goes.

The lines of a step are on the disk before the step is committed, and the lengths of the files are
committed with it. So after a crash the files are cut to these lengths, and nothing is missing. The
checkpoint is for readers (`load_run`, `flexpress report`): it comes after the commit, every few
seconds, and may be old. `model.npy` exists once the mission is over.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from flexpress.errors import InputError
from flexpress.field.due import Progress
from flexpress.field.training import MissionClock
from flexpress.files.disk import PLAN, SCENARIO, read_text, remove_drafts, unwritable
from flexpress.files.growing import check_beginning, damaged
from flexpress.files.lock import sole_use
from flexpress.files.provenance import RECORD, Outputs, why_not_own
from flexpress.learning import Learner, Vector
from flexpress.planning import Plan, plan_to_json
from flexpress.scenario import Scenario
from flexpress.simulation.events import Evaluation, Event
from flexpress.simulation.run_files import (
    CHECKPOINT,
    MODEL,
    MODEL_ARRAY,
    RUN_FILES,
    CheckpointPace,
    Header,
    write_checkpoint,
)
from flexpress.simulation.run_folder import begin_files, first_header, note_files, save_model
from flexpress.simulation.run_lines import METRICS, TRACE, RunLines, Written, read_metrics
from flexpress.simulation.stored_run import is_begun
from flexpress.simulation.trace import Measurement

COMMAND = "server"

Durable = Callable[[str], None]
"""Called just before and just after each step that makes something durable; tests end it there."""


def nothing_more(step: str) -> None:
    """The default of `durable`."""


@contextmanager
def _durably(folder: Path, durable: Durable, step: str) -> Iterator[None]:
    """Errors of the disk in one line."""
    try:
        durable(f"before {step}")
        yield
        durable(f"after {step}")
    except OSError as error:
        raise unwritable(folder, error) from None


class MissionFolder:
    """Use `mission_folder`."""

    def __init__(self, folder: Path, header: Header, written: Written, durable: Durable) -> None:
        self._folder = folder
        self._header = header
        self._durably = partial(_durably, folder, durable)
        self._pace = CheckpointPace()
        self._lines = RunLines(folder, written.trace_bytes, written.metrics_bytes)
        self._is_torn = False  # nobody knows what is in the files after the last commit

    def metrics(self) -> list[Measurement]:
        """All measurements so far."""
        return read_metrics(self._folder / METRICS)

    def append(
        self, start: Written, events: Sequence[Event], measured: Measurement | None
    ) -> Written:
        """Add the lines of a step after `start`, what is committed; how long the files are now."""
        if self._is_torn or self._lines.written != start:  # the step before was not committed
            self._lines.close()
            self._lines = RunLines(self._folder, start.trace_bytes, start.metrics_bytes)
        self._is_torn = True
        for event in events:
            if isinstance(event, Evaluation):
                assert measured is not None
                self._lines.measurement(measured)
            else:
                self._lines.event(event)
        if events:
            with self._durably("lines"):
                self._lines.sync()
        self._is_torn = False
        return self._lines.written

    def is_due(self) -> bool:
        """Whether it is time for another checkpoint."""
        return self._pace.is_due()

    def checkpoint(
        self, committed: Progress, slot: int, model: Vector, *, diverged: bool = False
    ) -> None:
        """For readers of a mission that is under way: how far it is, to this slot."""
        assert committed.written is not None
        header = replace(
            self._header,
            slot=slot,
            num_events=committed.num_events,
            **vars(committed.written),
            diverged=diverged,
        )
        with self._pace.work():
            write_checkpoint(self._folder / CHECKPOINT, header, {MODEL_ARRAY: model})
        if diverged:
            note_files(self._folder, COMMAND)

    def finish(self, committed: Progress, slot: int, model: Vector) -> None:
        """The mission is over. Once more: nothing changes."""
        if (self._folder / MODEL).exists():
            return
        with self._durably("the last checkpoint"):
            self.checkpoint(committed, slot, model)
            note_files(self._folder, COMMAND)
        with self._durably("the last model"):
            save_model(self._folder, model, Outputs(COMMAND))
        with self._durably("the last files"):
            _sync(self._folder, RUN_FILES)

    def close(self) -> None:
        self._lines.close()


@contextmanager
def mission_folder(
    folder: Path,
    scenario: Scenario,
    plan: Plan,
    learner: Learner,
    clock: MissionClock,
    written: Written | None,
    durable: Durable = nothing_more,
) -> Iterator[tuple[MissionFolder, Written]]:
    """The folder as it was when so much was written; None for a mission that begins.

    InputError if another process works there, or if it holds anything but this mission.
    """
    with sole_use(folder):
        if written is None:
            _check_free(folder)
            with _durably(folder, durable, "the first files"):
                written = begin_files(folder, scenario, plan, Outputs(COMMAND))
                _sync(folder, (SCENARIO, PLAN, TRACE, METRICS, RECORD))
        else:
            _check_own(folder, scenario, plan, written)
        for name in RUN_FILES:
            remove_drafts(folder / name)
        header = replace(first_header(scenario, plan, learner, written), clock=clock)
        opened = MissionFolder(folder, header, written, durable)
        try:
            yield opened, written
        finally:
            opened.close()


def _check_free(folder: Path) -> None:
    """Files of a mission that was killed before its first step may be written again."""
    if is_begun(folder):
        raise InputError(f"{folder}: holds another run; name another folder for this mission")
    Outputs(COMMAND).check(folder, (SCENARIO, PLAN, CHECKPOINT, MODEL), (TRACE, METRICS))


def _check_own(folder: Path, scenario: Scenario, plan: Plan, written: Written) -> None:
    texts = {SCENARIO: scenario.to_toml(), PLAN: f"{plan_to_json(plan)}\n"}
    for name, text in texts.items():
        path = folder / name
        fault = why_not_own(path, COMMAND) if path.exists() else "is missing"
        if fault:
            raise InputError(f"{path}: {fault}; put it back as it was")
        if read_text(path) != text:
            raise InputError(f"{path}: is that of another mission; name the folder of this one")
    if not ((folder / TRACE).exists() and (folder / METRICS).exists()):
        raise damaged(folder / TRACE)
    check_beginning(folder / TRACE, written.trace_bytes, written.trace_sha256)
    check_beginning(folder / METRICS, written.metrics_bytes, written.metrics_sha256)


def _sync(folder: Path, names: Sequence[str]) -> None:
    """Wait until the disk has these files, and their names."""
    for path in (*(folder / name for name in names), folder):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
