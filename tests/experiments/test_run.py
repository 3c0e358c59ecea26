"""One run: known by its inputs, wherever its data lie; and when it is over."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from few_runs import PLAN, small

from flexpress.errors import InputError
from flexpress.experiments import run as module
from flexpress.experiments.results import read_result
from flexpress.experiments.run import _NAME_LENGTH, Run, _fingerprint, perform
from flexpress.learning import Dataset
from flexpress.scenario import LearningSettings
from flexpress.simulation.stored_run import is_over


@pytest.fixture
def samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the samples of every data set that has a `data_dir`."""

    def load(settings: LearningSettings) -> Dataset:
        labels = np.load(Path(settings.data_dir or "") / "samples.npy").astype(np.int32)
        images = np.zeros((len(labels), 1, 1, 1), np.uint8)
        one = np.ones(1, np.float32)
        return Dataset("made", images, labels, images, labels, 6, one, one)

    monkeypatch.setattr(module, "load_dataset", load)
    _fingerprint.cache_clear()
    folder = tmp_path / "here"
    folder.mkdir()
    np.save(folder / "samples.npy", np.arange(6))
    yield folder
    _fingerprint.cache_clear()


def key_in(folder: Path) -> str:
    return small(data_dir=str(folder)).key


def test_the_key_is_not_of_the_place(samples: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(samples, tmp_path / "there")
    assert key_in(copy) == key_in(samples)


def test_the_key_is_of_the_samples(samples: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(samples, tmp_path / "there")
    np.save(copy / "samples.npy", np.arange(6)[::-1])
    assert key_in(copy) != key_in(samples)


def test_the_key_is_of_all_inputs(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = small()
    assert len(usual.key) == _NAME_LENGTH
    assert small().key == usual.key
    turned = replace(
        PLAN,
        transporters=tuple(replace(tour, clients=tour.clients[::-1]) for tour in PLAN.transporters),
    )
    keys = [
        usual.key,
        small(seed=2).key,
        small(horizon=21).key,
        small(learning_rate=0.5).key,
        replace(usual, plan=turned).key,
        replace(usual, setting=replace(usual.setting, server_rule="landed")).key,
    ]
    monkeypatch.setattr(module, "versions", lambda: {"numpy": "another"})
    keys.append(usual.key)
    assert len(set(keys)) == len(keys) == 7


def test_the_name_of_the_scenario_does_not_matter() -> None:
    usual = small()
    assert replace(usual, scenario=usual.scenario.replace(name="another")).key == usual.key


def go(run: Run, folder: Path, *, stop: bool = False) -> bool:
    return perform(run, folder, on_event=lambda event, run: None, should_stop=lambda: stop)


def test_a_run_is_over_when_it_is_complete(tmp_path: Path) -> None:
    assert not is_over(tmp_path)
    assert not go(small(), tmp_path, stop=True)
    assert not is_over(tmp_path)
    assert go(small(), tmp_path)
    assert is_over(tmp_path)
    assert read_result(tmp_path).complete


def test_a_run_that_diverges_is_over_too(tmp_path: Path) -> None:
    assert go(small(learning_rate=1e38), tmp_path)
    assert not (tmp_path / "model.npy").exists()
    assert is_over(tmp_path)
    assert not read_result(tmp_path).complete


def test_a_folder_of_another_run(tmp_path: Path) -> None:
    go(small(), tmp_path, stop=True)
    with pytest.raises(InputError, match=r"its run has another learning\.seed"):
        go(small(seed=2), tmp_path)
