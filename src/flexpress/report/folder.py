"""The folder of a plan: `plan.json`, `scenario-used.toml` and `map.png`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from flexpress.files.disk import PLAN, SCENARIO
from flexpress.files.provenance import Outputs
from flexpress.planning import Plan, plan_to_json
from flexpress.scenario import Scenario

MAP = "map.png"
PLAN_FILES = (PLAN, SCENARIO, MAP)
OUT = Path("flexpress-out")
"""Where commands write unless a folder is named."""
_LONGEST_NAME = 100


def default_folder(scenario: Scenario, kind: str) -> Path:
    """`flexpress-out/<scenario>-<kind>`, without characters that do not belong in a file name."""
    name = re.sub(r"[^\w.+-]+", "-", scenario.name).strip("-.")[:_LONGEST_NAME]
    return OUT / f"{name or 'scenario'}-{kind}"


def write_folder(scenario: Scenario, plan: Plan, folder: Path, outputs: Outputs) -> None:
    """Write the plan first, which may have taken long; the rest can be made again from it."""
    outputs.write(folder, _plan_files(scenario, plan))


def _plan_files(scenario: Scenario, plan: Plan) -> Iterator[tuple[str, str | bytes]]:
    from flexpress.report.figures.map import map_png

    yield PLAN, f"{plan_to_json(plan)}\n"
    yield SCENARIO, scenario.to_toml()
    yield MAP, map_png(scenario, plan)
