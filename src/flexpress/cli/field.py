"""The commands `server`, `courier` and `client`: the programs of the field."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

import flexpress

KitFolder = Annotated[Path, typer.Argument(metavar="KIT", hidden=True)]
JsonLines = Annotated[bool, typer.Option("--json", help="Log one JSON object per line.")]


def server(
    folder: KitFolder,
    restored: Annotated[
        bool, typer.Option("--restored", help="Once, after KIT was replaced by an older copy.")
    ] = False,
    as_json: JsonLines = False,
) -> None:
    """Run the server of a mission: hand out models, merge what comes home.

    KIT is its folder, from `flexpress provision`. It works until it is stopped, by Ctrl-C or by
    `flexpress operate KITS/operator stop`, and continues where it was when it is started again.
    The run is kept in KIT/run: `flexpress report` shows it.
    """
    log = flexpress.field.make_log("server", sys.stderr, as_json)
    flexpress.field.run_server(folder, log=log, restored=restored)


def courier(
    folder: KitFolder,
    autopilot: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="Follow this autopilot: udpin://0.0.0.0:14540, serial:..."
        ),
    ] = None,
    as_json: JsonLines = False,
) -> None:
    """Run a courier: take the model to clients, bring their updates home.

    KIT is its folder, from `flexpress provision`. Without an autopilot it visits clients at the
    times of the plan. It ends when the mission is over; stopped before, it continues where it was
    when it is started again.
    """
    field = flexpress.field
    log = field.make_log(folder.name, sys.stderr, as_json)
    field.run_courier(folder, log=log, autopilot=autopilot)


def client(folder: KitFolder, as_json: JsonLines = False) -> None:
    """Run a client: train on its own samples, and serve couriers that come near.

    KIT is its folder, from `flexpress provision`. It works until it is stopped, and continues where
    it was when it is started again.
    """
    flexpress.field.run_client(
        folder, log=flexpress.field.make_log(folder.name, sys.stderr, as_json)
    )
