"""The folder of a plan: `scenario-used.toml`, `plan.json` and `map.png`."""

from __future__ import annotations

import re
from pathlib import Path

from flexpress.planning import Plan, plan_to_json
from flexpress.scenario import Scenario
from flexpress.scenario.folder import PLAN, SCENARIO, write_files

MAP = "map.png"
PLAN_FILES = (SCENARIO, PLAN, MAP)
PARENT = Path("flexpress-out")
LONGEST_NAME = 100


def default_folder(scenario: Scenario, kind: str) -> Path:
    """`flexpress-out/<scenario>-<kind>`, with what a file name should not hold taken out."""
    name = re.sub(r"[^\w.+-]+", "-", scenario.name).strip("-.")[:LONGEST_NAME]
    return PARENT / f"{name or 'scenario'}-{kind}"


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
