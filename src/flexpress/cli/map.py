"""The command `map`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import flexpress
from flexpress.cli.arguments import find_plan
from flexpress.cli.options import PlanName, PlanScenario, out_option
from flexpress.cli.terminal import say

_OUT_HELP = "The page; by default map.html beside the plan."


def map_plan(
    name: PlanName,
    out: Annotated[Path | None, out_option("FILE", _OUT_HELP)] = None,
    scenario: PlanScenario = None,
) -> None:
    """Write a map of a plan as one HTML file that works offline.

    PLAN is a plan.json or the folder it is in. Pan, zoom, hover; a slider moves the drones.
    """
    given, plan, inputs = find_plan(name, scenario)
    path = out or inputs[0].with_name("map.html")
    with flexpress.files.Outputs("map", inputs) as outputs:
        flexpress.report.write_map(given, plan, path, outputs)
        say(str(path))
