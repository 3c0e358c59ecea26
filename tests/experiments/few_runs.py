"""Runs of four clients and a logistic model, in the place of those of the paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from small_run import FOUR, RESULTS, contents

from flexpress.experiments.crew import News
from flexpress.experiments.figures import SYNC
from flexpress.experiments.run import Run, perform
from flexpress.experiments.setting import QUICK, Scale
from flexpress.experiments.study import Study
from flexpress.planning import make_plan

PLAN = make_plan(FOUR)
LONG = 200_000
"""Slots: more than anybody waits for."""


def small(seed: int = 1, horizon: int = 20, **learning: object) -> Run:
    scenario = FOUR.replace(learning={"seed": seed, **learning}, run={"horizon": horizon})
    return Run(SYNC, 0, seed, scenario, PLAN)


def several(count: int, horizon: int = 20) -> dict[str, Run]:
    return {run.key: run for run in (small(seed, horizon) for seed in range(1, count + 1))}


def study_of(*runs: Run) -> Study:
    scale = Scale("quick", len(runs), runs[0].scenario.run.horizon, 10, QUICK.stand_in)
    keys = {(run.setting, run.network, run.seed): run.key for run in runs}
    seeds = tuple(run.seed for run in runs)
    return Study(scale, (0,), seeds, {run.key: run for run in runs}, keys, {(SYNC, 0): PLAN})


@dataclass
class Seen:
    """All that a crew tells, in its order."""

    told: list[tuple[str, str]] = field(default_factory=list)
    news: list[News] = field(default_factory=list)

    def hear(self, news: News) -> None:
        self.told.append(("news", news.key))
        self.news.append(news)

    def of(self, kind: str) -> list[str]:
        return [key for its, key in self.told if its == kind]


def alone(runs: Mapping[str, Run], folder: Path) -> dict[str, dict[str, bytes]]:
    """The results of one after the other, in this process."""
    for key, run in runs.items():
        perform(run, folder / key, on_event=lambda event, run: None, should_stop=lambda: False)
    return results(runs, folder)


def results(runs: Mapping[str, Run], folder: Path) -> dict[str, dict[str, bytes]]:
    return {key: contents(folder / key, RESULTS) for key in runs}
