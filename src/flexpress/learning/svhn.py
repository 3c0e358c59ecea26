"""Street View House Numbers, cropped digits: Netzer et al., 2011. 32 x 32 in MATLAB files."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from flexpress.errors import InputError
from flexpress.learning.mat import read_mat
from flexpress.learning.official import Official, check_labels
from flexpress.learning.samples import Samples


def read_files(files: list[Path]) -> tuple[Samples, Samples]:
    """SVHN: a file for training, a file for the test."""
    train, test = files
    return _read_file(train), _read_file(test)


def _read_file(path: Path) -> Samples:
    """X is (height, width, channels, samples); the digit 0 has the label 10."""
    arrays = read_mat(path)
    if not {"X", "y"} <= set(arrays):
        raise InputError(f"{path}: no arrays X and y; put the official file there")
    images, labels = arrays["X"], arrays["y"]
    if images.ndim != 4 or images.shape[:3] != (32, 32, 3) or images.dtype != np.uint8:
        text = f"{images.shape} of {images.dtype}: must be (32, 32, 3, samples) of uint8"
        raise InputError(f"{path}: X is {text}")
    if labels.size != images.shape[3]:
        raise InputError(f"{path}: {labels.size} labels for {images.shape[3]} images")
    digits = check_labels(labels.ravel(), 1, path) % 10
    return np.ascontiguousarray(images.transpose(3, 2, 0, 1)), digits


SVHN = Official(
    name="svhn",
    url="http://ufldl.stanford.edu/housenumbers/",
    folders=("svhn",),
    checksums={
        "train_32x32.mat": "435e94d69a87fde4fd4d7f3dd208dfc32cb6ae8af2240d066de1df7508d083b8",
        "test_32x32.mat": "cdce80dfb2a2c4c6160906d0bd7c68ec5a99d7ca4831afa54f09182025b6a75b",
    },
    read=read_files,
)
