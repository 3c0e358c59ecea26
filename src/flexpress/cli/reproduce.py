"""The command `reproduce`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import flexpress
from flexpress.cli.interrupt import INTERRUPTED
from flexpress.cli.options import out_option
from flexpress.cli.progress import watched
from flexpress.cli.terminal import complain, say

# Those of experiments/protocol.toml, which is too slow to load for --help.
_NETWORKS, _SEEDS, _SEEDS_OF_ONE, _QUICK_NETWORKS = 8, 1, 4, 2


def reproduce(
    figure: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only this figure; may be repeated."),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(
            metavar="S",
            help=f"Experiments per network; by default {_SEEDS}, on one network {_SEEDS_OF_ONE}.",
        ),
    ] = None,
    networks: Annotated[
        int | None,
        typer.Option(
            metavar="M",
            help=f"Networks to judge on; by default {_NETWORKS}, with --quick {_QUICK_NETWORKS}.",
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="On a small scale, with the data in the package.")
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option(metavar="J", help="Runs at a time; by default 2, with --ray one per core."),
    ] = None,
    ray: Annotated[
        str | None,
        typer.Option("--ray", metavar="ADDRESS", help="Spread runs over the Ray cluster there."),
    ] = None,
    out: Annotated[
        Path | None, out_option("DIR", "Folder; by default one in flexpress-out.")
    ] = None,
) -> None:
    """Run the paper's experiments, draw its figures and check its claims: one page.

    Finished runs are kept in the folder. You can interrupt it; starting again resumes it.
    """
    with watched("reproduce") as screen:
        page = flexpress.reproduce(
            figures=figure or (),
            seeds=seeds,
            networks=networks,
            quick=quick,
            jobs=jobs,
            ray=ray,
            out=out,
            on_progress=screen.reproducing,
            should_stop=screen.should_stop,
            tell=complain,
        )
    if page is None:
        complain(f"interrupted: {screen.runs}; start again to resume")
        raise typer.Exit(INTERRUPTED)
    say(f" page: {page}")
