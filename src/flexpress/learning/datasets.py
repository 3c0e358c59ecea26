"""The name of a data set -> its samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flexpress.errors import InputError
from flexpress.learning.fmnist import FMNIST, load_mini
from flexpress.learning.named import call_named, import_named
from flexpress.learning.samples import Samples, make_dataset
from flexpress.learning.svhn import SVHN
from flexpress.learning.task import Dataset
from flexpress.scenario import LearningSettings

Tell = Callable[[str], None]
Load = Callable[[str | None, Tell], tuple[Samples, Samples]]

DATASETS: dict[str, Load] = {
    "fmnist-mini": load_mini,
    "fmnist": FMNIST.load,
    "svhn": SVHN.load,
}


def ignore(note: str) -> None:
    """For those who do not want to be told."""


def load_dataset(settings: LearningSettings, tell: Tell = ignore) -> Dataset:
    """The samples that `learning.dataset` names; `tell` hears of downloads."""
    name = settings.dataset
    if name in DATASETS:
        return make_dataset(name, *DATASETS[name](settings.data_dir, tell), num_classes=10)
    return make_dataset(name, *load_own(name))


def load_own(name: str) -> tuple[Samples, Samples]:
    """What the user's function returns: ((images, labels), (images, labels))."""
    function = import_named("learning.dataset", name, DATASETS)
    result: Any = call_named("learning.dataset", name, function)
    try:
        (train_images, train_labels), (test_images, test_labels) = result
    except (TypeError, ValueError):
        raise InputError(
            f'learning.dataset = "{name}": {name}() returned no pair of pairs: must return '
            "(train_images, train_labels), (test_images, test_labels)"
        ) from None
    return (train_images, train_labels), (test_images, test_labels)
