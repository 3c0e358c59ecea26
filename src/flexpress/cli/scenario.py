"""The command `scenario`."""

from __future__ import annotations

from typing import Annotated

import typer

import flexpress
from flexpress.cli.terminal import say, show


def scenario(
    preset: Annotated[str | None, typer.Argument(metavar="[PRESET]", hidden=True)] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="Draw other positions, if they are generated.")
    ] = None,
    names: Annotated[bool, typer.Option("--list", help="List the presets.")] = False,
) -> None:
    """List the presets, or print one as TOML.

    The text is ready to be edited: flexpress scenario valley > mine.toml
    """
    if preset is None or names:
        show(flexpress.report.show_presets)
        return
    flexpress.Scenario.preset(preset, seed)  # a text that does not load is not printed
    say(flexpress.scenario.preset_text(preset, seed).rstrip("\n"))
