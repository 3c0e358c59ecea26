"""A client trains while its program runs, and keeps one copy of what it has trained."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from lone_client import KIT, SLOT, TRAINING

from flexpress.errors import InputError
from flexpress.field.desk import BaseRow
from flexpress.field.local_training import LOCAL, LocalTraining
from flexpress.field.store import Files, Store
from flexpress.field.tables import row_types
from flexpress.field.trainer import LocalModel, Trainer
from flexpress.learning import Quadratic


@dataclass
class Sensor:
    """Its training, its clock, and the files of others in its folder."""

    training: LocalTraining
    files: Files
    time: list[float]
    base: BaseRow
    needed: set[str] = field(default_factory=set)

    def steps(self) -> int:
        local = self.training.until(1)
        assert isinstance(local, LocalModel)
        return local.num_steps

    def train(self, seconds: float) -> None:
        """What is due after so many more seconds."""
        self.time[0] += seconds
        due = self.steps() + self.training._missing()

        async def until_done() -> None:
            working = asyncio.ensure_future(self.training.work())
            while self.steps() < due:
                await asyncio.sleep(0)
            working.cancel()

        asyncio.run(until_done())


@contextmanager
def sensor(folder: Path, time: float) -> Iterator[Sensor]:
    """Its program is started when its clock shows this time."""
    files, needed, clock = Files(folder), set[str](), [time]
    model = files.write(np.ones(3).tobytes())
    trainer = Trainer(TRAINING, Quadratic.random((1,), params=3, seed=1))
    base = BaseRow(0, -1, 0, model, 0, 1e9)
    needed.add(model)
    with Store.open(folder, row_types(LOCAL)) as store:
        training = LocalTraining(trainer, store, files, KIT, lambda: needed, lambda: clock[0])
        training.begin(base)
        yield Sensor(training, files, clock, base, needed)


def test_a_step_is_due_in_each_slot(tmp_path: Path) -> None:
    with sensor(tmp_path, 0.0) as started:
        started.train(SLOT - 1)
        assert started.steps() == 0
        started.train(4 * SLOT)
        assert started.steps() == 4


@pytest.mark.parametrize("wakes_at", [0.0, 1e9, 2e9])
def test_it_goes_on_where_it_was_whatever_the_clock_shows(tmp_path: Path, wakes_at: float) -> None:
    with sensor(tmp_path, 1e9) as before:
        before.train(5 * SLOT)
        before.training.save()
    with sensor(tmp_path, wakes_at) as after:
        assert (after.steps(), after.training._missing()) == (5, 0)
        after.train(2 * SLOT)
        assert after.steps() == 7


def test_there_is_one_copy_of_what_was_trained(tmp_path: Path) -> None:
    with sensor(tmp_path, 0.0) as started:
        for _ in range(3):
            started.train(SLOT)
            started.training.save()
        copies = {path.name for path in tmp_path.iterdir() if len(path.name) == 64}
        assert len(copies - started.needed) == 1


def test_a_copy_that_others_need_stays(tmp_path: Path) -> None:
    with sensor(tmp_path, 0.0) as started:
        started.train(SLOT)
        started.training.save()
        (copy,) = started.training.files()
        started.needed.add(copy)
        started.train(SLOT)
        started.training.save()
        assert started.files.has(copy)


def test_what_was_trained_from_another_model_is_not_handed_over(tmp_path: Path) -> None:
    """Its file is damaged: the next visit must not take the update of the model before."""
    with sensor(tmp_path, 0.0) as started:
        started.train(SLOT)
        with pytest.raises(InputError, match="cannot be read"):
            started.training.begin(BaseRow(1, 0, 0, "0" * 64, 1, 0.0))
        with pytest.raises(AssertionError):
            started.training.until(1)
