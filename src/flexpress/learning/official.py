"""Data sets as they are published: where their files are looked for, in which order."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexpress.errors import InputError
from flexpress.learning.download import download
from flexpress.learning.samples import Samples

DEBIAN = Path("/usr/share/datasets")
VARIABLE = "FLEXPRESS_DATA"


@dataclass(frozen=True)
class Official:
    """A data set as it is published."""

    name: str
    url: str
    folders: tuple[str, ...]  # names that a folder with its files may have
    checksums: dict[str, str]  # file -> SHA-256
    read: Callable[[list[Path]], tuple[Samples, Samples]]  # training and test samples

    def load(self, data_dir: str | None, tell: Callable[[str], None]) -> tuple[Samples, Samples]:
        """Training and test samples, from the first folder that has all files, or from the web."""
        searched: list[Path] = []
        for place in places(data_dir):
            for folder in (place, *(place / name for name in self.folders)):
                files = self.files_in(folder)
                if files is not None:
                    if data_dir is not None and searched:
                        tell(f"learning.data_dir: no {self.name} there; taken from {folder}")
                    return self.read(files)
            searched.append(place)
        return self.read(self.fetch(searched, tell))

    def files_in(self, folder: Path) -> list[Path] | None:
        """The files in this folder, packed or not; None if one of them is missing."""
        found = []
        for name in self.checksums:
            path = folder / name
            unpacked = path.with_suffix("") if path.suffix == ".gz" else path
            if not os.path.isfile(path) and not os.path.isfile(unpacked):
                return None
            found.append(path if os.path.isfile(path) else unpacked)
        return found

    def fetch(self, searched: list[Path], tell: Callable[[str], None]) -> list[Path]:
        """The files, downloaded into the user's cache."""
        folder = cache() / self.folders[0]
        try:
            for name, checksum in self.checksums.items():
                download(self.url + name, checksum, folder / name, tell)
        except OSError as error:
            names, places = ", ".join(self.checksums), ", ".join(map(str, searched))
            raise InputError(
                f'learning.dataset = "{self.name}": {names}: not in {places}, and the download '
                f"from {self.url} failed ({type(error).__name__}); put them into a folder and "
                f"name it in learning.data_dir or ${VARIABLE}"
            ) from error
        return [folder / name for name in self.checksums]


def places(data_dir: str | None) -> Iterator[Path]:
    """Where data are looked for, in this order."""
    if data_dir is not None:
        yield Path(os.path.expanduser(data_dir))
    if os.environ.get(VARIABLE):
        yield Path(os.path.expanduser(os.environ[VARIABLE]))
    yield cache()
    yield DEBIAN


def cache() -> Path:
    """The user's own folder for what can be downloaded again."""
    import pooch

    return Path(pooch.os_cache("flexpress"))


def check_labels(labels: NDArray[Any], first: int, path: Path) -> NDArray[np.int64]:
    """Ten of them, from `first` on."""
    if len(labels) == 0:
        raise InputError(f"{path}: has no samples; put the official file there")
    wrong = labels[(labels < first) | (labels > first + 9)]
    if len(wrong):
        raise InputError(f"{path}: label {wrong[0]}: must be {first} to {first + 9}")
    return labels.astype(np.int64)
