"""What recording costs, and that it costs nobody else: slots per second of CPU, plain and recorded.

The learner does nothing, so that all of the time is the simulator's own. A plain run cannot pay for
recordings, as it holds no code of theirs: the functions that it calls are counted.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from types import FrameType

import numpy as np
from printer import Printer

from flexpress import Job, Metrics, Scenario, make_plan, record, simulate
from flexpress.learning import Vector
from flexpress.scenario import Algorithm
from flexpress.simulation import recording

HEAD = ["slots per CPU second", "simulate", "record", "ratio", "recording calls"]
ALGORITHMS: tuple[Algorithm, ...] = "sync", "async", "direct"
HORIZON = 1000
ROUNDS = 9
LABEL, FIGURE = 24, 15

Run = Callable[[], object]


class Idle:
    """Returns nothing learned, at once."""

    def initial_model(self) -> Vector:
        return np.zeros(10)

    def train(self, jobs: Sequence[Job]) -> Vector:
        return np.zeros((len(jobs), 10))

    def evaluate(self, model: Vector) -> Metrics:
        return Metrics(0.0, 0.0)


def recordings(printer: Printer) -> None:
    printer.table(HEAD, rows(), [LABEL, *(FIGURE for _ in HEAD[1:])])


def rows() -> Iterator[list[str]]:
    """A row for each algorithm: rates, the median ratio of rounds side by side, and the count."""
    scenario = Scenario.preset("paper").replace(run={"horizon": HORIZON, "head_start": 0.0})
    plan = make_plan(scenario, iterations=1000)
    for algorithm in ALGORITHMS:
        runs: list[Run] = [
            lambda a=algorithm: simulate(scenario, plan, Idle(), algorithm=a),  # type: ignore[misc]  # bound now
            lambda a=algorithm: record(scenario, plan, Idle(), algorithm=a),  # type: ignore[misc]  # bound now
        ]
        yield [f"paper, {algorithm}", *row(runs)]


def row(runs: list[Run]) -> list[str]:
    for run in runs:
        run()
    rates = np.array([[HORIZON / seconds(run) for run in runs] for _ in range(ROUNDS)])
    plain, recorded = np.median(rates, axis=0)
    ratio = np.median(rates[:, 0] / rates[:, 1])
    return [f"{plain:,.0f}", f"{recorded:,.0f}", f"{ratio:.1f}", str(calls_of_recording(runs[0]))]


def seconds(run: Run) -> float:
    begin = time.process_time()
    run()
    return time.process_time() - begin


def calls_of_recording(run: Run) -> int:
    """How many functions of the recording's file are called in this run."""
    count = 0

    def note(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call" and frame.f_code.co_filename == recording.__file__

    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    return count
