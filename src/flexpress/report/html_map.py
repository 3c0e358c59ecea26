"""The map of a plan as one HTML file that needs nothing else: no network, no server, no font.

East is right, north is up; a slider moves the drones along their tours.
"""

from __future__ import annotations

import html
import json
import re
from importlib.resources import files
from pathlib import Path

from flexpress.arguments import check_path
from flexpress.files.disk import write_files
from flexpress.files.provenance import Outputs
from flexpress.planning import Plan
from flexpress.planning.plan_file import check_plan
from flexpress.report.map_data import map_data
from flexpress.scenario import Scenario

SCRIPTS = (
    "theme",
    "flight",
    "view",
    "paint",
    "labels",
    "drones",
    "tip",
    "panel",
    "clock",
    "app",
    "hands",
    "main",
)
"""In the order in which they are read; each is one idea, all share one scope."""


def save_html_map(scenario: Scenario, plan: Plan, path: str | Path) -> None:
    """The map as an HTML file, which is replaced; the same plan gives the same bytes."""
    check_plan(scenario, plan)
    path = check_path("path", path)
    write_files(path.parent, {path.name: html_map(scenario, plan)})


def write_map(scenario: Scenario, plan: Plan, path: Path, outputs: Outputs) -> None:
    """The same by a command."""
    outputs.check(path.parent, (path.name,))
    outputs.write(path.parent, [(path.name, html_map(scenario, plan))])


def html_map(scenario: Scenario, plan: Plan) -> str:
    """The whole page; the same plan gives the same text."""
    parts = {
        "title": html.escape(f"{scenario.name}: {plan.objective}"),
        "style": asset("map.css"),
        "script": "\n".join(asset(f"{name}.js") for name in SCRIPTS),
        "data": script_json(map_data(scenario, plan)),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], asset("map.html"))


def asset(name: str) -> str:
    return (files("flexpress.report") / "assets" / name).read_text(encoding="utf-8")


def script_json(data: object) -> str:
    """JSON that no text within can end, whatever a client is called: it holds no < at all."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
