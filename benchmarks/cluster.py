"""Two Ray workers on two cores beside one process on one, with the same run.

The only section that is not pinned to one core. Starting is told apart from running.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from days import plan_path, save_plan, scenario_of
from machine import every_core, installed_version
from measure import in_own_process
from printer import Printer
from spread import spread, tenths
from turns import MARK, cpu_seconds_of_all

from flexpress import Job, Learner, RayLearner, Scenario, make_learner, simulate
from flexpress.learning.summing import train_sums
from flexpress.planning import plan_file

NUM_CLIENTS, HORIZON, EVAL_EVERY = 400, 240, 40
ALONE, TWO_WORKERS, TWO_THREADS = "one process", "two Ray workers", "one process, two threads"
LABEL, FIGURE = 26, 22

SHARD_SIZE = 32
"""No tour has more clients: then even sums are added up in the same order as by one process."""


@dataclass(frozen=True)
class Outcome:
    """Seconds to begin, seconds of the run, and the model in the end."""

    start: float
    wall: float
    cpu: float
    model: bytes


def cluster(printer: Printer, *, repeats: int, quick: bool) -> None:
    if not installed_version("ray"):
        printer.say("Ray is not installed: there is nothing to measure.")
        return
    printer.say("This section runs on all cores.", "")
    horizon = HORIZON // 4 if quick else HORIZON
    found: dict[str, list[Outcome]] = {who: [] for who in (ALONE, TWO_WORKERS, TWO_THREADS)}
    with TemporaryDirectory() as folder, every_core():
        path = plan_path(folder, NUM_CLIENTS)
        in_own_process(save_plan, NUM_CLIENTS, path)
        for _ in range(repeats):
            for who, outcomes in found.items():
                printer.tell(who)
                with marked():
                    outcomes.append(in_own_process(run, who, path, horizon))
    show(printer, found, horizon)
    models = {each.model for outcomes in found.values() for each in outcomes}
    if len(models) > 1:
        raise RuntimeError(f"{len(models)} different models came out of the same run")
    printer.say("All runs ended with the same model, bit for bit.", "")


def show(printer: Printer, found: dict[str, list[Outcome]], horizon: int) -> None:
    """Ratios are those of runs side by side."""
    title = f"N = {NUM_CLIENTS}, {horizon} slots"
    alone = np.array([outcome.wall for outcome in found[ALONE]])
    rows = [
        [
            who,
            spread([outcome.wall for outcome in outcomes], tenths),
            spread([outcome.cpu for outcome in outcomes], tenths),
            spread(list(alone / [outcome.wall for outcome in outcomes]), hundredths),
            spread([outcome.start for outcome in outcomes], tenths),
        ]
        for who, outcomes in found.items()
    ]
    head = [title, "wall s", "CPU s", "times as fast", "start, wall s"]
    printer.table(head, rows, [LABEL, *(FIGURE for _ in head[1:])])


def hundredths(value: float) -> str:
    return f"{value:.2f}"


@contextmanager
def marked() -> Iterator[None]:
    """All processes that begin now are counted as one."""
    os.environ[MARK] = uuid.uuid4().hex
    try:
        yield
    finally:
        del os.environ[MARK]


def run(who: str, path: Path, horizon: int) -> Outcome:
    """Sync on the slot clock, evaluated now and then."""
    settings = {"horizon": horizon, "eval_every": EVAL_EVERY}
    scenario = scenario_of(NUM_CLIENTS).replace(run=settings)
    plan = plan_file.load_plan(path, scenario)
    begun = time.perf_counter()
    with learner_of(who, scenario) as learner:
        warm_up(learner, scenario)
        wall, cpu = time.perf_counter(), cpu_seconds_of_all()
        trace = simulate(scenario, plan, learner)
        start, wall = wall - begun, time.perf_counter() - wall
        cpu = cpu_seconds_of_all() - cpu
    return Outcome(start, wall, cpu, trace.model.tobytes())


@contextmanager
def learner_of(who: str, scenario: Scenario) -> Iterator[Learner]:
    if who == TWO_WORKERS:
        with RayLearner(
            scenario, address="local", workers=2, engine="fast", shard_size=SHARD_SIZE
        ) as learner:
            yield learner
    else:
        yield make_learner(scenario, engine="fast", threads=1 if who == ALONE else 2)


def warm_up(learner: Learner, scenario: Scenario) -> None:
    """Code is loaded, workers are there."""
    model = learner.initial_model()
    groups = [[Job(client, model, 0, 1)] for client in scenario.client_ids[:64]]
    for _ in train_sums(learner, groups, lambda: False):
        pass
    learner.evaluate(model)
