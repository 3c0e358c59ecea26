"""The work of a contest: what 40 clients do in one round of the paper's experiments, as files.

The same samples, mini-batches, model and rate for all contestants, whatever they are written in.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from data_files import find
from numpy.typing import NDArray

from flexpress import Job, Scenario
from flexpress.learning import Dataset, Task, make_task
from flexpress.learning.architecture import draw_initial, lenet
from flexpress.learning.batches import batches
from flexpress.learning.fast import FastLearner
from flexpress.learning.official import Samples

NUM_STEPS = 7
"""Of every client in a round: the Min-Max round trip of preset `paper`, 411 s, in slots of 60 s."""

WARM_UP = 100
"""Steps of one client before the work begins, as the very first ones are unlike the others."""

BATCHES = 10, 20, 32
PRESETS = {"FMNIST": "paper", "SVHN": "paper-svhn"}

Model = NDArray[np.float32]


@dataclass(frozen=True)
class Workload:
    """`dataset` is FMNIST or SVHN."""

    dataset: str
    batch_size: int

    @property
    def name(self) -> str:
        return f"{self.dataset}, batch {self.batch_size}"

    def task(self) -> Task:
        """That of the preset, with this batch size."""
        changes: dict[str, object] = {"batch_size": self.batch_size}
        if self.dataset == "SVHN":
            changes |= svhn_or_squares()
        return make_task(Scenario.preset(PRESETS[self.dataset]).replace(learning=changes))

    def save(self, folder: Path) -> None:
        """As arrays in files of their own."""
        task = self.task()
        samples, rows = task.shards.reshape(-1), mini_batches(task)
        arrays = {
            "images": task.dataset.train_images[samples],
            "labels": task.dataset.train_labels[samples],
            "scale": task.dataset.scale,
            "shift": task.dataset.shift,
            "rows": rows,
            "model": warm_model(task),
            "learning_rate": np.array(task.learning_rate),
            "seed": np.array(task.seed),
        }
        for name, array in arrays.items():
            np.save(folder / f"{name}.npy", array)


def svhn_or_squares() -> dict[str, object]:
    """The data set where it is at hand: nothing is downloaded for this."""
    found = find("svhn", "train_32x32.mat")
    return {"dataset": "workload:squares"} if found is None else {"data_dir": str(found.parent)}


def squares() -> tuple[Samples, Samples]:
    """As many samples as there are in a round, of SVHN's shape: coarse squares, and noise."""
    rng = np.random.default_rng(0)
    coarse = rng.integers(0, 200, (32_000, 3, 8, 8), dtype=np.uint8)
    images = coarse.repeat(4, axis=2).repeat(4, axis=3)
    images += rng.integers(0, 50, images.shape, dtype=np.uint8)
    labels = rng.integers(0, 10, len(images))
    return (images, labels), (images[:10], labels[:10])


def mini_batches(task: Task) -> NDArray[np.int64]:
    """(clients, steps, batch): numbers of samples, where each client's follow one another."""
    num_clients, size = task.shards.shape
    drawn = [
        batches(task.seed, i, 0, NUM_STEPS, size, task.batch_size) + i * size
        for i in range(num_clients)
    ]
    return np.stack(drawn)


def warm_model(task: Task) -> Model:
    architecture = lenet(task.dataset.image, task.dataset.num_classes)
    initial = draw_initial(architecture, task.seed)
    learner = FastLearner(task, architecture, initial, threads=1)
    (update,) = learner.train([Job(task.client_ids[0], initial, 0, WARM_UP)])
    model: Model = initial - update
    return model


def load_task(folder: str) -> tuple[Task, Model]:
    """For our own learners: the task and the model that was saved."""
    read = {path.stem: np.load(path) for path in Path(folder).glob("*.npy")}
    images, labels, rows = read["images"], read["labels"], read["rows"]
    num_clients, _, batch_size = rows.shape
    shards = np.arange(len(labels), dtype=np.int32).reshape(num_clients, -1)
    few = images[:10], labels[:10]
    data = Dataset("workload", images, labels, *few, 10, read["scale"], read["shift"])
    clients = tuple(range(1, num_clients + 1))
    rate, seed = float(read["learning_rate"]), int(read["seed"])
    return Task(data, clients, shards, seed, rate, batch_size), read["model"]
