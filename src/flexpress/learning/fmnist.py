"""Fashion-MNIST: Xiao, Rasul, Vollgraf, arXiv:1708.07747. Images of 28 x 28 in idx files."""

from __future__ import annotations

import gzip
import zlib
from math import prod
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from flexpress.callbacks import Tell
from flexpress.errors import InputError
from flexpress.files.disk import read_bytes
from flexpress.learning.official import OfficialDataset, Samples, check_labels

MINI = Path(__file__).with_name("fmnist_mini")
"""The first 600 training and 200 test images of each label, in the package: no network needed."""

_GZIP = b"\x1f\x8b"
_UNSIGNED_BYTES = b"\x00\x00\x08"
"""Two zeros, then the type's code; the number of dimensions and their sizes follow."""


def load_mini(data_dir: str | None, tell: Tell) -> tuple[Samples, Samples]:
    """The subset in the package; it needs neither a folder nor a download."""
    return _read_files([MINI / name for name in FMNIST.checksums])


def _read_files(files: list[Path]) -> tuple[Samples, Samples]:
    train_images, train_labels, test_images, test_labels = files
    return _read_pair(train_images, train_labels), _read_pair(test_images, test_labels)


def _read_pair(images_file: Path, labels_file: Path) -> Samples:
    images, labels = read_idx(images_file), read_idx(labels_file)
    if images.ndim != 3 or images.shape[1:] != (28, 28):
        raise InputError(f"{images_file}: entries {images.shape}: must be images of 28 x 28")
    if labels.ndim != 1 or len(labels) != len(images):
        raise InputError(
            f"{labels_file}: labels of shape {labels.shape} for {len(images)} images; "
            "expected one label per image"
        )
    return images, check_labels(labels, 0, labels_file)


def read_idx(path: Path) -> NDArray[np.uint8]:
    """An array of bytes in MNIST's idx format, compressed by gzip or not."""
    content = _unpack(read_bytes(path), path)
    if content[:3] != _UNSIGNED_BYTES or len(content) < 4:
        raise InputError(f"{path}: not an idx file of bytes; put the official file there")
    dimensions = content[3]
    start = 4 + 4 * dimensions
    shape = np.frombuffer(content[4:start][: 4 * ((len(content) - 4) // 4)], dtype=">u4")
    if len(shape) < dimensions or len(content) - start != prod(shape.tolist()):
        sizes = " x ".join(map(str, shape))
        raise InputError(
            f"{path}: {max(len(content) - start, 0)} bytes for {sizes} entries; "
            "the file is damaged: put a complete one there"
        )
    return np.frombuffer(content, dtype=np.uint8, offset=start).reshape(shape.tolist())


def _unpack(content: bytes, path: Path) -> bytes:
    if not content.startswith(_GZIP):
        return content
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path}: damaged: {error}; put a complete file there") from None


FMNIST = OfficialDataset(
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
    read=_read_files,
)
