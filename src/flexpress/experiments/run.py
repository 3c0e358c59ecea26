"""One simulation of the reproduction: a setting on a network with a seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from flexpress.callbacks import ShouldStop
from flexpress.errors import DivergedError, InputError
from flexpress.experiments.setting import Setting
from flexpress.files.provenance import why_not_own
from flexpress.files.versions import versions
from flexpress.learning import Learner, make_learner
from flexpress.learning.datasets import load_dataset
from flexpress.planning import Plan
from flexpress.scenario import LearningSettings, Scenario
from flexpress.simulation.events import Event
from flexpress.simulation.origin import Origin, made_of, text_digest, what_differs
from flexpress.simulation.run_files import CHECKPOINT, RUN_FILES, load_checkpoint
from flexpress.simulation.run_folder import run_in_folder
from flexpress.simulation.simulate import Simulation
from flexpress.simulation.stored_run import is_over

COMMAND = "reproduce"
_NAME_LENGTH = 20
"""Hexadecimal digits in the name of a run's folder: 80 bits, enough to avoid collisions."""


@dataclass(frozen=True, eq=False)
class Run:
    """Everything that its result depends on."""

    setting: Setting
    network: int
    seed: int
    scenario: Scenario
    plan: Plan

    @property
    def origin(self) -> Origin:
        """As `origin_of` computes it, but without making a learner."""
        learning = self.scenario.learning
        data = _fingerprint(learning.dataset, learning.data_dir)
        return {**made_of(self.scenario, self.plan, data), **versions()}

    @property
    def key(self) -> str:
        """Equal inputs and versions give equal keys, wherever the data are stored."""
        inputs: list[object] = [self.origin, self.scenario.run.horizon]
        if self.setting.server_rule != "clients":  # the only input that no scenario has
            inputs.append(self.setting.server_rule)
        return text_digest(inputs)[:_NAME_LENGTH]


@cache
def _fingerprint(name: str, data_dir: str | None) -> str:
    return load_dataset(LearningSettings(dataset=name, data_dir=data_dir)).digest


def is_kept(run: Run, folder: Path) -> bool:
    """Whether the folder holds its result. InputError if that is of another run, or was changed."""
    if not is_over(folder):
        return False
    try:
        other = what_differs(load_checkpoint(folder / CHECKPOINT)[0].origin, run.origin)
        if other:
            raise InputError(f"{folder}: holds a run with {other}")
        for name in RUN_FILES:
            fault = (folder / name).exists() and why_not_own(folder / name, COMMAND)
            if fault:
                raise InputError(f"{folder / name}: {fault}")
    except InputError as error:
        raise InputError(f"{error}; delete the folder of this run, and start again") from None
    return True


def perform(
    run: Run,
    folder: Path,
    learner: Learner | None = None,
    *,
    on_event: Callable[[Event, Simulation], None],
    should_stop: ShouldStop,
) -> bool:
    """Simulate the run in its folder, or resume it; False if it was stopped before its end.

    Uses one core, because other runs use the others. A run that diverges is over.
    """
    learner = learner or make_learner(run.scenario, threads=1)
    simulation = Simulation(run.scenario, run.plan, learner, run.setting.server_rule)
    try:
        run_in_folder(
            simulation,
            folder,
            resume=True,
            command=COMMAND,
            on_event=lambda event: on_event(event, simulation),
            should_stop=should_stop,
        )
    except DivergedError:
        return True
    return simulation.complete
