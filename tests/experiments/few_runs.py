"""Runs of four clients and a logistic model, in the place of those of the paper."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from small_run import FOUR, RESULTS, contents

from flexpress.experiments.figures import SYNC
from flexpress.experiments.parallel import Files, RunEvaluation, _perform_here, _perform_remotely
from flexpress.experiments.protocol import protocol
from flexpress.experiments.run import Run, perform
from flexpress.experiments.study import Study
from flexpress.planning import make_plan

Tell = Callable[[Any], None]
ShouldStop = Callable[[], bool]

PLAN = make_plan(FOUR)
LONG = 200_000
"""Slots: more than anybody waits for."""


def small(seed: int = 1, horizon: int = 20, **learning: object) -> Run:
    scenario = FOUR.replace(learning={"seed": seed, **learning}, run={"horizon": horizon})
    return Run(SYNC, 0, seed, scenario, PLAN)


def several(count: int, horizon: int = 20) -> dict[str, Run]:
    return {run.key: run for run in (small(seed, horizon) for seed in range(1, count + 1))}


def study_of(*runs: Run) -> Study:
    keys = {(run.setting, run.network, run.seed): run.key for run in runs}
    every = {run.key: run for run in runs}
    return Study(protocol().quick, (0,), len(runs), every, keys, {(SYNC, 0): PLAN})


@dataclass
class Seen:
    """All callbacks, in their order."""

    calls: list[tuple[str, str]] = field(default_factory=list)
    progress: list[RunEvaluation] = field(default_factory=list)

    def hear(self, progress: RunEvaluation) -> None:
        self.calls.append(("progress", progress.key))
        self.progress.append(progress)

    def of(self, kind: str) -> list[str]:
        return [key for its, key in self.calls if its == kind]


def alone(runs: Mapping[str, Run], folder: Path) -> dict[str, dict[str, bytes]]:
    """The results of one after the other, in this process."""
    for key, run in runs.items():
        perform(run, folder / key, on_event=lambda event, run: None, should_stop=lambda: False)
    return results(runs, folder)


def results(runs: Mapping[str, Run], folder: Path) -> dict[str, dict[str, bytes]]:
    return {key: contents(folder / key, RESULTS) for key in runs}


# For workers, in the place of what they do otherwise: tests need not guess how far a run is.


def perform_here_and_wait(
    run: Run, folder: Path, key: str, tell: Tell, should_stop: ShouldStop
) -> bool:
    return _perform_here(run, folder, key, waiting(tell, should_stop), should_stop)


def perform_remotely_and_wait(*arguments: Any) -> tuple[bool, Files]:
    given, (tell, should_stop) = arguments[:-2], arguments[-2:]
    done: tuple[bool, Files] = cast(Any, _perform_remotely)(
        *given, waiting(tell, should_stop), should_stop
    )
    return done


def waiting(tell: Tell, should_stop: ShouldStop) -> Tell:
    """Once there is a slot to tell of, it tells it and waits until it is asked to stop."""

    def tell_and_wait(news: Any) -> None:
        tell(news)
        while isinstance(news, RunEvaluation) and news.slot > 0 and not should_stop():
            time.sleep(0.01)

    return tell_and_wait


def perform_remotely_by_name(place: Path, *arguments: Any) -> tuple[bool, Files]:
    """It leaves the number of its process in this folder first."""
    (place / str(os.getpid())).touch()
    return _perform_remotely(*arguments)
