"""Known data sets: where they are found, what is in them, and the download."""

from __future__ import annotations

import gzip
import hashlib
import io
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from official_data import official_folder

from flexpress.errors import InputError
from flexpress.learning import official
from flexpress.learning.datasets import load_dataset
from flexpress.learning.fmnist import FMNIST, MINI, read_idx
from flexpress.scenario import LearningSettings

TRAIN, TRAIN_LABELS, TEST, TEST_LABELS = FMNIST.checksums


@pytest.fixture(autouse=True)
def _nothing_at_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No data but what the test makes, and no network."""
    monkeypatch.setattr(official, "_cache", lambda: tmp_path / "cache")
    monkeypatch.setattr(official, "_DEBIAN", tmp_path / "debian")
    monkeypatch.delenv("FLEXPRESS_DATA", raising=False)


def idx(array: NDArray[np.uint8]) -> bytes:
    return bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes() + array.tobytes()


def write_fmnist(folder: Path, mark: int = 0, packed: bool = True) -> None:
    """Twenty training and ten test images; `mark` is everywhere the first pixel."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, count in ((TRAIN, 20), (TEST, 10)):
        images = np.random.default_rng(0).integers(0, 256, (count, 28, 28)).astype(np.uint8)
        images[:, 0, 0] = mark
        labels = (np.arange(count) % 10).astype(np.uint8)
        for file, array in ((name, images), (name.replace("images-idx3", "labels-idx1"), labels)):
            path = folder / (file if packed else file.removesuffix(".gz"))
            path.write_bytes(gzip.compress(idx(array)) if packed else idx(array))


def mark_of(data_dir: Path | None, told: list[str] | None = None) -> int:
    settings = LearningSettings(dataset="fmnist", data_dir=str(data_dir) if data_dir else None)
    tell = (told if told is not None else []).append
    return int(load_dataset(settings, tell).train_images[0, 0, 0, 0])


def test_order_of_the_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLEXPRESS_DATA", str(tmp_path / "environment"))
    given = tmp_path / "given"
    write_fmnist(tmp_path / "debian" / "fashion-mnist", 4)
    assert mark_of(given) == 4
    write_fmnist(tmp_path / "cache" / "fashion-mnist", 3, packed=False)
    assert mark_of(given) == 3
    write_fmnist(tmp_path / "environment" / "fmnist", 2)
    assert mark_of(given) == 2
    assert mark_of(None) == 2
    write_fmnist(given, 1)
    told: list[str] = []
    assert mark_of(given, told) == 1
    assert told == []


def test_a_data_dir_without_the_files_is_reported(tmp_path: Path) -> None:
    write_fmnist(tmp_path / "cache")
    told: list[str] = []
    mark_of(tmp_path / "elsewhere", told)
    assert told == [f"learning.data_dir: no fmnist there; taken from {tmp_path / 'cache'}"]


def test_a_folder_with_some_of_the_files_is_passed_over(tmp_path: Path) -> None:
    write_fmnist(tmp_path / "given", 1)
    (tmp_path / "given" / TEST).unlink()
    write_fmnist(tmp_path / "cache", 2)
    assert mark_of(tmp_path / "given") == 2


def damage(case: str, folder: Path) -> str:
    """Something wrong in one file; which one."""
    images = np.zeros((10, 28, 28), np.uint8)
    content = {
        "cut": (TRAIN, (folder / TRAIN).read_bytes()[:-40]),
        "large": (TRAIN, idx(np.zeros((20, 32, 32), np.uint8))),
        "count": (TEST_LABELS, idx(np.zeros(9, np.uint8))),
        "labels": (TRAIN_LABELS, idx(np.full(20, 10, np.uint8))),
        "swapped": (TEST_LABELS, idx(images)),
        "foreign": (TEST, b"<html></html>"),
    }
    name, replaced = content[case]
    (folder / name).write_bytes(replaced)
    return name


@pytest.mark.parametrize("case", ["cut", "large", "count", "labels", "swapped", "foreign"])
def test_wrong_files(case: str, tmp_path: Path) -> None:
    write_fmnist(tmp_path)
    name = damage(case, tmp_path)
    with pytest.raises(InputError) as caught:
        mark_of(tmp_path)
    assert str(caught.value).startswith(f"{tmp_path / name}: ")
    assert "\n" not in str(caught.value)


def test_empty_files(tmp_path: Path) -> None:
    write_fmnist(tmp_path)
    (tmp_path / TRAIN).write_bytes(idx(np.zeros((0, 28, 28), np.uint8)))
    (tmp_path / TRAIN_LABELS).write_bytes(idx(np.zeros(0, np.uint8)))
    with pytest.raises(InputError, match="has no samples"):
        mark_of(tmp_path)


