"""The page itself: one HTML file, its style, and its script.

The script is the map's of `flexpress map` and this page's own, joined: they share one scope, as in
the exported file.
"""

from __future__ import annotations

from importlib.resources import files

from aiohttp import web

from flexpress.report.web_map.html_map import DRAWING, map_asset

_OWN = (
    "page",
    "socket",
    "scene",
    "tiles",
    "chart",
    "fields",
    "sensors",
    "tools",
    "plan_tab",
    "learn_tab",
    "field_tab",
    "start",
)
"""In the order in which they run."""

PAGE_FILES = ("control.css", "map.css", "control.js")

_KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript"}


async def page_file(name: str) -> web.Response:
    kind = _KINDS[name.rpartition(".")[2]]
    return web.Response(text=_content(name), content_type=kind, charset="utf-8")


def _content(name: str) -> str:
    if name == "map.css":
        return map_asset(name)
    if name == "control.js":
        scripts = [map_asset(f"{each}.js") for each in DRAWING]
        scripts += [_own(f"{each}.js") for each in _OWN]
        return '"use strict";\n(() => {\n' + "\n".join(scripts) + "\n})();\n"
    return _own(name)


def _own(name: str) -> str:
    return (files("flexpress.control.page") / "assets" / name).read_text(encoding="utf-8")
