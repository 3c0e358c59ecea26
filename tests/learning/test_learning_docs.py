"""The page about learning names every data set, file, model and engine, with their right sizes."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from flexpress.learning import Engine
from flexpress.learning.architecture import MODELS
from flexpress.learning.datasets import _DATASETS, load_dataset
from flexpress.learning.fmnist import FMNIST
from flexpress.learning.official import _DEBIAN, _VARIABLE
from flexpress.learning.svhn import SVHN
from flexpress.scenario import LearningSettings, Partition

PAGE = (Path(__file__).parents[2] / "docs" / "learning.md").read_text(encoding="utf-8")


def row(name: str) -> list[str]:
    """The cells behind this name in the first table that has it."""
    line = next(line for line in PAGE.splitlines() if line.startswith(f"| `{name}` |"))
    return [cell.strip() for cell in line.split("|")[2:-1]]


def test_every_name() -> None:
    names = [*_DATASETS, *MODELS, *get_args(Partition), *get_args(Engine)]
    assert len({tuple(row(name)) for name in names}) == len(names)


@pytest.mark.parametrize("name", MODELS)
def test_sizes_of_models(name: str) -> None:
    grey, colour = (MODELS[name](image, 10).num_params for image in ((1, 28, 28), (3, 32, 32)))
    assert row(name)[1:] == [f"{grey:,}", f"{colour:,}"]


def test_the_embedded_images() -> None:
    data = load_dataset(LearningSettings(dataset="fmnist-mini"))
    sizes = [f"{len(labels):,}" for labels in (data.train_labels, data.test_labels)]
    assert row("fmnist-mini")[1:3] == sizes


def test_files_and_places() -> None:
    for official in (FMNIST, SVHN):
        files = ", ".join(f"`{name}`" for name in official.checksums)
        assert f"| `{official.name}` | {files} |" in PAGE
        assert [name for name in official.folders if f"`{name}`" not in PAGE] == []
    assert f"`{_VARIABLE}`" in PAGE
    assert f"| `{_DEBIAN}` |" in PAGE
