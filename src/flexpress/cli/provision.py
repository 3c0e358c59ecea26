"""The command `provision`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, cast

import click
import typer

import flexpress
from flexpress.cli.arguments import find_modules, find_scenario, stored_plan
from flexpress.cli.options import ALGORITHMS, PlanFile, ScenarioName, out_option
from flexpress.cli.terminal import complain, say

CLOCKS, PAYLOADS = ("wall", "plan"), ("parcel", "sum")

_CLOCK_HELP = "wall: a local step per slot of real time; plan: steps as the timetable has them."
_PAYLOAD_HELP = "parcel: sealed to the server; sum: the courier adds them up, and can read them."
_SERVER_HELP = "Where couriers find the server; by default 127.0.0.1:7600."
_CLIENTS_HELP = (
    "Where couriers find clients; {name} is the client's name; by default 127.0.0.1:7601."
)
_PATIENCE_HELP = "Seconds that a courier tries to reach a client; by default 120."


def provision(
    name: ScenarioName,
    out: Annotated[Path, out_option("DIR", "Folder of the kits; must not exist yet.")],
    plan: PlanFile = None,
    algorithm: Annotated[
        str | None, typer.Option(click_type=click.Choice(ALGORITHMS[:2]), help="Algorithm.")
    ] = None,
    clock: Annotated[
        str, typer.Option(click_type=click.Choice(CLOCKS), show_default=False, help=_CLOCK_HELP)
    ] = CLOCKS[0],
    payload: Annotated[
        str,
        typer.Option(click_type=click.Choice(PAYLOADS), show_default=False, help=_PAYLOAD_HELP),
    ] = PAYLOADS[0],
    server: Annotated[
        str, typer.Option(metavar="HOST:PORT", show_default=False, help=_SERVER_HELP)
    ] = "127.0.0.1:7600",
    clients: Annotated[
        str, typer.Option(metavar="HOST:PORT", show_default=False, help=_CLIENTS_HELP)
    ] = "127.0.0.1:7601",
    patience: Annotated[
        float, typer.Option(metavar="S", show_default=False, help=_PATIENCE_HELP)
    ] = 120.0,
    longest_tour: Annotated[
        float | None,
        typer.Option(
            metavar="S", help="Seconds after which a courier is given up; by default never."
        ),
    ] = None,
    origin: Annotated[
        str | None,
        typer.Option(metavar="LAT,LON", help="Where x = 0, y = 0 is, for the autopilot."),
    ] = None,
) -> None:
    """Make the kits of a mission: keys, certificates and settings for every program.

    SCENARIO is a TOML file, or the name of a preset if there is no such file. If all clients have
    the same HOST they listen at PORT, PORT + 1, ...; otherwise all of them at PORT.
    """
    given = find_scenario(name)
    find_modules(given, name)
    folder = flexpress.field.provision(
        given,
        stored_plan(given, plan),
        out=out,
        algorithm=cast(Any, algorithm),
        clock=cast(Any, clock),
        payload=cast(Any, payload),
        server=server,
        clients=clients,
        patience=patience,
        longest_tour=longest_tour,
        origin=None if origin is None else flexpress.planning.parse_origin(origin),
        tell=complain,
    )
    kits = [place.name for place in folder.iterdir()]
    couriers = sum(kit.startswith("courier-") for kit in kits)
    sensors = sum(kit.startswith("client-") for kit in kits)
    say(f" {folder}: kits of a server, an operator, {couriers} couriers and {sensors} clients")
    say(f" keep {folder / 'authority'} in a safe place: whoever has it can make new members")
