"""SVHN's MATLAB files: what is read from them, and that foreign and damaged ones are refused."""

from __future__ import annotations

import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
from numpy.typing import NDArray
from official_data import official_folder

from flexpress.errors import InputError
from flexpress.learning.datasets import load_dataset
from flexpress.learning.svhn import SVHN, _read_mat
from flexpress.scenario import LearningSettings

HEADER = 128
TYPES = ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8"]
SHAPES = [(1, 1), (3, 1), (1, 5), (4, 3), (32, 32, 3, 7)]


def write_svhn(folder: Path, **changes: NDArray[Any]) -> NDArray[np.uint8]:
    x = np.random.default_rng(0).integers(0, 256, (32, 32, 3, 12)).astype(np.uint8)
    y = np.array([[1], [10], [2], [3], [4], [5], [6], [7], [8], [9], [10], [1]], np.uint8)
    for name in SVHN.checksums:
        scipy.io.savemat(folder / name, {"X": x, "y": y, **changes})
    return x


def test_images_and_digits(tmp_path: Path) -> None:
    x = write_svhn(tmp_path)
    data = load_dataset(LearningSettings(dataset="svhn", data_dir=str(tmp_path)))
    assert data.image == (3, 32, 32)
    assert data.train_labels.tolist() == [1, 0, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1]
    assert data.train_images[5, 2, 30, 7] == x[30, 7, 2, 5]
    assert data.train_images.flags.c_contiguous
    assert data.train_images.dtype == np.uint8
    assert data.num_classes == 10


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"y": np.zeros((12, 1))}, "label 0.0: must be 1 to 10"),
        ({"y": np.ones((11, 1))}, "11 labels for 12 images"),
        ({"X": np.ones((32, 32, 3, 12))}, r"X is \(32, 32, 3, 12\) of float64"),
        ({"X": np.ones((28, 28, 3, 12), np.uint8)}, r"X is \(28, 28, 3, 12\)"),
        ({"X": np.ones((32, 32, 3, 12)) * 1j}, "no arrays X and y"),
        ({"y": np.array(["1"] * 12, object)}, "no arrays X and y"),
    ],
)
def test_wrong_arrays(changes: dict[str, NDArray[Any]], message: str, tmp_path: Path) -> None:
    write_svhn(tmp_path, **changes)
    with pytest.raises(InputError, match=message):
        load_dataset(LearningSettings(dataset="svhn", data_dir=str(tmp_path)))


def example(kind: str, shape: tuple[int, ...]) -> NDArray[Any]:
    return np.random.default_rng(3).integers(0, 100, shape).astype(kind)


@pytest.mark.parametrize("compress", [False, True])
def test_arrays_of_every_class_and_shape(compress: bool, tmp_path: Path) -> None:
    written = {
        f"a{'name' * (i % 3)}_{kind}_{j}": example(kind, shape)
        for i, kind in enumerate(TYPES)
        for j, shape in enumerate(SHAPES)
    }
    scipy.io.savemat(tmp_path / "a.mat", written, do_compression=compress)
    read = _read_mat(tmp_path / "a.mat")
    assert list(read) == list(written)
    for name, array in written.items():
        assert read[name].dtype == array.dtype
        assert np.array_equal(read[name], array)


def test_other_classes_are_skipped(tmp_path: Path) -> None:
    others = {"t": "text", "s": {"a": 1}, "c": np.array([[1j]])}
    scipy.io.savemat(tmp_path / "a.mat", {**others, "X": np.eye(2)})
    assert list(_read_mat(tmp_path / "a.mat")) == ["X"]


def test_small_numbers_stored_small_keep_their_class(tmp_path: Path) -> None:
    """MATLAB writes the double 7 as a byte; SciPy does not, so this file is made by hand."""
    numbers = b"\x02\x00\x03\x00\x07\x08\x09\x00"  # in the tag: 3 bytes of uint8
    flags = b"\x06\x00\x00\x00\x08\x00\x00\x00" + b"\x06" + bytes(7)
    shape = b"\x05\x00\x00\x00\x08\x00\x00\x00" + b"\x03\x00\x00\x00\x01\x00\x00\x00"
    name = b"\x01\x00\x01\x00y\x00\x00\x00"
    body = flags + shape + name + numbers
    tag = (14).to_bytes(4, "little") + len(body).to_bytes(4, "little")
    header = b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM"
    path = tmp_path / "a.mat"
    path.write_bytes(header + tag + body)
    assert np.array_equal(scipy.io.loadmat(path)["y"], [[7], [8], [9]])
    read = _read_mat(path)["y"]
    assert read.dtype == np.float64
    assert read.tolist() == [[7], [8], [9]]


def test_the_official_file() -> None:
    path = official_folder("svhn") / "test_32x32.mat"
    theirs = scipy.io.loadmat(path)
    (images, labels), _ = SVHN.read([path, path])
    assert np.array_equal(images, theirs["X"].transpose(3, 2, 0, 1))
    assert np.array_equal(labels, theirs["y"].ravel() % 10)
    assert images.dtype == np.uint8


def small_file(folder: Path, compress: bool) -> tuple[Path, bytes]:
    x = np.random.default_rng(3).integers(0, 256, (32, 32, 3, 2)).astype(np.uint8)
    path = folder / "a.mat"
    arrays = {"X": x, "y": np.array([[3], [10]], np.uint8)}
    scipy.io.savemat(path, arrays, do_compression=compress)
    return path, path.read_bytes()


@pytest.mark.parametrize("compress", [False, True])
def test_a_file_that_ends_anywhere(compress: bool, tmp_path: Path) -> None:
    path, content = small_file(tmp_path, compress)
    for size in [0, 5, *range(120, 300), *range(300, len(content), 41), len(content) - 1]:
        path.write_bytes(content[:size])
        with pytest.raises(InputError, match=r"a\.mat: .*; put .*file there$") as caught:
            SVHN.read([path, path])
        assert "\n" not in str(caught.value)


def test_a_compressed_file_with_one_byte_changed(tmp_path: Path) -> None:
    path, content = small_file(tmp_path, compress=True)
    (expected, labels), _ = SVHN.read([path, path])
    refused = 0
    for place in [*range(HEADER, HEADER + 100), *range(HEADER + 100, len(content), 61)]:
        path.write_bytes(content[:place] + bytes([content[place] ^ 0x55]) + content[place + 1 :])
        try:
            (images, found), _ = SVHN.read([path, path])
        except InputError:
            refused += 1
        else:
            assert np.array_equal(images, expected)
            assert np.array_equal(found, labels)
    assert refused > 100
    assert zlib.decompress(content[HEADER + 8 :]), "or the file is not compressed"


@pytest.mark.parametrize(
    "content", [b"", b"\x89HDF\r\n", b"MATLAB 7.3 MAT-file".ljust(126) + b"IM"]
)
def test_foreign_files(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.mat"
    path.write_bytes(content)
    with pytest.raises(InputError, match="not a MATLAB 5 file"):
        SVHN.read([path, path])


@pytest.mark.parametrize("compress", [False, True])
def test_bytes_changed_at_random(compress: bool, tmp_path: Path) -> None:
    """The process survives, which it does not with scipy.io.loadmat (1.17)."""
    path, content = small_file(tmp_path, compress)
    rng = np.random.default_rng(5)
    for _ in range(300):
        changed = bytearray(content)
        for place in rng.integers(0, 260, rng.integers(1, 5)):
            changed[place] = rng.integers(256)
        path.write_bytes(changed)
        with suppress(InputError):
            SVHN.read([path, path])
