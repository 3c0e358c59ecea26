"""One simulation of the reproduction: a setting on a network with a seed, known by its inputs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from flexpress.errors import DivergedError
from flexpress.experiments.setting import Setting
from flexpress.learning import Learner, make_learner
from flexpress.learning.datasets import load_dataset
from flexpress.planning import Plan
from flexpress.scenario import Scenario
from flexpress.scenario.training import LearningSettings
from flexpress.simulation.events import Event
from flexpress.simulation.run_folder import run_in_folder
from flexpress.simulation.simulate import Simulation
from flexpress.versions import versions

NAME_LENGTH = 20
"""Hexadecimal digits of a run's folder: 80 bits, which no two runs share by chance."""


@dataclass(frozen=True, eq=False)
class Run:
    """Everything that its result depends on."""

    setting: Setting
    network: int
    seed: int
    scenario: Scenario
    plan: Plan

    @property
    def key(self) -> str:
        """The same inputs and versions give the same key, wherever the data lie."""
        scenario = self.scenario.replace(name="run", learning={"data_dir": None})
        inputs = {
            "scenario": scenario.to_dict(),
            "tours": [list(tour.clients) for tour in self.plan.transporters],
            "data": fingerprint(self.scenario.learning.dataset, self.scenario.learning.data_dir),
            "versions": versions(),
        }
        text = json.dumps(inputs, sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:NAME_LENGTH]


@cache
def fingerprint(name: str, data_dir: str | None) -> str:
    """Of the samples: files may be repacked, or be a part of the official ones."""
    dataset = load_dataset(LearningSettings(dataset=name, data_dir=data_dir))
    content = hashlib.sha256()
    for array in (
        dataset.train_images,
        dataset.train_labels,
        dataset.test_images,
        dataset.test_labels,
    ):
        content.update(np.ascontiguousarray(array).data)
    return content.hexdigest()


def perform(
    run: Run,
    folder: Path,
    learner: Learner | None = None,
    *,
    on_event: Callable[[Event, Simulation], None],
    should_stop: Callable[[], bool],
) -> bool:
    """Simulate it in its folder, from where it was left; False if it was asked to stop.

    On one core, as there are others beside it; the learner is made, unless it is given. A run that
    diverges is over too.
    """
    learner = learner or make_learner(run.scenario, threads=1)
    simulation = Simulation(run.scenario, run.plan, learner)
    try:
        run_in_folder(
            simulation,
            folder,
            resume=True,
            on_event=lambda event: on_event(event, simulation),
            should_stop=should_stop,
        )
    except DivergedError:
        return True
    return simulation.complete
