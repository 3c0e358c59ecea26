"""What there is to learn: samples, who has which of them, and how a local step is done."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from flexpress.learning.architecture import Shape

Images = NDArray[np.uint8] | NDArray[np.float32]
Labels = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Dataset:
    """Labelled images; a net sees image * scale + shift, channel by channel, in float32."""

    name: str
    train_images: Images  # (samples, channels, height, width), C order
    train_labels: Labels  # (samples,), 0 .. num_classes - 1
    test_images: Images
    test_labels: Labels
    num_classes: int
    scale: NDArray[np.float32]  # (channels,)
    shift: NDArray[np.float32]  # (channels,)

    @property
    def image(self) -> Shape:
        _, channels, height, width = self.train_images.shape
        return channels, height, width

    @cached_property
    def digest(self) -> str:
        """Of the samples: files may be repacked, or be a part of the official ones."""
        content = hashlib.sha256()
        for array in (self.train_images, self.train_labels, self.test_images, self.test_labels):
            content.update(f"{array.dtype} {array.shape} ".encode())
            content.update(np.ascontiguousarray(array).data)
        return content.hexdigest()


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

    def label_counts(self) -> NDArray[np.int64]:
        """How many samples of each label every client has: (clients, num_classes)."""
        labels = self.dataset.train_labels[self.shards]
        return np.stack([np.bincount(row, minlength=self.dataset.num_classes) for row in labels])
