"""What is learned: the samples, which clients have them, and the settings of a local step."""

from __future__ import annotations

from dataclasses import dataclass, replace

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
    numbers: tuple[int, ...] | None = None  # of the clients in the draw of mini-batches; their rows

    def indices(self) -> dict[int | str, int]:
        """Client id -> row of `shards`."""
        return {client: i for i, client in enumerate(self.client_ids)}

    def draw_numbers(self) -> tuple[int, ...]:
        """The number of each client in the draw of mini-batches: its row in the scenario.

        A task of a part of the clients has other rows, and names the numbers.
        """
        return tuple(range(len(self.client_ids))) if self.numbers is None else self.numbers

    def only(self, client: int | str) -> Task:
        """The task of one client, with no samples but its own, which are also its test samples.

        The client's updates are the same, bit for bit.
        """
        row = self.indices()[client]
        shard, data = self.shards[row], self.dataset
        images, labels = data.train_images[shard], data.train_labels[shard]
        own = replace(
            data, train_images=images, train_labels=labels, test_images=images, test_labels=labels
        )
        shards = np.arange(len(shard), dtype=np.int32)[None]
        number = self.draw_numbers()[row]
        return replace(self, dataset=own, client_ids=(client,), shards=shards, numbers=(number,))

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
