"""Data sets by name: loaded, checked, brought into one shape, and normalised."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexpress.arrays import FloatArray
from flexpress.callbacks import Tell, ignore_note
from flexpress.errors import InputError
from flexpress.learning.architecture import Shape
from flexpress.learning.fmnist import FMNIST, load_mini
from flexpress.learning.official import Samples
from flexpress.learning.svhn import SVHN
from flexpress.learning.user_code import call_function, import_function
from flexpress.scenario import LearningSettings

Images = NDArray[np.uint8] | NDArray[np.float32]
Labels = NDArray[np.int32]

_DATASETS: dict[str, Callable[[str | None, Tell], tuple[Samples, Samples]]] = {
    "fmnist-mini": load_mini,
    "fmnist": FMNIST.load,
    "svhn": SVHN.load,
}

_SHAPES = "(n, height, width), (n, channels, height, width) or (n, features)"
_CHUNK = 2**22
"""Numbers that are converted to double precision at a time."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """Labelled images; the input of a net is image * scale + shift, by channel, in float32."""

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
        """SHA-256 of the samples: files may be repacked, or a part of the official ones."""
        content = hashlib.sha256()
        for array in (self.train_images, self.train_labels, self.test_images, self.test_labels):
            content.update(f"{array.dtype} {array.shape} ".encode())
            content.update(np.ascontiguousarray(array).data)
        return content.hexdigest()


def load_dataset(settings: LearningSettings, tell: Tell = ignore_note) -> Dataset:
    """The samples that `learning.dataset` names; `tell` receives notes about downloads."""
    name = settings.dataset
    if name in _DATASETS:
        return make_dataset(name, *_DATASETS[name](settings.data_dir, tell), num_classes=10)
    return make_dataset(name, *_load_own(name))


def _load_own(name: str) -> tuple[Samples, Samples]:
    """The result of the user's function: ((images, labels), (images, labels))."""
    function = import_function("learning.dataset", name, _DATASETS)
    result: Any = call_function("learning.dataset", name, function)
    try:
        (train_images, train_labels), (test_images, test_labels) = result
    except (TypeError, ValueError):
        raise InputError(
            f'learning.dataset = "{name}": {name}() returned no pair of pairs: must return '
            "(train_images, train_labels), (test_images, test_labels)"
        ) from None
    return (train_images, train_labels), (test_images, test_labels)


def make_dataset(
    name: str, train: Samples, test: Samples, num_classes: int | None = None
) -> Dataset:
    """InputError if something is wrong; without `num_classes` the labels determine it."""
    try:
        return _make_dataset(name, train, test, num_classes)
    except ValueError as error:
        raise InputError(f'learning.dataset = "{name}": {error}') from None


def _make_dataset(name: str, train: Samples, test: Samples, num_classes: int | None) -> Dataset:
    train_images, train_labels = check_samples(train, "training")
    test_images, test_labels = check_samples(test, "test")
    if train_images.shape[1:] != test_images.shape[1:] or train_images.dtype != test_images.dtype:
        here, there = (f"{a.shape[1:]} {a.dtype}" for a in (train_images, test_images))
        raise ValueError(f"training images are {here}, test images {there}: must be alike")
    num_classes = num_classes or _count_classes(train_labels, test_labels)
    scale, shift = _normalisation(train_images)
    return Dataset(
        name, train_images, train_labels, test_images, test_labels, num_classes, scale, shift
    )


def check_samples(samples: Samples, which: str) -> tuple[Images, Labels]:
    """The samples in the shape of a Dataset; ValueError if they are not labelled images."""
    try:
        images, labels = (np.asarray(part) for part in samples)
    except Exception as error:  # the user's objects may raise anything
        raise ValueError(f"{which} samples are not NumPy arrays: must be") from error
    if images.ndim not in (2, 3, 4):
        raise ValueError(f"{which} images of shape {images.shape}: must be {_SHAPES}")
    if images.size == 0:
        raise ValueError(f"{which} images of shape {images.shape}: there must be at least one")
    if labels.shape != images.shape[:1]:
        text = f"{which} labels of shape {labels.shape} for {len(images)} images"
        raise ValueError(f"{text}: must be one number for each")
    return _check_images(images, which), _check_labels(labels, which)


def _check_images(images: NDArray[Any], which: str) -> Images:
    """(samples, channels, height, width); features are one row of one channel.

    Always contiguous and writable: code is compiled for one kind of array.
    """
    if images.dtype != np.uint8 and images.dtype.kind != "f":
        raise ValueError(f"{which} images of {images.dtype}: must be uint8 or floats")
    if images.dtype != np.uint8:
        with np.errstate(over="ignore"):  # checked below: the result is not finite
            images = images.astype(np.float32)
        if not np.isfinite(images).all():
            raise ValueError(f"{which} images hold NaN or numbers too large: must be finite")
    missing = (1,) * (4 - images.ndim)
    return np.require(images.reshape(len(images), *missing, *images.shape[1:]), None, ["C", "W"])


def _check_labels(labels: NDArray[Any], which: str) -> Labels:
    if labels.dtype.kind not in "iu":
        raise ValueError(f"{which} labels of {labels.dtype}: must be whole numbers from 0")
    if labels.min() < 0 or labels.max() > np.iinfo(np.int32).max:
        wrong = labels.min() if labels.min() < 0 else labels.max()
        raise ValueError(f"{which} label {wrong}: must be 0 to the number of classes - 1")
    return labels.astype(np.int32)


def _count_classes(train: Labels, test: Labels) -> int:
    """One more than the largest label for training."""
    largest = int(train.max())
    if largest == 0:
        raise ValueError("all training labels are 0: there must be at least two classes")
    if largest >= len(train):
        text = f"training label {largest}, but only {len(train)} training samples"
        raise ValueError(f"{text}: number the classes 0, 1, 2, ...")
    if test.max() > largest:
        raise ValueError(f"test label {test.max()}: training labels go to {largest} only")
    return largest + 1


def _normalisation(images: Images) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Scale and shift of each channel: mean 0 and deviation 1 over these images.

    Bytes count as 0 to 1. A constant channel has no deviation and keeps its scale.
    """
    mean, deviation = _moments(images)
    deviation[deviation == 0] = 255.0 if images.dtype == np.uint8 else 1.0
    with np.errstate(over="ignore"):
        scale, shift = (1 / deviation).astype(np.float32), (-mean / deviation).astype(np.float32)
    if not (np.isfinite(scale).all() and np.isfinite(shift).all()):
        raise ValueError("training images vary too little to be normalised: scale them yourself")
    return scale, shift


def _moments(images: Images) -> tuple[FloatArray, FloatArray]:
    """Mean and deviation of each channel, in double precision and little memory.

    The sums are of differences from the first pixel, so that constant channels are exact.
    """
    pivot = images[0, :, 0, 0].astype(np.float64)[:, None, None]
    sums = np.zeros(images.shape[1])
    squares = np.zeros(images.shape[1])
    step = max(1, _CHUNK // images[0].size)
    for start in range(0, len(images), step):
        part = images[start : start + step] - pivot
        sums += part.sum(axis=(0, 2, 3))
        squares += np.square(part, out=part).sum(axis=(0, 2, 3))
    count = images.size / images.shape[1]
    variance = np.maximum(squares / count - (sums / count) ** 2, 0)
    return pivot.ravel() + sums / count, np.sqrt(variance)
