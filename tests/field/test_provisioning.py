"""Kits are made as a whole, or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from flexpress.errors import InputError
from flexpress.field import provision
from flexpress.scenario import Scenario

FOUR = Scenario.preset("four").replace(
    learning={"samples_per_client": 30, "batch_size": 8, "model": "logistic"},
)


def test_nothing_is_left_of_kits_that_could_not_be_made(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="would listen at 6553"):
        provision(FOUR, out=tmp_path / "kits", clients="127.0.0.1:65535")
    assert list(tmp_path.iterdir()) == []


def test_the_present_folder_is_no_folder_for_kits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="name a folder that does not exist yet"):
        provision(FOUR, out=".")