def test_official_sets() -> None:
    data_dir = str(official_folder("fashion-mnist").parent)
    data = load_dataset(LearningSettings(dataset="fmnist", data_dir=data_dir))
    assert data.train_images.shape == (60_000, 1, 28, 28)
    assert np.bincount(data.test_labels).tolist() == [1000] * 10
    counts = np.bincount(data.train_images.ravel(), minlength=256)
    pixels = np.arange(256) / 255
    mean = np.average(pixels, weights=counts)
    deviation = np.sqrt(np.average((pixels - mean) ** 2, weights=counts))
    assert data.scale[0] == np.float32(1 / (255 * deviation))
    assert data.shift[0] == np.float32(-mean / deviation)


def test_the_embedded_part() -> None:
    data = load_dataset(LearningSettings())
    assert data.train_images.flags.writeable
    assert data.test_images.flags.writeable
    assert np.bincount(data.train_labels).tolist() == [600] * 10
    assert np.bincount(data.test_labels).tolist() == [200] * 10
    assert sum(path.stat().st_size for path in MINI.iterdir()) < 5e6
    assert "Zalando SE" in (MINI / "LICENSE").read_text(encoding="utf-8")


@pytest.mark.parametrize(("part", "count"), [("train", 600), ("t10k", 200)])
def test_the_embedded_part_is_the_first_of_each_label(part: str, count: int) -> None:
    folder = official_folder("fashion-mnist")
    images, labels = (
        [read_idx(place / f"{part}-{kind}-ubyte.gz") for place in (folder, MINI)]
        for kind in ("images-idx3", "labels-idx1")
    )
    seen = [0] * 10
    chosen = []
    for i, label in enumerate(labels[0].tolist()):
        seen[label] += 1
        if seen[label] <= count:
            chosen.append(i)
    assert np.array_equal(labels[0][chosen], labels[1])
    assert np.array_equal(images[0][chosen], images[1])


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # the name is given
        pass


@contextmanager
def serve(folder: Path) -> Iterator[str]:
    handler = partial(QuietHandler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


def served(folder: Path, url: str) -> official.OfficialDataset:
    """Fashion-MNIST as if that were its official place."""
    sums = {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in FMNIST.checksums
    }
    return replace(FMNIST, url=url, checksums=sums)


def test_download(tmp_path: Path) -> None:
    write_fmnist(tmp_path / "web", 7)
    told: list[str] = []
    with serve(tmp_path / "web") as url:
        source = served(tmp_path / "web", url)
        (images, _), _ = source.load(None, told.append)
        assert images[0, 0, 0] == 7
    assert told == [f"downloading {url}{name}" for name in FMNIST.checksums]
    (again, _), _ = source.load(None, told.append)  # the server is gone
    assert np.array_equal(again, images)
    files = sorted(path.name for path in (tmp_path / "cache" / "fashion-mnist").iterdir())
    assert files == sorted(FMNIST.checksums)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_download_with_a_progress_bar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    write_fmnist(tmp_path / "web")
    told: list[str] = []
    with serve(tmp_path / "web") as url:
        served(tmp_path / "web", url).load(None, told.append)
    assert told == []
    size = (tmp_path / "web" / TRAIN).stat().st_size / 1000
    assert TRAIN in terminal.getvalue()
    assert f"{size:.1f}/{size:.1f} kB" in terminal.getvalue()


def test_download_with_a_wrong_checksum_leaves_nothing(tmp_path: Path) -> None:
    write_fmnist(tmp_path / "web")
    with serve(tmp_path / "web") as url:
        source = served(tmp_path / "web", url)
        (tmp_path / "web" / TRAIN_LABELS).write_bytes(b"something else")
        with pytest.raises(InputError, match="checksum is wrong") as caught:
            source.load(None, lambda note: None)
    assert str(caught.value).startswith(f"{url}{TRAIN_LABELS}: ")
    assert [path.name for path in (tmp_path / "cache" / "fashion-mnist").iterdir()] == [TRAIN]


@pytest.mark.parametrize("missing_only", [True, False])
def test_nothing_found_and_no_download(missing_only: bool, tmp_path: Path) -> None:
    write_fmnist(tmp_path / "web")
    with serve(tmp_path / "web") as url:
        source = served(tmp_path / "web", url)
        (tmp_path / "web" / TRAIN).unlink()
        if missing_only:
            with pytest.raises(InputError, match="HTTPError"):
                source.load(None, lambda note: None)
    if not missing_only:
        with pytest.raises(InputError) as caught:
            source.load(str(tmp_path / "given"), lambda note: None)
        line = str(caught.value)
        places = [tmp_path / name for name in ("given", "cache", "debian")]
        for part in (*FMNIST.checksums, *places, url, "data_dir", "FLEXPRESS_DATA"):
            assert str(part) in line
        assert "\n" not in line
