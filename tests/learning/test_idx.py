"""The idx format, against files written byte by byte."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from flexpress.errors import InputError
from flexpress.learning.fmnist import read_idx

WHOLE = bytes([0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 3, 10, 11, 12, 20, 21, 255])


@pytest.mark.parametrize("content", [WHOLE, gzip.compress(WHOLE)], ids=["plain", "gzip"])
def test_images(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "images"
    path.write_bytes(content)
    array = read_idx(path)
    assert array.dtype == "uint8"
    assert array.tolist() == [[[10, 11, 12]], [[20, 21, 255]]]


FOREIGN = {
    "empty": b"",
    "a page": b"<html>not found</html>",
    "of int32": bytes([0, 0, 12]) + WHOLE[3:],
    "no sizes": WHOLE[:4],
    "half a size": WHOLE[:10],
    "no data": WHOLE[:16],
    "one byte short": WHOLE[:-1],
    "one byte long": WHOLE + b"!",
    "gzip cut": gzip.compress(WHOLE)[:-9],
    "gzip of nothing": gzip.compress(b""),
    "gzip changed": gzip.compress(WHOLE)[:-6] + b"changed",
    "huge": bytes([0, 0, 8, 4]) + b"\xff" * 16,
}


@pytest.mark.parametrize("case", FOREIGN)
def test_foreign_and_damaged_files(case: str, tmp_path: Path) -> None:
    path = tmp_path / "images.gz"
    path.write_bytes(FOREIGN[case])
    with pytest.raises(InputError) as caught:
        read_idx(path)
    line = str(caught.value)
    assert line.startswith(f"{path}: ")
    assert "\n" not in line
    assert "put" in line


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_idx(tmp_path / "images.gz")
