"""A kept run is used again only if it is the one that belongs there, as it was written."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from few_runs import alone, results, several, small
from small_run import contents

from flexpress.errors import InputError
from flexpress.experiments import run as module
from flexpress.experiments.parallel import _files_in
from flexpress.experiments.run import is_kept
from flexpress.files.disk import write_files
from flexpress.files.versions import versions

REMEDY = "delete the folder of this run, and start again"


def refused(folder: Path, expected: str) -> None:
    before = contents(folder)
    with pytest.raises(InputError, match=f"{expected}; {REMEDY}$") as caught:
        is_kept(small(), folder)
    assert str(caught.value).startswith(str(folder))
    assert contents(folder) == before


def make(folder: Path, seed: int = 1) -> Path:
    key = str(seed)
    alone({key: small(seed)}, folder)
    return folder / key


def test_it_is_kept(tmp_path: Path) -> None:
    assert not is_kept(small(), tmp_path)
    assert is_kept(small(), make(tmp_path))


def test_the_run_of_another_folder(tmp_path: Path) -> None:
    refused(make(tmp_path, seed=2), "holds a run with another scenario")


def test_one_of_other_versions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its folder has another name then: somebody has renamed it."""
    folder, usual = make(tmp_path), versions()
    monkeypatch.setattr(module, "versions", lambda: {**usual, "numpy": "0.1"})
    refused(folder, f"holds a run with numpy {usual['numpy']}, and here it is 0.1")


def test_one_with_other_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make(tmp_path)
    monkeypatch.setattr(module, "_fingerprint", lambda *_: "other")
    refused(folder, "holds a run with other data")


@pytest.mark.parametrize(
    "name", ["scenario-used.toml", "plan.json", "trace.jsonl", "metrics.csv", "model.npy"]
)
def test_one_that_was_changed(name: str, tmp_path: Path) -> None:
    folder = make(tmp_path)
    with (folder / name).open("ab") as file:
        file.write(b"\n")
    refused(folder, f"{name}: was changed since `flexpress reproduce` wrote it")


def test_measurements_of_another_run(tmp_path: Path) -> None:
    folder, other = make(tmp_path), make(tmp_path, seed=2)
    shutil.copy(other / "metrics.csv", folder)
    refused(folder, r"metrics\.csv: was changed since `flexpress reproduce` wrote it")


def test_files_that_come_home_from_elsewhere(tmp_path: Path) -> None:
    """With the record of who wrote them."""
    folder = make(tmp_path)
    write_files(tmp_path / "home", _files_in(folder))
    assert contents(tmp_path / "home") == contents(folder)
    assert is_kept(small(), tmp_path / "home")


def test_it_is_resumed_after_a_journey(tmp_path: Path) -> None:
    runs = several(1, horizon=40)
    expected = alone(runs, tmp_path / "whole")
    (key,) = runs
    answers = iter([False] * 30)
    module.perform(
        runs[key],
        tmp_path / "there",
        on_event=lambda event, simulation: None,
        should_stop=lambda: next(answers, True),
    )
    write_files(tmp_path / "home" / key, _files_in(tmp_path / "there"))
    assert alone(runs, tmp_path / "home") == expected == results(runs, tmp_path / "home")
