"""Finished runs, read from their folders, and how good they were."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from flexpress.errors import InputError
from flexpress.experiments.setting import Setting
from flexpress.experiments.study import Case, Study
from flexpress.files.disk import SCENARIO, read_bytes
from flexpress.scenario import Scenario
from flexpress.simulation.checkpoint import load_checkpoint
from flexpress.simulation.recorder import COLUMNS, METRICS, metrics_line, read_metrics
from flexpress.simulation.run_folder import CHECKPOINT, MODEL, is_over
from flexpress.simulation.trace import Measurement

CHANCE = 0.1
"""The accuracy of guessing: both data sets have ten labels."""

ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Result:
    """The curve of one run: arrays with an entry for each measurement, from slot 0 on."""

    horizon: int  # slots
    complete: bool  # else it diverged before the horizon
    slots: NDArray[np.int64]
    seconds: NDArray[np.float64]
    loss: NDArray[np.float64]
    accuracy: NDArray[np.float64]

    @property
    def last_slot(self) -> int:
        """Of the last measurement."""
        return int(self.slots[-1])

    @property
    def best_accuracy(self) -> float:
        return float(self.accuracy.max())

    @property
    def mean_accuracy(self) -> float:
        """The area under the accuracy over slots, from 0 to the horizon, over the horizon.

        A run that diverged counts as guessing from its last measurement on: nobody can use it.
        """
        heights = (self.accuracy[1:] + self.accuracy[:-1]) / 2
        area = float(heights @ np.diff(self.slots)) + CHANCE * (self.horizon - self.last_slot)
        return area / self.horizon

    def slots_to(self, accuracy: float) -> int | None:
        """The slot of the first measurement that is at least so good."""
        first = self._first(accuracy)
        return None if first is None else int(self.slots[first])

    def seconds_to(self, accuracy: float) -> float | None:
        first = self._first(accuracy)
        return None if first is None else float(self.seconds[first])

    def _first(self, accuracy: float) -> int | None:
        there = np.flatnonzero(self.accuracy >= accuracy - ROUNDING)
        return int(there[0]) if there.size else None


@dataclass(frozen=True, eq=False)
class Results:
    """Of a study; a case that no plan can serve has none."""

    by_case: Mapping[Case, Result]

    def per_seed(self, setting: Setting, network: int) -> dict[int, Result]:
        """By seed, in their order."""
        return {
            seed: result
            for (its, place, seed), result in self.by_case.items()
            if place == network and its == setting
        }


def read_results(study: Study, runs: Path, *, so_far: bool = False) -> Results:
    """Of every run in the folder of its key; `so_far` passes over those that are not over."""
    keys = [key for key in study.runs if not so_far or is_over(runs / key)]
    by_key = {key: read_result(runs / key) for key in keys}
    return Results({case: by_key[key] for case, key in study.keys.items() if key in by_key})


def read_result(folder: Path) -> Result:
    """InputError if its run is not over, or if the files are not as it wrote them."""
    horizon = Scenario.load(folder / SCENARIO).run.horizon
    complete = (folder / MODEL).exists()
    if complete:
        length = len(read_bytes(folder / METRICS))
    elif is_over(folder):
        length = load_checkpoint(folder / CHECKPOINT)[0].metrics_bytes
    else:
        raise InputError(f"{folder}: its run is not over; start again to go on with it")
    measured = strictly(folder / METRICS, length)
    if measured[-1].slot > horizon or (complete and measured[-1].slot != horizon):
        raise damaged(folder / METRICS, f"ends at slot {measured[-1].slot}, not at {horizon}")
    return Result(horizon, complete, *arrays(measured))


def strictly(path: Path, length: int) -> list[Measurement]:
    """Measurements in the first so many bytes: numbers that make sense, written as we write them.

    Every run has one at slot 0, before it trains.
    """
    try:
        measured = read_metrics(path, length)
    except InputError:
        raise damaged(path, "is no table of measurements, or was cut short") from None
    if read_bytes(path)[:length].decode() != COLUMNS + "".join(map(metrics_line, measured)):
        raise damaged(path, "is not as its run had written it")
    if not measured or measured[0].slot != 0:
        raise damaged(path, "has no measurement at slot 0")
    for before, after in pairwise(measured):
        if not (before.slot < after.slot and before.seconds < after.seconds):
            raise damaged(path, f"goes back in time after slot {before.slot}")
    for each in measured:
        if not (np.isfinite([each.seconds, each.loss]).all() and 0 <= each.accuracy <= 1):
            raise damaged(path, f"has no sensible numbers at slot {each.slot}")
    return measured


def damaged(path: Path, what: str) -> InputError:
    return InputError(f"{path}: {what}; delete the folder of this run, and start again")


Column = NDArray[np.float64]


def arrays(measured: list[Measurement]) -> tuple[NDArray[np.int64], Column, Column, Column]:
    slots = np.array([each.slot for each in measured], np.int64)
    rest = np.array([(each.seconds, each.loss, each.accuracy) for each in measured])
    for array in (slots, rest):
        array.flags.writeable = False
    seconds, loss, accuracy = rest.T
    return slots, seconds, loss, accuracy
