"""Fashion-MNIST: Xiao, Rasul, Vollgraf, arXiv:1708.07747. Images of 28 x 28 in idx files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from flexpress.errors import InputError
from flexpress.learning.idx import read_idx
from flexpress.learning.official import Official, check_labels
from flexpress.learning.samples import Samples

MINI = Path(__file__).with_name("fmnist_mini")
"""The first 600 training and 200 test images of each label, in the package: no network needed."""


def read_files(files: list[Path]) -> tuple[Samples, Samples]:
    """Images and labels for training, images and labels for the test."""
    train_images, train_labels, test_images, test_labels = files
    return _read_pair(train_images, train_labels), _read_pair(test_images, test_labels)


def _read_pair(images_file: Path, labels_file: Path) -> Samples:
    images, labels = read_idx(images_file), read_idx(labels_file)
    if images.ndim != 3 or images.shape[1:] != (28, 28):
        raise InputError(f"{images_file}: entries {images.shape}: must be images of 28 x 28")
    if labels.ndim != 1 or len(labels) != len(images):
        raise InputError(
            f"{labels_file}: entries {labels.shape} for {len(images)} images: must be one a piece"
        )
    return images, check_labels(labels, 0, labels_file)


FMNIST = Official(
    name="fmnist",
    url="http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
    folders=("fashion-mnist", "fmnist"),
    checksums={
        "train-images-idx3-ubyte.gz": (
            "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84"
        ),
        "train-labels-idx1-ubyte.gz": (
            "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845"
        ),
        "t10k-images-idx3-ubyte.gz": (
            "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073"
        ),
        "t10k-labels-idx1-ubyte.gz": (
            "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5"
        ),
    },
    read=read_files,
)


def load_mini(data_dir: str | None, tell: Callable[[str], None]) -> tuple[Samples, Samples]:
    """The embedded part, wherever other data may be."""
    return read_files([MINI / name for name in FMNIST.checksums])
