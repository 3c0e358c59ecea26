"""A client's local steps: by the plan's clock as in the simulator, or one a slot of real time.

A local model that is under way is a value, `LocalModel`: its owner may store it after any step and
go on from it later. The steps, and so the update, are the same, bit for bit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import numpy as np

from flexpress.callbacks import ShouldStop, Tell, ignore_note, never
from flexpress.errors import InputError
from flexpress.field.training import Training, load_samples
from flexpress.learning import Dataset, Job, Task, Vector
from flexpress.learning.engines import learner_of, net_of
from flexpress.learning.job import SteppingLearner
from flexpress.simulation.head_start import head_start

_PORTION = 8
"""Steps between two questions whether to stop."""


@dataclass(frozen=True, eq=False)
class LocalModel:
    """The model of a client that trains."""

    base: Vector  # that it started from
    model: Vector  # after the steps so far
    first_step: int  # local steps that the client had done before
    num_steps: int = 0  # done since

    @property
    def update(self) -> Vector:
        """The cumulative local update m: what the client hands over."""
        with np.errstate(over="ignore", invalid="ignore"):  # whoever receives it checks it
            update: Vector = self.base - self.model
        return update


class Trainer:
    """Trains one client. It has no state: it may be used for any local model of its client."""

    def __init__(self, training: Training, learner: SteppingLearner) -> None:
        self.training = training
        self._learner = learner
        size = learner.initial_model().size
        if size != training.num_params:
            raise InputError(
                f'learning.model = "{training.model}": has {size:,} parameters: must have '
                f"{training.num_params:,}, as that of the server"
            )

    @classmethod
    def of(cls, training: Training, dataset: Dataset, tell: Tell = ignore_note) -> Trainer:
        """On these samples. Torch is needed only for the user's own modules, or as the engine."""
        net = net_of(training.model, training.seed, training.engine)
        shard = np.arange(len(dataset.train_labels), dtype=np.int32)
        task = Task(
            dataset,
            (training.client,),
            shard[None],
            training.seed,
            training.learning_rate,
            training.batch_size,
            (training.number,),
        )
        learner = learner_of(task, net, engine=training.engine, threads=1, tell=tell)
        return cls(training, cast(SteppingLearner, learner))

    @classmethod
    def in_folder(cls, training: Training, folder: Path, tell: Tell = ignore_note) -> Trainer:
        """On the samples in this kit, or those of the user's own function."""
        return cls.of(training, load_samples(training, folder), tell)

    def initial_model(self) -> Vector:
        """x^0, which clients may have on board."""
        return self._learner.initial_model()

    def start(self, model: Vector, last_update: Vector | None) -> Vector:
        """The model to train from: with a head start it lacks gamma times the last update.

        `last_update` is the one that is handed over at the visit that brings the model.
        """
        gamma = self.training.head_start
        return head_start(model, gamma, last_update) if gamma and last_update is not None else model

    def steps_between(self, earlier: int, later: int) -> tuple[int, int]:
        """Local steps before the visit of the earlier round, and from it to that of the later one.

        By the plan's clock: one for each slot that begins between the two visits. The rounds need
        not follow each other, since a courier may miss a client. Round -1 is x^0 on board.
        """
        before = self._steps_until(earlier)
        return before, self._steps_until(later) - before

    def _steps_until(self, number: int) -> int:
        settings = self.training
        assert number >= 0 or settings.preloaded, "there is no model before the first visit"
        met, slot = number * settings.period + settings.offset, settings.ticks_per_slot
        before_first = 0 if settings.preloaded else settings.offset // slot
        return max(0, met) // slot - before_first

    def steps_due(self, since: float, now: float) -> int:
        """Local steps by the wall clock: one for each slot that has passed. Times in seconds."""
        slots = (now - since) * self.training.speedup / self.training.slot
        return max(0, math.floor(slots))

    def due_at(self, since: float, num_steps: int) -> float:
        """When so many steps are due by the wall clock."""
        return since + num_steps * self.training.slot / self.training.speedup

    def begin(self, base: Vector, first_step: int) -> LocalModel:
        """Before the first step."""
        return LocalModel(base, base, first_step)

    def advance(
        self, local: LocalModel, num_steps: int, should_stop: ShouldStop = never
    ) -> LocalModel:
        """So many steps more, or fewer if `should_stop` returns True.

        It may run in a thread: the compiled steps let other threads work.
        """
        left = num_steps
        while left > 0 and not should_stop():
            steps = min(_PORTION, left)
            next_step = local.first_step + local.num_steps
            job = Job(self.training.client, local.model, next_step, steps)
            model = self._learner.local_model(job)
            local = replace(local, model=model, num_steps=local.num_steps + steps)
            left -= steps
        return local

    def update(self, base: Vector, first_step: int, num_steps: int) -> Vector:
        """The update of all these steps from this model."""
        return self.advance(self.begin(base, first_step), num_steps).update
