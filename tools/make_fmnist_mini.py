"""Makes the part of Fashion-MNIST that the package embeds: python tools/make_fmnist_mini.py FOLDER

FOLDER has the four official files. Taken are the first images of each label, in their order. The
output is a pure function of the input and the version of zlib: no time stamps, best compression.
"""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from flexpress.learning.fmnist import FMNIST, MINI, read_idx

PER_LABEL = {"train": 600, "t10k": 200}


def main(folder: Path) -> None:
    names = {(name.split("-")[0], "labels" in name): name for name in FMNIST.checksums}
    for part, count in PER_LABEL.items():
        labels = read_idx(folder / names[part, True])
        chosen = first_of_each(labels, count)
        write_idx(MINI / names[part, True], labels[chosen])
        write_idx(MINI / names[part, False], read_idx(folder / names[part, False])[chosen])


def first_of_each(labels: NDArray[np.uint8], count: int) -> NDArray[np.int64]:
    """Where the first `count` samples of each label are, in the order in which they stand."""
    return np.sort(np.concatenate([np.flatnonzero(labels == i)[:count] for i in range(10)]))


def write_idx(path: Path, array: NDArray[np.uint8]) -> None:
    header = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, dtype=">u4").tobytes()
    path.write_bytes(gzip.compress(header + array.tobytes(), 9, mtime=0))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
