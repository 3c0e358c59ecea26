"""The files that arguments of commands name: scenarios, plans, modules of the user's own."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import flexpress
from flexpress.arguments import nearest
from flexpress.errors import InputError


def find_scenario(name: str) -> flexpress.Scenario:
    """The scenario in a file, or the preset of that name if no such file exists."""
    names = flexpress.scenario.preset_names()
    if os.path.exists(name) and not (os.path.isdir(name) and name in names):
        return flexpress.Scenario.load(name)
    if name in names:
        return flexpress.Scenario.preset(name)
    raise InputError(
        f"{name}: no such file, and no preset of that name{nearest(name, names)}; "
        f"the presets are {', '.join(names)}"
    )


def scenario_files(name: str) -> list[Path]:
    """The files that `find_scenario` reads: none for a preset."""
    return flexpress.scenario.input_files(Path(name)) if os.path.isfile(name) else []


def find_plan(
    name: str, scenario: str | None
) -> tuple[flexpress.Scenario, flexpress.Plan, list[Path]]:
    """The plan in a file or folder, its scenario, and the files that were read, the plan first.

    The scenario is the one beside the plan, unless another is named.
    """
    path = _plan_file(Path(name))
    beside = path.parent / flexpress.files.SCENARIO
    if scenario is None and not beside.exists():
        raise InputError(f"{beside}: no such file; name the plan's scenario with --scenario")
    source = scenario or str(beside)
    given = find_scenario(source)
    return given, flexpress.load_plan(path, given), [path, *scenario_files(source)]


def stored_plan(scenario: flexpress.Scenario, path: Path | None) -> flexpress.Plan | None:
    """The plan of this scenario in a file or folder, if one is named."""
    return flexpress.load_plan(_plan_file(path), scenario) if path else None


def _plan_file(path: Path) -> Path:
    """The file itself, or the one in the folder."""
    if path.is_dir():
        path = path / flexpress.files.PLAN
    if not path.exists():
        raise InputError(f"{path}: no such plan; `flexpress plan SCENARIO` makes one")
    return path


def inputs_of(name: str, plan: Path | None) -> list[Path]:
    """The files of a scenario and of a plan, which must not be replaced."""
    return [*scenario_files(name), *([_plan_file(plan)] if plan else [])]


def find_modules(given: flexpress.Scenario, name: str) -> None:
    """The user's own modules are searched beside the scenario, and in the working folder.

    Only if it names any: a file there may have the name of a module that Python itself needs.
    """
    if not any(":" in function for function in (given.learning.dataset, given.learning.model)):
        return
    for folder in (str(Path(name).resolve().parent), str(Path.cwd())):
        if folder not in sys.path:
            sys.path.insert(0, folder)
