"""The map of a plan as one HTML file that needs no network, server or font.

East is right, north is up; a slider moves the drones along their tours.
"""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment

from flexpress.arguments import check_path
from flexpress.files.disk import write_files
from flexpress.files.provenance import Outputs
from flexpress.planning import Plan
from flexpress.planning.plan_file import check_plan
from flexpress.report.web_map.data import map_data
from flexpress.scenario import Scenario

DRAWING = ("theme", "flight", "view", "paint", "labels", "drones", "tooltip", "clock")
"""What draws a plan, here and in mission control."""

_SCRIPTS = (*DRAWING, "panel", "app", "input", "main")
"""In the order in which they run; all share one scope."""


def save_map(scenario: Scenario, plan: Plan, path: str | Path) -> None:
    """Write the map as an HTML file; an existing file is replaced."""
    check_plan(scenario, plan)
    path = check_path("path", path)
    write_files(path.parent, {path.name: html_map(scenario, plan)})


def write_map(scenario: Scenario, plan: Plan, path: Path, outputs: Outputs) -> None:
    """The same by a command."""
    outputs.check(path.parent, (path.name,))
    outputs.write(path.parent, [(path.name, html_map(scenario, plan))])


def html_map(scenario: Scenario, plan: Plan) -> str:
    """The whole page; the same plan gives the same text."""
    environment = Environment(autoescape=True, keep_trailing_newline=True)
    return environment.from_string(map_asset("map.html.j2")).render(
        title=f"{scenario.name}: {plan.objective}",
        style=map_asset("map.css"),
        script="\n".join(map_asset(f"{name}.js") for name in _SCRIPTS),
        data=_script_json(map_data(scenario, plan)),
    )


def map_asset(name: str) -> str:
    """A style sheet, script or template of the map."""
    return (files("flexpress.report.web_map") / "assets" / name).read_text(encoding="utf-8")


def _script_json(data: object) -> str:
    """JSON without "<", so that no name of a client can end the script."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
