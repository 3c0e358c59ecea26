"""The reader of MATLAB files against SciPy's writer and reader."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
from numpy.typing import NDArray
from official_data import official_folder

from flexpress.errors import InputError
from flexpress.learning.mat import read_mat

TYPES = ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8"]
SHAPES = [(1, 1), (3, 1), (1, 5), (4, 3), (32, 32, 3, 7)]


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
    read = read_mat(tmp_path / "a.mat")
    assert list(read) == list(written)
    for name, array in written.items():
        assert read[name].dtype == array.dtype
        assert np.array_equal(read[name], array)


def test_other_classes_are_passed_over(tmp_path: Path) -> None:
    others = {"t": "text", "s": {"a": 1}, "c": np.array([[1j]])}
    scipy.io.savemat(tmp_path / "a.mat", {**others, "X": np.eye(2)})
    assert list(read_mat(tmp_path / "a.mat")) == ["X"]


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
    read = read_mat(path)["y"]
    assert read.dtype == np.float64
    assert read.tolist() == [[7], [8], [9]]


def test_the_official_layout() -> None:
    path = official_folder("svhn") / "test_32x32.mat"
    theirs, ours = scipy.io.loadmat(path), read_mat(path)
    assert set(ours) == {"X", "y"}
    assert all(np.array_equal(ours[key], theirs[key]) for key in ours)
    assert ours["X"].dtype == theirs["X"].dtype


@pytest.mark.parametrize("compress", [False, True])
def test_a_file_that_ends_anywhere(compress: bool, tmp_path: Path) -> None:
    path = tmp_path / "a.mat"
    scipy.io.savemat(path, {"X": example("u1", (9, 9))}, do_compression=compress)
    content = path.read_bytes()
    for size in [0, 5, 127, *range(129, len(content), 5)]:
        path.write_bytes(content[:size])
        with pytest.raises(InputError, match=r"a\.mat: .*; put .*file there$"):
            read_mat(path)


@pytest.mark.parametrize(
    "content", [b"", b"\x89HDF\r\n", b"MATLAB 7.3 MAT-file".ljust(126) + b"IM"]
)
def test_foreign_files(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.mat").write_bytes(content)
    with pytest.raises(InputError, match="not a MATLAB 5 file"):
        read_mat(tmp_path / "a.mat")
