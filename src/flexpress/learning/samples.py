"""Arrays as they come -> a Dataset: one shape for all, checked, and how they are normalised."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexpress.errors import InputError
from flexpress.learning.task import Dataset, Images

Samples = tuple[NDArray[Any], NDArray[Any]]
"""Images and their labels."""

SHAPES = "(n, height, width), (n, channels, height, width) or (n, features)"
CHUNK = 2**22
"""Numbers that are looked at together in double precision."""


def make_dataset(
    name: str, train: Samples, test: Samples, num_classes: int | None = None
) -> Dataset:
    """InputError if something is wrong; without `num_classes` they are counted."""
    try:
        return _make_dataset(name, train, test, num_classes)
    except ValueError as error:
        raise InputError(f'learning.dataset = "{name}": {error}') from None


def _make_dataset(name: str, train: Samples, test: Samples, num_classes: int | None) -> Dataset:
    train_images, train_labels = _check(train, "training")
    test_images, test_labels = _check(test, "test")
    if train_images.shape[1:] != test_images.shape[1:] or train_images.dtype != test_images.dtype:
        here, there = (f"{a.shape[1:]} {a.dtype}" for a in (train_images, test_images))
        raise ValueError(f"training images are {here}, test images {there}: must be alike")
    num_classes = num_classes or _count_classes(train_labels, test_labels)
    scale, shift = normalisation(train_images)
    return Dataset(
        name, train_images, train_labels, test_images, test_labels, num_classes, scale, shift
    )


def _check(samples: Samples, which: str) -> tuple[Images, NDArray[np.int32]]:
    try:
        images, labels = (np.asarray(part) for part in samples)
    except Exception as error:  # whatever the user's objects do when they are asked for arrays
        raise ValueError(f"{which} samples are no arrays: must be those of NumPy") from error
    if images.ndim not in (2, 3, 4):
        raise ValueError(f"{which} images of shape {images.shape}: must be {SHAPES}")
    if images.size == 0:
        raise ValueError(f"{which} images of shape {images.shape}: there must be at least one")
    if labels.shape != images.shape[:1]:
        text = f"{which} labels of shape {labels.shape} for {len(images)} images"
        raise ValueError(f"{text}: must be one number for each")
    return _check_images(images, which), _check_labels(labels, which)


def _check_images(images: NDArray[Any], which: str) -> Images:
    """(samples, channels, height, width); features are one row of one channel.

    Contiguous and writable, whatever they came from: code is compiled for one kind of array.
    """
    if images.dtype != np.uint8 and images.dtype.kind != "f":
        raise ValueError(f"{which} images of {images.dtype}: must be uint8 or floats")
    if images.dtype != np.uint8:
        with np.errstate(over="ignore"):  # then it is not finite, which is found below
            images = images.astype(np.float32)
        if not np.isfinite(images).all():
            raise ValueError(f"{which} images hold NaN or numbers too large: must be finite")
    missing = (1,) * (4 - images.ndim)
    return np.require(images.reshape(len(images), *missing, *images.shape[1:]), None, ["C", "W"])


def _check_labels(labels: NDArray[Any], which: str) -> NDArray[np.int32]:
    if labels.dtype.kind not in "iu":
        raise ValueError(f"{which} labels of {labels.dtype}: must be whole numbers from 0")
    if labels.min() < 0 or labels.max() > np.iinfo(np.int32).max:
        wrong = labels.min() if labels.min() < 0 else labels.max()
        raise ValueError(f"{which} label {wrong}: must be 0 to the number of classes - 1")
    return labels.astype(np.int32)


def _count_classes(train: NDArray[np.int32], test: NDArray[np.int32]) -> int:
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


def normalisation(images: Images) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Scale and shift of each channel: mean 0 and deviation 1 over these images.

    Bytes count as 0 to 1. A channel that is constant has no deviation: its scale is 1 of those.
    """
    mean, deviation = _moments(images)
    deviation[deviation == 0] = 255.0 if images.dtype == np.uint8 else 1.0
    with np.errstate(over="ignore"):
        scale, shift = (1 / deviation).astype(np.float32), (-mean / deviation).astype(np.float32)
    if not (np.isfinite(scale).all() and np.isfinite(shift).all()):
        raise ValueError("training images vary too little to be normalised: scale them yourself")
    return scale, shift


def _moments(images: Images) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and deviation of each channel, in double precision and little memory.

    Sums are taken of differences from the first pixel: constant channels come out exactly.
    """
    pivot = images[0, :, 0, 0].astype(np.float64)[:, None, None]
    sums = np.zeros(images.shape[1])
    squares = np.zeros(images.shape[1])
    step = max(1, CHUNK // images[0].size)
    for start in range(0, len(images), step):
        part = images[start : start + step] - pivot
        sums += part.sum(axis=(0, 2, 3))
        squares += np.square(part, out=part).sum(axis=(0, 2, 3))
    count = images.size / images.shape[1]
    variance = np.maximum(squares / count - (sums / count) ** 2, 0)
    return pivot.ravel() + sums / count, np.sqrt(variance)
