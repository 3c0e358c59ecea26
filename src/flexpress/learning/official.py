"""Published data sets: where their official files are searched for, and their download."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexpress.arrays import IntArray
from flexpress.callbacks import Tell
from flexpress.errors import InputError

if TYPE_CHECKING:
    from rich.progress import Progress

Samples = tuple[NDArray[Any], NDArray[Any]]
"""Images and their labels."""

_DEBIAN = Path("/usr/share/datasets")
_VARIABLE = "FLEXPRESS_DATA"

_TIMEOUT = 30.0
"""Seconds without an answer."""

_CHUNK = 2**16
_HEADERS = {"Accept-Encoding": "identity"}
"""Otherwise a server may label a .gz file as compressed for transfer, and it would be unpacked."""


@dataclass(frozen=True)
class OfficialDataset:
    """A data set as it was published."""

    name: str
    url: str
    folders: tuple[str, ...]  # names that a folder with its files may have
    checksums: dict[str, str]  # file -> SHA-256
    read: Callable[[list[Path]], tuple[Samples, Samples]]  # training and test samples

    def load(self, data_dir: str | None, tell: Tell) -> tuple[Samples, Samples]:
        """Training and test samples, from the first folder that has all files, or from the web."""
        searched: list[Path] = []
        for place in _places(data_dir):
            for folder in (place, *(place / name for name in self.folders)):
                files = self._files_in(folder)
                if files is not None:
                    if data_dir is not None and searched:
                        tell(f"learning.data_dir: no {self.name} there; taken from {folder}")
                    return self.read(files)
            searched.append(place)
        return self.read(self._download(searched, tell))

    def _files_in(self, folder: Path) -> list[Path] | None:
        """The files in this folder, packed or not; None if one of them is missing."""
        found = []
        for name in self.checksums:
            path = folder / name
            unpacked = path.with_suffix("") if path.suffix == ".gz" else path
            if not os.path.isfile(path) and not os.path.isfile(unpacked):
                return None
            found.append(path if os.path.isfile(path) else unpacked)
        return found

    def _download(self, searched: list[Path], tell: Tell) -> list[Path]:
        """The files, downloaded into the user's cache."""
        folder = _cache() / self.folders[0]
        try:
            for name, checksum in self.checksums.items():
                _download_file(self.url + name, checksum, folder / name, tell)
        except OSError as error:
            names, places = ", ".join(self.checksums), ", ".join(map(str, searched))
            raise InputError(
                f'learning.dataset = "{self.name}": {names}: not in {places}, and the download '
                f"from {self.url} failed ({type(error).__name__}); put them into a folder and "
                f"name it in learning.data_dir or ${_VARIABLE}"
            ) from error
        return [folder / name for name in self.checksums]


def check_labels(labels: NDArray[Any], first: int, path: Path) -> IntArray:
    """InputError unless they are the ten labels from `first` on."""
    if len(labels) == 0:
        raise InputError(f"{path}: has no samples; put the official file there")
    wrong = labels[(labels < first) | (labels > first + 9)]
    if len(wrong):
        raise InputError(f"{path}: label {wrong[0]}: must be {first} to {first + 9}")
    return labels.astype(np.int64)


def _cache() -> Path:
    """The user's folder for files that can be downloaded again."""
    import pooch

    return Path(pooch.os_cache("flexpress"))


def _places(data_dir: str | None) -> Iterator[Path]:
    """Folders to search, in this order."""
    if data_dir is not None:
        yield Path(os.path.expanduser(data_dir))
    if os.environ.get(_VARIABLE):
        yield Path(os.path.expanduser(os.environ[_VARIABLE]))
    yield _cache()
    yield _DEBIAN


def _download_file(url: str, sha256: str, path: Path, tell: Tell) -> None:
    """The file gets its name once it is complete and its checksum is right."""
    import pooch

    with _silenced(pooch.get_logger()), _progress_bar(path.name, url, tell) as bar:
        downloader = pooch.HTTPDownloader(
            progressbar=bar or False, chunk_size=_CHUNK, timeout=_TIMEOUT, headers=_HEADERS
        )
        try:
            pooch.retrieve(url, f"sha256:{sha256}", path.name, path.parent, downloader=downloader)
        except ValueError:  # pooch's error for a wrong checksum
            raise InputError(
                f"{url}: not the official file, its checksum is wrong; try again, or get it "
                "elsewhere and name its folder in learning.data_dir"
            ) from None


@contextmanager
def _silenced(logger: logging.Logger) -> Iterator[None]:
    """Without pooch's messages: the progress bar replaces them."""
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


@contextmanager
def _progress_bar(name: str, url: str, tell: Tell) -> Iterator[_Bar | None]:
    """A live bar on standard error, or one note if that is not a terminal."""
    if not sys.stderr.isatty():
        tell(f"downloading {url}")
        yield None
        return
    from rich.console import Console
    from rich.progress import DownloadColumn, Progress, TimeRemainingColumn

    columns = (*Progress.get_default_columns()[:2], DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as live:
        yield _Bar(live, name)


class _Bar:
    """Adapts rich's progress bar to the interface that pooch expects."""

    def __init__(self, live: Progress, name: str) -> None:
        self._live = live
        self._task = live.add_task(name, total=None)

    @property
    def total(self) -> float | None:
        return self._live.tasks[0].total

    @total.setter
    def total(self, size: float) -> None:
        self._live.update(self._task, total=size or None)

    def update(self, count: int) -> None:
        self._live.advance(self._task, count)

    def reset(self) -> None:
        """pooch calls it at the end, then `update` with the whole size."""
        self._live.update(self._task, completed=0)

    def close(self) -> None:
        pass
