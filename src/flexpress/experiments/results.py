"""Finished runs of a study, read from their folders, and how good they were."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from flexpress.errors import InputError
from flexpress.experiments.protocol import protocol
from flexpress.experiments.setting import Setting
from flexpress.experiments.study import Case, Cell, Study
from flexpress.simulation.stored_run import is_over, load_run
from flexpress.simulation.trace import Measurement

_CHANCE = 0.1
"""The accuracy of guessing: both data sets have ten labels."""


@dataclass(frozen=True, eq=False)
class Result:
    """The measurements of one run, from slot 0 on."""

    horizon: int  # slots
    complete: bool  # otherwise it diverged before the horizon
    metrics: tuple[Measurement, ...]

    @property
    def last_slot(self) -> int:
        """The slot of the last measurement."""
        return self.metrics[-1].slot

    @property
    def best_accuracy(self) -> float:
        return max(each.accuracy for each in self.metrics)

    @property
    def mean_accuracy(self) -> float:
        """The area under the accuracy over slots, from 0 to the horizon, over the horizon.

        After its last measurement, a diverged run counts as guessing: its model is of no use.
        """
        accuracy = np.array([each.accuracy for each in self.metrics])
        heights = (accuracy[1:] + accuracy[:-1]) / 2
        widths = np.diff([each.slot for each in self.metrics])
        area = float(heights @ widths) + _CHANCE * (self.horizon - self.last_slot)
        return area / self.horizon

    @property
    def final_accuracy(self) -> float:
        """The mean of the measurements in the last slots; a diverged run guesses."""
        if not self.complete:
            return _CHANCE
        begin = (1 - protocol().judging.final_share) * self.horizon
        return float(np.mean([each.accuracy for each in self.metrics if each.slot >= begin]))


@dataclass(frozen=True, eq=False)
class Results:
    """The results of a study. Cases without a feasible plan have none."""

    by_case: Mapping[Case, Result]

    def of(self, setting: Setting) -> dict[Cell, Result]:
        """By network and seed, in their order."""
        return {
            (network, seed): result
            for (its, network, seed), result in self.by_case.items()
            if its == setting
        }


def read_results(study: Study, runs: Path) -> Results:
    """Read every run from the folder of its key in `runs`."""
    by_key = {key: read_result(runs / key) for key in study.runs}
    return Results({case: by_key[key] for case, key in study.keys.items()})


def read_result(folder: Path) -> Result:
    """InputError if the run is not over, or if its files were changed since."""
    if not is_over(folder):
        raise InputError(f"{folder}: its run is not over; start again to resume it")
    try:
        run = load_run(folder)
        if not run.trace.metrics:
            raise InputError(f"{folder}: its run diverged before its first measurement")
    except InputError as error:
        raise InputError(f"{error}; or delete the folder of this run, and start again") from None
    return Result(run.trace.horizon, run.state == "complete", run.trace.metrics)
