"""Runs of four clients and a logistic model, in the place of those of the paper."""

from __future__ import annotations

from small_run import FOUR

from flexpress.experiments.figures import SYNC
from flexpress.experiments.run import Run
from flexpress.experiments.setting import QUICK, Scale
from flexpress.experiments.study import Study
from flexpress.planning import make_plan

PLAN = make_plan(FOUR)


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
