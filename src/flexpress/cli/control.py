"""The command `control`."""

from __future__ import annotations

from typing import Annotated

import typer

import flexpress
from flexpress.cli.terminal import say


def control(
    name: Annotated[str, typer.Argument(metavar="[WHAT]", hidden=True)] = "",
    port: Annotated[
        int,
        typer.Option(
            metavar="P", min=0, max=65535, help="Port; by default a free one.", show_default=False
        ),
    ] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page.", show_default=False)
    ] = True,
    tiles: Annotated[
        str, typer.Option(metavar="URL", help="Background of the map: https://host/{z}/{x}/{y}.png")
    ] = "",
) -> None:
    """Plan, watch and fly in the browser, on this machine.

    WHAT is a scenario or a preset, the folder of a plan or run, or the operator's or server's kit
    of a mission. Without it, the draft in this folder goes on. Ctrl-C ends it; nothing is lost.
    """

    def ready(address: str) -> None:
        say(address)
        if browser:
            import webbrowser

            webbrowser.open(address)

    flexpress.control.run_control(name, port=port, tiles=tiles, on_ready=ready)
