"""What is learned: the samples, which clients have them, and the settings of a local step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexpress.arrays import IntArray
from flexpress.callbacks import Tell, ignore_note
from flexpress.learning.datasets import Dataset, load_dataset
from flexpress.learning.partition import make_shards
from flexpress.scenario import Scenario


@dataclass(frozen=True, eq=False)
class Task:
    """Everything that a learner needs to know, whatever its engine."""

    dataset: Dataset
    client_ids: tuple[int | str, ...]
    shards: NDArray[np.int32]  # (clients, samples_per_client): rows of the training samples
    seed: int
    learning_rate: float
    batch_size: int

    def indices(self) -> dict[int | str, int]:
        """Client id -> row of `shards`, which is also its number in the draw of mini-batches."""
        return {client: i for i, client in enumerate(self.client_ids)}

    def label_counts(self) -> IntArray:
        """Samples of each label that each client has: (clients, num_classes)."""
        labels = self.dataset.train_labels[self.shards]
        return np.stack([np.bincount(row, minlength=self.dataset.num_classes) for row in labels])


def make_task(scenario: Scenario, tell: Tell = ignore_note) -> Task:
    """The scenario's samples, distributed to its clients."""
    return task_of(scenario, load_dataset(scenario.learning, tell))


def task_of(scenario: Scenario, dataset: Dataset) -> Task:
    """The same, with a data set that is already loaded."""
    settings = scenario.learning
    shards = make_shards(scenario, dataset.train_labels, dataset.num_classes)
    return Task(
        dataset=dataset,
        client_ids=scenario.client_ids,
        shards=shards,
        seed=scenario.learning_seed,
        learning_rate=settings.learning_rate,
        batch_size=settings.batch_size,
    )
