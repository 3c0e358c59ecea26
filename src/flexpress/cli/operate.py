"""The command `operate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import click
import typer

import flexpress
from flexpress.cli.field import KitFolder
from flexpress.cli.options import Json
from flexpress.cli.terminal import say, show
from flexpress.errors import InputError

ACTIONS = ("status", "void", "revoke", "add", "move", "stop")


def operate(
    folder: KitFolder,
    action: Annotated[
        str, typer.Argument(metavar="ACTION", hidden=True, click_type=click.Choice(ACTIONS))
    ],
    what: Annotated[str, typer.Argument(metavar="[WHAT]", hidden=True)] = "",
    courier: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="add, move: the courier that visits the client."),
    ] = None,
    at: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="add: where it finds the client.")
    ] = None,
    samples: Annotated[
        Path | None, typer.Option(metavar="FILE", help="add: the client's samples, an .npz file.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Look after a mission: its status, and what only a person may decide.

    KIT is the operator's folder, from `flexpress provision`. ACTION is one of: status; void TOUR,
    or void COURIER if it has not departed, when a courier is lost; revoke NAME, when a program or
    its kit is stolen; add NAME, a new courier, or a new client with --courier, --at and --samples;
    move CLIENT to another --courier; stop, which ends the server in good order.
    """
    field = flexpress.field
    if action == "add":
        made = _add(folder, what, courier, at, samples)
        say(f" {made}: its kit; take it there, and start its program")
        return
    answer = field.operate(folder, action, what, courier=courier)
    if as_json:
        say(field.status_to_json(answer))
    elif isinstance(answer, field.Done):
        say(f" {answer.text}")
    else:
        from flexpress.cli.mission_table import show_mission  # loads rich

        show(show_mission, answer)


def _add(
    folder: Path, name: str, courier: str | None, at: str | None, samples: Path | None
) -> Path:
    field = flexpress.field
    if name.startswith("courier-"):
        return field.add_courier(folder, name)
    if not name.startswith("client-"):
        raise InputError(f"add {name}: must be courier-NAME or client-NAME")
    if courier is None or at is None or samples is None:
        raise InputError(f"add {name}: a client needs --courier, --at and --samples")
    return field.add_client(folder, name, courier=courier, at=at, samples=samples)
