"""The folder of a plan: `scenario.toml`, `plan.json` and `map.png`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from flexpress.errors import InputError
from flexpress.planning import Plan, plan_to_json
from flexpress.scenario import Objective, Scenario
from flexpress.scenario.files import reason, write_file

SCENARIO, PLAN, MAP = "scenario.toml", "plan.json", "map.png"
PLAN_FILES = (SCENARIO, PLAN, MAP)
PROBE = ".flexpress.part"
PARENT = Path("flexpress-out")
LONGEST_NAME = 100


def default_folder(scenario: Scenario, objective: Objective) -> Path:
    """`flexpress-out/<scenario>-<objective>`, with what a file name should not hold taken out."""
    name = re.sub(r"[^\w.+-]+", "-", scenario.name).strip("-.")[:LONGEST_NAME]
    return PARENT / f"{name or 'scenario'}-{objective}"


def check_folder(folder: Path, names: Iterable[str]) -> None:
    """InputError now rather than after the work, if files of these names cannot be written.

    Leaves nothing behind.
    """
    made: list[Path] = []
    try:
        made = [path for path in (folder, *folder.parents) if not path.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        (folder / PROBE).touch()
        (folder / PROBE).unlink()
    except (OSError, ValueError) as error:
        raise unusable(folder, error) from None
    finally:
        for path in made:
            if path.is_dir():
                path.rmdir()
    for name in names:
        if (folder / name).is_dir():
            raise InputError(f"{folder / name}: is a folder, and a file is to be written there")


def write_folder(scenario: Scenario, plan: Plan, folder: Path) -> Path:
    """All files, or none if one cannot be made; files of an earlier plan are replaced."""
    from flexpress.report.map import map_png

    contents: dict[str, str | bytes] = {
        SCENARIO: scenario.to_toml(),
        PLAN: f"{plan_to_json(plan)}\n",
        MAP: map_png(scenario, plan),
    }
    write_files(folder, contents)
    return folder


def write_files(folder: Path, contents: Mapping[str, str | bytes]) -> None:
    """Each in one step; the folder is made if it is not there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unusable(folder, error) from None
    for name, content in contents.items():
        write_file(folder / name, content)


def unusable(folder: Path, error: OSError | ValueError) -> InputError:
    if isinstance(error, FileExistsError):
        return InputError(f"{folder}: is a file; name a folder for the plan")
    return InputError(f"{folder}: no files can be written there: {reason(error)}; name another")
