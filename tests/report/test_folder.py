"""The folder of a plan: whole, and refused before it is too late."""

from __future__ import annotations

from pathlib import Path

import pytest

from flexpress import InputError, Plan, Scenario, load_plan
from flexpress.files.disk import check_folder
from flexpress.files.provenance import RECORD, Outputs
from flexpress.report.folder import PLAN_FILES, default_folder, write_folder

FOUR = Scenario.preset("four")
PLAN = Plan.of(FOUR, "minmax", [[1, 2], [3, 4]], solver="exact", seed=0, seconds=0.0)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_files_load_as_what_they_were(tmp_path: Path) -> None:
    write_folder(FOUR, PLAN, tmp_path / "a" / "b", Outputs("plan"))
    assert names(tmp_path / "a" / "b") == [RECORD, "map.png", "plan.json", "scenario-used.toml"]
    scenario = Scenario.load(tmp_path / "a" / "b" / "scenario-used.toml")
    assert scenario == FOUR
    assert load_plan(tmp_path / "a" / "b" / "plan.json", scenario) == PLAN


def test_files_of_an_earlier_plan_are_replaced_and_others_left(tmp_path: Path) -> None:
    earlier = Plan.of(FOUR, "minmax", [[1, 3], [2, 4]], solver="exact", seed=0, seconds=0.0)
    write_folder(FOUR, earlier, tmp_path, Outputs("plan"))
    (tmp_path / "notes.txt").write_text("mine")
    write_folder(FOUR, PLAN, tmp_path, Outputs("plan"))
    assert load_plan(tmp_path / "plan.json", FOUR) == PLAN
    assert (tmp_path / "notes.txt").read_text() == "mine"
    expected = [RECORD, "map.png", "notes.txt", "plan.json", "scenario-used.toml"]
    assert names(tmp_path) == expected


def test_the_check_leaves_nothing_behind(tmp_path: Path) -> None:
    check_folder(tmp_path / "a" / "b", PLAN_FILES)
    check_folder(tmp_path, PLAN_FILES)
    assert names(tmp_path) == []


def test_the_check_keeps_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    check_folder(tmp_path / "a" / "b", PLAN_FILES)
    assert names(tmp_path) == ["a"]


def test_unusable_folders(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder" / "map.png").mkdir(parents=True)
    for folder, message in (
        (tmp_path / "file", "file: is a file; name a folder"),
        (tmp_path / "file" / "deeper", "no files can be written there: Not a directory"),
        (tmp_path / "folder", "map.png: is a folder, and a file is to be written there"),
        (tmp_path / ("x" * 300), "no files can be written there: File name too long"),
        (tmp_path / "a\0b", "no files can be written there: embedded null byte"),
    ):
        with pytest.raises(InputError, match=message):
            check_folder(folder, PLAN_FILES)
    assert names(tmp_path) == ["file", "folder"]


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("valley", "valley-sws"),
        ("My valley / 2", "My-valley-2-sws"),
        ("../../etc", "etc-sws"),
        ("..", "scenario-sws"),
        ("Tal-Süd", "Tal-Süd-sws"),
        ("x" * 300, "x" * 100 + "-sws"),
    ],
)
def test_the_default_folder_is_a_plain_name(name: str, folder: str) -> None:
    assert default_folder(FOUR.replace(name=name), "sws") == Path("flexpress-out") / folder
