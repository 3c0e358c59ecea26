"""The command `data`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import flexpress
from flexpress.cli.arguments import find_modules, find_scenario, inputs_of, stored_plan
from flexpress.cli.options import PlanFile, ScenarioName, out_option
from flexpress.cli.progress import best_cost, watched
from flexpress.cli.terminal import complain, say, show

_DATA = "data.png"
_OUT_HELP = f"Folder for {_DATA}; by default one in flexpress-out."


def data(
    name: ScenarioName,
    plan: PlanFile = None,
    out: Annotated[Path | None, out_option("DIR", _OUT_HELP)] = None,
) -> None:
    """Draw which labels every client has, and those of each transporter's clients together.

    SCENARIO is a TOML file, or the name of a preset if there is no such file.
    """
    given = find_scenario(name)
    folder = out or flexpress.report.default_folder(given, "data")
    outputs = flexpress.files.Outputs("data", inputs_of(name, plan))
    outputs.check(folder, (_DATA,))
    find_modules(given, name)
    counts = flexpress.learning.make_task(given, tell=complain).label_counts()
    chosen = stored_plan(given, plan)
    if chosen is None:
        with watched(
            given.plan.solver, best_cost(given.plan.objective, given.plan.round_trips)
        ) as screen:
            chosen = flexpress.make_plan(given, on_progress=screen.planning)
    with outputs:
        outputs.write(folder, [(_DATA, flexpress.report.label_mix_png(given, chosen, counts))])
        show(flexpress.report.show_label_mix, given, chosen, counts)
        say(f" picture: {folder / _DATA}")
