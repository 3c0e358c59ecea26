"""What the learner's process does: simulate in run folders, write the page about runs."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import flexpress.learning.engines  # noqa: F401  # loaded while the process warms up
from flexpress.callbacks import ShouldStop
from flexpress.control.worker import Report
from flexpress.files.disk import PLAN
from flexpress.files.provenance import Outputs
from flexpress.planning import load_plan
from flexpress.planning.progress import Progress
from flexpress.report import REPORT, files_of, write_report
from flexpress.scenario import Algorithm, Scenario
from flexpress.simulation import RunProgress, compare, find_runs, load_run
from flexpress.simulation.run_names import compared_runs

_PAUSE = 0.1
"""Seconds from one piece of news to the next."""


def warm_up() -> None:
    """Importing this module has loaded everything."""


@dataclass(frozen=True)
class Learning:
    """Simulate into a folder, or continue there what was begun."""

    scenario: Scenario
    folder: Path
    plan: Path | None  # a folder; None: one is made
    algorithms: tuple[Algorithm, ...] | None  # None: all, with and without a head start
    resume: bool

    def __call__(self, report: Report, should_stop: ShouldStop) -> dict[str, Any]:
        place = self.folder if self.resume else self.plan
        plan = load_plan(place / PLAN, self.scenario) if place else None
        news = _News(report, self.scenario.run.eval_every)
        traces = compare(
            self.scenario,
            plan,
            algorithms=self.algorithms,
            out=self.folder,
            resume=self.resume,
            on_progress=news.running,
            on_planning=news.planning,
            should_stop=should_stop,
            tell=news.note,
        )
        names = compared_runs(self.scenario, self.algorithms)
        if len(traces) == len(names) and all(trace.complete for trace in traces.values()):
            return {"state": "complete"}
        return {"state": "paused" if should_stop() else "diverged"}


class _News:
    """How far the runs are, now and then, with all accuracies since."""

    def __init__(self, report: Report, eval_every: int) -> None:
        self._report, self._eval_every = report, eval_every
        self._points: dict[int, float] = {}
        self._name = ""
        self._last = 0.0

    def running(self, run: RunProgress) -> None:
        if run.accuracy is not None and run.slot % self._eval_every == 0:
            self._points[run.slot] = run.accuracy
        now = time.monotonic()
        if run.name == self._name and now - self._last < _PAUSE and run.slot < run.horizon:
            return
        if run.name != self._name:
            self._points = {slot: a for slot, a in self._points.items() if slot == run.slot}
        self._name, self._last = run.name, now
        points = [[slot, accuracy] for slot, accuracy in self._points.items()]
        self._report({"name": run.name, "slot": run.slot, "horizon": run.horizon, "points": points})
        self._points = {}

    def planning(self, progress: Progress) -> None:
        self.note(progress.note or f"planning, {min(progress.fraction, 1.0):.0%}")

    def note(self, text: str) -> None:
        self._report({"note": text})


@dataclass(frozen=True)
class Page:
    """The page about the runs in a folder, as `flexpress report` writes it."""

    folder: Path

    def __call__(self, report: Report, should_stop: ShouldStop) -> str:
        folders = find_runs([self.folder])
        with Outputs("report", files_of(folders)) as outputs:
            path = self.folder / REPORT
            outputs.check(path.parent, (path.name,))
            write_report(
                [load_run(each) for each in folders],
                path,
                outputs,
                label_counts=lambda scenario: None,
                made_by=f"Made by mission control: flexpress report {self.folder.name}",
            )
        return REPORT


def stored_progress(folder: Path) -> dict[str, Any]:
    """What a folder of runs holds, as the page shows it."""
    runs = [load_run(each) for each in find_runs([folder])]
    states = {run.state for run in runs}
    ended = "diverged" if "diverged" in states else "complete"
    return {
        "state": "paused" if "unfinished" in states else ended,
        "runs": {
            run.trace.name: {
                "slot": run.trace.metrics[-1].slot if run.trace.metrics else 0,
                "horizon": run.scenario.run.horizon,
                "points": [[m.slot, m.accuracy] for m in run.trace.metrics],
            }
            for run in runs
        },
    }
