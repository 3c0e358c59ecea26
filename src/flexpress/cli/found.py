"""What the arguments of commands name: scenarios and plans."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from flexpress.errors import InputError

if TYPE_CHECKING:
    from flexpress.planning import Plan
    from flexpress.scenario import Scenario


def out_path(text: str) -> Path:
    """Where to write; an empty text would mean the working folder."""
    if not text:
        raise InputError("--out '': is empty; name a place, or omit --out")
    return Path(text)


def find_scenario(name: str) -> Scenario:
    """The scenario in a file, or the preset of that name if there is no such file."""
    from flexpress.scenario import Scenario, preset_names
    from flexpress.scenario.validation_errors import nearest

    if os.path.exists(name) and not (os.path.isdir(name) and name in preset_names()):
        return Scenario.load(name)
    if name in preset_names():
        return Scenario.preset(name)
    names = preset_names()
    raise InputError(
        f"{name}: no such file, and no preset of that name{nearest(name, names)}; "
        f"the presets are {', '.join(names)}"
    )


def scenario_files(name: str) -> list[Path]:
    """The files that `find_scenario` reads: none of a preset."""
    from flexpress.scenario.inputs import input_files

    return input_files(Path(name)) if os.path.isfile(name) else []


def find_plan(name: str, scenario: str | None) -> tuple[Scenario, Plan, list[Path]]:
    """The plan in a file, or in a folder that `flexpress plan` wrote; its scenario.

    And the files that were read, that of the plan first.

    The scenario is the one beside the plan, unless another is named.
    """
    from flexpress.files.disk import SCENARIO
    from flexpress.planning import load_plan

    path = plan_file(Path(name))
    beside = path.parent / SCENARIO
    if scenario is None and not beside.exists():
        raise InputError(f"{beside}: no such file; name the plan's scenario with --scenario")
    given = find_scenario(scenario or str(beside))
    return given, load_plan(path, given), [path, *scenario_files(scenario or str(beside))]


def stored_plan(scenario: Scenario, path: Path) -> Plan:
    """The plan of this scenario in a file, or in a folder."""
    from flexpress.planning import load_plan

    return load_plan(plan_file(path), scenario)


def plan_files(path: Path | None) -> list[Path]:
    """The file that `stored_plan` reads, if a plan is named."""
    return [plan_file(path)] if path else []


def plan_file(path: Path) -> Path:
    """The file itself, or the one in the folder."""
    from flexpress.files.disk import PLAN

    if path.is_dir():
        path = path / PLAN
    if not path.exists():
        raise InputError(f"{path}: no such plan; `flexpress plan SCENARIO` makes one")
    return path
