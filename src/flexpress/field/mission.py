"""A mission as its server sees it: the clock, the global model, and the run folder.

The server asks what is due, does it, commits it, and says so:

    due = mission.due(situation, now)
    step = mission.perform(due, sums of due.homes, number of clients)      # takes its time
    store.commit(... step.model, step.progress, due.homes, due.releases)   # in one transaction
    mission.committed(step)
    mission.save()                                                         # for readers

If it is killed anywhere in between, it opens the mission again with the progress that it stored,
and the same is due. Nothing happens twice, and nothing is lost.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from msgspec.structs import replace as changed

from flexpress.errors import DivergedError, InputError
from flexpress.field.due import Clock, Due, Progress, Situation
from flexpress.field.mission_folder import (
    Durable,
    MissionFolder,
    mission_folder,
    nothing_more,
)
from flexpress.field.plan_clock import PlanClock
from flexpress.field.training import MissionClock
from flexpress.field.wall_clock import WallClock
from flexpress.learning import Learner, Vector
from flexpress.learning.job import check_learner, measured
from flexpress.planning import Plan
from flexpress.planning.plan_file import check_plan
from flexpress.scenario import Scenario
from flexpress.simulation.events import Evaluation
from flexpress.simulation.merging import NotFiniteError, frozen, merge
from flexpress.simulation.run_lines import TRACE, Written, read_events
from flexpress.simulation.run_names import head_start_of
from flexpress.simulation.simulate import diverged
from flexpress.simulation.timetable import Timetable
from flexpress.simulation.trace import Measurement, Trace


@dataclass(frozen=True, eq=False)
class Step:
    """What was due, done but not committed."""

    due: Due
    progress: Progress  # to be committed with it
    model: Vector | None  # the new version, if there was an update
    measured: Measurement | None


class Mission:
    """Use `open_mission`."""

    def __init__(
        self,
        scenario: Scenario,
        timetable: Timetable,
        learner: Learner,
        clock: Clock,
        place: Path,
        folder: MissionFolder,
        model: Vector,
        *,
        is_stored: bool,
    ) -> None:
        self.scenario = scenario
        self.timetable = timetable
        self.model = frozen(model)
        self.metrics = folder.metrics()
        self._learner = learner
        self._clock = clock
        self._place = place
        self._folder = folder
        self._measured: tuple[Vector, tuple[float, float]] | None = None
        self._is_stored = is_stored
        self._has_diverged = False

    @property
    def progress(self) -> Progress:
        """As it is committed."""
        return self._clock.progress

    def due(self, situation: Situation, now: float) -> Due | None:
        """What comes next; None: wait until the situation changes, or until `wakes`."""
        return self._clock.due(situation, now)

    def wakes(self) -> float | None:
        """When something is due even if nobody comes home; the time is that of `due`."""
        return self._clock.wakes()

    def perform(self, due: Due, sums: Sequence[Vector] = (), num_clients: int = 1) -> Step:
        """Merge these sums of updates, or evaluate, and write the lines; nothing is final yet.

        `sums` are those of `due.homes`, without homes that brought nothing; `num_clients` is N,
        as many as are enrolled. DivergedError if the model or its loss is no longer finite.
        """
        model, found = None, None
        if due.update is not None:
            try:
                model = merge(self.model, sums, num_clients)
            except NotFiniteError:
                raise self._diverged(due.update.slot) from None
        if due.evaluation is not None:
            found = self._measure(due.evaluation)
        written = self._folder.append(self._written, due.events, found)
        return Step(due, changed(due.progress, written=written), model, found)

    def committed(self, step: Step) -> None:
        """The step has happened. For those who read the folder, `save` it."""
        self._clock.passed(replace(step.due, progress=step.progress))
        self._is_stored = True
        if step.model is not None:
            self.model = step.model
        if step.measured is not None:
            self.metrics.append(step.measured)

    def save(self) -> None:
        """For readers of the folder: a checkpoint every few seconds; all of it at the end."""
        if self.progress.over:
            self.finish()
        elif self._folder.is_due():
            self.checkpoint()

    def finish(self) -> None:
        """Complete the folder of a mission that is over. Once more: nothing changes."""
        assert self.progress.over
        self._folder.finish(self.progress, self._slot, self.model)

    def checkpoint(self) -> None:
        """So that readers see all of it: every few seconds, and before the server is stopped.

        Not before the first step is committed: without progress it begins once more.
        """
        if self._is_stored and not self.progress.over:
            self._folder.checkpoint(
                self.progress, self._slot, self.model, diverged=self._has_diverged
            )

    def trace(self) -> Trace:
        """All that has happened."""
        run, number = self.scenario.run, self.progress.num_events
        happened = read_events(self._place / TRACE, self._written.trace_bytes)[:number]
        return Trace(
            self.timetable,
            run.horizon,
            run.eval_every,
            number,
            tuple(self.metrics),
            self.model,
            head_start_of(self.scenario),
            tuple(happened),
        )

    @property
    def _written(self) -> Written:
        assert self.progress.written is not None
        return self.progress.written

    @property
    def _slot(self) -> int:
        """Of the last measurement."""
        return self.metrics[-1].slot if self.metrics else 0

    def _measure(self, event: Evaluation) -> Measurement:
        """A model that has not changed is not tested again."""
        if self._measured is None or self._measured[0] is not self.model:
            self._measured = self.model, measured(self._learner, self.model)
        loss, accuracy = self._measured[1]
        if not math.isfinite(loss):
            raise self._diverged(event.slot)
        return Measurement(event.slot, event.seconds, loss, accuracy)

    def _diverged(self, slot: int) -> DivergedError:
        self._folder.append(self._written, (), None)  # cut off the lines of this step
        self._has_diverged = True
        self.checkpoint()
        error = diverged(self.scenario, slot, self.trace())
        return DivergedError(f"{error}; all before is in {self._place}", error.trace)


@contextmanager
def open_mission(
    scenario: Scenario,
    plan: Plan,
    learner: Learner,
    folder: Path,
    *,
    clock: MissionClock,
    model: Vector,
    progress: Progress | None,
    now: float,
    speedup: float = 1.0,
    durable: Durable = nothing_more,
) -> Iterator[Mission]:
    """A mission that begins, or goes on from the stored progress with the model of its version."""
    check_plan(scenario, plan)
    check_learner(learner)
    timetable = Timetable.of(scenario, plan, scenario.run.algorithm)
    if not timetable.flies:
        raise InputError('run.algorithm = "direct": has no couriers; use sync or async')
    stored = progress.written if progress else None
    opened = mission_folder(folder, scenario, plan, learner, clock, stored, durable)
    with opened as (files, written):
        begun = changed(progress or Progress(started=now), written=written)
        times = timetable, scenario.run.horizon, scenario.run.eval_every, begun
        ticking: Clock = (
            PlanClock(*times) if clock == "plan" else WallClock(*times, speedup=speedup)
        )
        is_stored = progress is not None
        mission = Mission(
            scenario, timetable, learner, ticking, folder, files, model, is_stored=is_stored
        )
        if mission.progress.over:
            mission.finish()
        yield mission
