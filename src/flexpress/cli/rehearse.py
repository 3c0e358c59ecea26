"""The command `rehearse`."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain, count
from pathlib import Path
from typing import Annotated, Any, cast

import click
import typer

import flexpress
from flexpress.cli.arguments import find_modules, find_scenario, stored_plan
from flexpress.cli.interrupt import INTERRUPTED, interruptible
from flexpress.cli.options import ALGORITHMS, PlanFile, out_option
from flexpress.cli.provision import PAYLOADS
from flexpress.cli.terminal import complain, say

_DIFFERENT = 6
"""The exit code if the field's run is not the simulator's: that must not happen."""

_HORIZON_HELP = "Slots to fly; by default 60, whatever the scenario says."
_SPEEDUP_HELP = "Seconds of the plan that pass in one second; by default 600."
_OUT_HELP = "Folder of the rehearsal; by default one in flexpress-out."


def rehearse(
    name: Annotated[str, typer.Argument(metavar="[SCENARIO]", hidden=True)] = "valley",
    plan: PlanFile = None,
    algorithm: Annotated[
        str | None, typer.Option(click_type=click.Choice(ALGORITHMS[:2]), help="Algorithm.")
    ] = None,
    horizon: Annotated[int, typer.Option(metavar="T", show_default=False, help=_HORIZON_HELP)] = 60,
    head_start: Annotated[
        float | None, typer.Option(metavar="G", help="Head start of the clients, 0 to 1.")
    ] = None,
    payload: Annotated[
        str,
        typer.Option(
            click_type=click.Choice(PAYLOADS), show_default=False, help="What couriers carry."
        ),
    ] = PAYLOADS[0],
    speedup: Annotated[
        float, typer.Option(metavar="X", show_default=False, help=_SPEEDUP_HELP)
    ] = 600.0,
    out: Annotated[Path | None, out_option("DIR", _OUT_HELP)] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print each event as a JSON object, one per line.")
    ] = False,
) -> None:
    """Rehearse a mission: server, couriers and clients as programs on this machine.

    SCENARIO is a TOML file, or the name of a preset; by default valley. Time is compressed. At the
    end the mission is simulated, and both runs are compared byte for byte.
    """
    given = find_scenario(name)
    find_modules(given, name)
    folder = out or _new_folder(flexpress.report.default_folder(given, "rehearsal"))
    with interruptible(patient=True) as interruption, _shown(as_json) as show:
        try:
            result = flexpress.field.rehearse(
                given,
                stored_plan(given, plan),
                out=folder,
                algorithm=cast(Any, algorithm),
                horizon=horizon,
                head_start=head_start,
                payload=cast(Any, payload),
                speedup=speedup,
                on_entry=show,
                should_stop=interruption.requested,
                tell=complain,
            )
        except KeyboardInterrupt:
            complain(f"interrupted; what was flown is in {folder}")
            raise typer.Exit(INTERRUPTED) from None
    if not as_json:
        say(f" run of the field programs: {result.field}")
        say(f" identical to flexpress simulate: {'yes' if result.identical else 'no'}")
    if not result.identical:
        complain(f"{', '.join(result.different)} differ from those in {result.simulated}")
        raise typer.Exit(_DIFFERENT)


def _new_folder(folder: Path) -> Path:
    """This one, or one with a number: kits are never replaced."""
    names = (folder.with_name(f"{folder.name}-{number}") for number in count(2))
    return next(place for place in chain([folder], names) if not place.exists())


@contextmanager
def _shown(as_json: bool) -> Iterator[Callable[[dict[str, Any]], None]]:
    """What becomes of each event: a JSON line, a live table, or a line now and then."""
    if as_json:
        import json

        yield lambda entry: say(json.dumps(entry))
    elif sys.stderr.isatty():
        from flexpress.cli.rehearsal_view import LiveView  # loads rich

        with LiveView() as view:
            yield view.hear
    else:
        yield _plain_lines()


def _plain_lines() -> Callable[[dict[str, Any]], None]:
    """For logs: what the server says."""
    started = time.time()

    def hear(entry: dict[str, Any]) -> None:
        if entry["program"] != "server" or entry["event"] not in ("merged", "evaluated"):
            return
        words = [f"{key} {_text(value)}" for key, value in list(entry.items())[3:]]
        complain(f"{entry['time'] - started:5.1f} s: {entry['event']}: {', '.join(words)}")

    return hear


def _text(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
